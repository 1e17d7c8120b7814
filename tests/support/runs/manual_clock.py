"""A market's clock that a test advances."""

from quotecast.simulation.vendors.clock import MarketClock


class ManualClock(MarketClock):
    """Market time that only `advance` moves: a session on it is the same at every run."""

    def __init__(self, start: int) -> None:
        super().__init__(start=start)
        self._at = start

    def moment(self) -> int:
        return self._at

    def advance(self, milliseconds: int) -> None:
        self._at += milliseconds
