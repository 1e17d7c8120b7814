"""Meters, which add up the frames that go to the connections of an API key.

The hub adds a frame once for all connections of a cohort that share a meter, so their writes cost the same
as those of connections without one.
"""

from collections.abc import Mapping
from typing import Protocol

from quotecast.framing import Frame


class Meter(Protocol):
    """Sums of what connections got; hashable by its identity."""

    quotes: int
    bytes: int


def add(meters: Mapping[Meter, int], frame: Frame) -> None:
    """Adds a frame to each meter as often as the mapping says."""
    for meter, times in meters.items():
        meter.quotes += times * frame.items
        meter.bytes += times * len(frame)
