"""Histograms: cheap enough for hot paths, in the shape that Prometheus reads."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

#: Bounds in seconds, from an answer out of memory to an unacceptable wait.
SECONDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Histogram:
    """Counts of observations by bucket; `bounds` are ascending, inclusive upper limits."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: Sequence[float] = SECONDS) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        #: The sum of all observations.
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Counts a value, which must not be negative: Prometheus takes a falling sum for a restart."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        """The number of observations."""
        return sum(self._counts)

    def cumulative(self) -> list[tuple[str, float]]:
        """Returns, for each bound and then `+Inf`, the number of observations up to it."""
        names = [*map(str, self._bounds), "+Inf"]
        return list(zip(names, accumulate(self._counts), strict=True))
