"""Receivers, beside the bus, of the messages that a leader has published."""

from collections.abc import Callable
from typing import Protocol

from quotecast.bus.base import Batch, Beat, Snapshot


class Sink(Protocol):
    """Takes one feed's published messages; it never fails and never waits."""

    def begin(self, snapshot: Snapshot) -> None:
        """Takes the state that begins an epoch."""
        ...

    def add(self, batch: Batch, state: Callable[[], Snapshot]) -> None:
        """Takes a batch; `state` returns the feed's state after it."""
        ...

    def beat(self, beat: Beat, state: Callable[[], Snapshot]) -> None:
        """Takes a beat; `state` returns the feed's state at it."""
        ...
