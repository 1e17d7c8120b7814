"""The crossings of one feed at its leader; no I/O."""

from collections import deque
from collections.abc import Sequence

from quotecast.bus.base import MAX_CROSSINGS
from quotecast.market.crossings import (
    NO_CROSSING,
    Crossing,
    CrossingId,
    Levels,
    PastPrices,
    Reading,
    Thresholds,
    is_one_source,
    step_of,
)


class CrossingFinder:
    """Finds the crossings of a feed's quotes, and remembers the newest for a Redis that loses its data."""

    def __init__(self) -> None:
        #: The thresholds that alerts wait for.
        self.levels: Levels = {}
        self.past = PastPrices()
        #: Crossings that the bus does not have yet, and all that it should have.
        self.waiting: list[Crossing] = []
        self.remembered: deque[Crossing] = deque(maxlen=MAX_CROSSINGS)
        self.found = 0
        self._last = NO_CROSSING

    def follow(self, last: CrossingId) -> None:
        """Numbers crossings after the last one of an earlier leader."""
        self._last = max(self._last, last)

    def find(self, thresholds: Sequence[Thresholds], before: Reading, now: Reading, at: float) -> None:
        """Notes the crossings of a step from one quote to the next at the Unix time `at`."""
        quote = now.quote
        if not is_one_source(before.quote, quote):
            return
        for each in thresholds:
            old, new = step_of(each.measure, before, now, self.past)
            if old is not None and new is not None and old != new and each.are_crossed(old, new):
                self._last = self._next_id(at)
                crossing = Crossing(*self._last, quote.key, each.measure, old, new, quote.price, at)
                self.waiting.append(crossing)
                self.remembered.append(crossing)
                self.found += 1

    def take_waiting(self) -> Sequence[Crossing]:
        """Returns the crossings for the next batch."""
        waiting, self.waiting = self.waiting, []
        return waiting

    def _next_id(self, at: float) -> CrossingId:
        moment = int(at * 1000)
        last = self._last
        return CrossingId(moment, 0) if moment > last.moment else CrossingId(last.moment, last.number + 1)
