"""Ages of quotes: percentiles in bounded memory, by a clock that is corrected once it is known."""

from bisect import bisect_left
from typing import Final

from quotecast.observe.histograms import Histogram

#: Relative width of a bucket: a percentile is at most that much above the true one.
_WIDTH: Final = 0.02
#: Upper limits in milliseconds, from 1 ms to a month.
_BOUNDS: Final = tuple((1 + _WIDTH) ** power for power in range(1100))
#: Ages that wait for the offset of the clock.
_MOST_WAITING: Final = 100_000


class Ages:
    """Ages in milliseconds; a quote from the future has the age 0, and `ahead` counts it."""

    def __init__(self) -> None:
        #: Number of ages.
        self.count = 0
        #: The greatest age.
        self.largest = 0.0
        #: Number of quotes from the future.
        self.ahead = 0
        self._histogram = Histogram(_BOUNDS)
        self._offset: float | None = None
        self._waiting: list[float] = []

    def correct(self, offset: float) -> None:
        """Sets the milliseconds by which the service's clock is ahead of ours."""
        self._offset = offset
        waiting, self._waiting = self._waiting, []
        for age in waiting:
            self.add(age)

    def settle(self) -> None:
        """Counts the ages that wait, by our own clock if the service does not tell its time."""
        if self._offset is None:
            self.correct(0.0)

    def add(self, age: float) -> None:
        """Counts an age by our clock; the first ones wait for the offset of the clock."""
        if self._offset is None:
            self._waiting.append(age)
            if len(self._waiting) >= _MOST_WAITING:
                self.correct(0.0)
            return
        corrected = age + self._offset
        # Timestamps have whole milliseconds, and so has the clock that the service tells.
        self.ahead += corrected < -1
        corrected = max(corrected, 0.0)
        self.count += 1
        self.largest = max(self.largest, corrected)
        self._histogram.observe(corrected)

    def percentile(self, share: float) -> float | None:
        """Returns the age that a share of the quotes does not exceed, at most 2 % too high, or None."""
        if not self.count:
            return None
        counts = [count for _, count in self._histogram.cumulative()]
        place = bisect_left(counts, share * self.count)
        return min(_BOUNDS[place], self.largest) if place < len(_BOUNDS) else self.largest
