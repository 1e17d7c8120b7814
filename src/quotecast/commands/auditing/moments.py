"""Moments of the audit, and the offset of a service's clock."""

from datetime import datetime
from typing import NamedTuple


class Moment(NamedTuple):
    """Seconds of a steady clock, for lengths, and Unix seconds, for ages."""

    steady: float
    unix: float


def milliseconds(timestamp: str) -> float:
    """Returns a timestamp of a quote in Unix milliseconds."""
    return datetime.fromisoformat(timestamp).timestamp() * 1000


class ClockOffset:
    """How far a service's clock is ahead of ours, by the answer to a ping that came fastest."""

    def __init__(self) -> None:
        #: Milliseconds; None before the first answer.
        self.offset: float | None = None
        #: Milliseconds between the ping and its answer; the offset is at most half of it wrong.
        self.round_trip: float | None = None

    def take(self, timestamp: str, sent: float, received: float) -> None:
        """Takes the time in an answer, which was between two Unix times of ours."""
        round_trip = (received - sent) * 1000
        if self.round_trip is None or round_trip < self.round_trip:
            self.round_trip = round_trip
            self.offset = milliseconds(timestamp) - (sent + received) * 500
