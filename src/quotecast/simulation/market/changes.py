"""The changes that scenarios make to one instrument's prices, second by second.

A second has the changes of its first millisecond, so they are constant within it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from operator import itemgetter
from typing import Final

from msgspec import Struct

from quotecast.simulation.market.candles import SECOND
from quotecast.simulation.market.scenarios.base import Alteration, Listed, Pause, Ramp, Split

#: Before every trade and after it, in Unix milliseconds.
PAST: Final = -(1 << 62)
FUTURE: Final = 1 << 62


class Gap(Struct, frozen=True):
    """Seconds without trades: from `start` until before `end`, in Unix milliseconds."""

    start: int
    end: int


class Changes:
    """Gaps, factor of the price and factor of the volume at any second.

    `shares` is the number of today's shares for each old one; `splits` change it at their moments.
    """

    __slots__ = ("_bounds", "_edges", "_ends", "_ramps", "_shares", "_splits", "_starts", "has_gaps")

    def __init__(
        self, alterations: Sequence[Alteration], splits: Sequence[Split] = (), shares: float = 1.0
    ) -> None:
        self._ramps = [each for each in alterations if isinstance(each, Ramp)]
        self._splits = splits
        self._shares = shares
        gaps = _gaps(alterations)
        self.has_gaps = bool(gaps)
        self._starts = [gap.start for gap in gaps]
        self._ends = [gap.end for gap in gaps]
        #: Times in which factor or trading change: (first, last), equal for a change at once.
        self._edges = [(each, each) for each in (*self._starts, *self._ends)]
        for ramp in self._ramps:
            self._edges += [
                (start, end) for (start, factor), (end, target) in pairwise(ramp.points) if factor != target
            ]
        self._edges += [(split.moment, split.moment) for split in splits]
        self._bounds = (
            min((first for first, _ in self._edges), default=FUTURE),
            max((last for _, last in self._edges), default=PAST),
        )

    def is_even(self, start: int, end: int) -> bool:
        """Returns whether nothing changes between two moments, apart from a change at `start`."""
        if end <= self._bounds[0] or start >= self._bounds[1]:
            return True
        return not any(first < end and last > start for first, last in self._edges)

    def gap_at(self, second: int) -> Gap | None:
        """Returns the gap that contains a second."""
        if not self.has_gaps:
            return None
        index = bisect_right(self._starts, second) - 1
        if index < 0 or second >= self._ends[index]:
            return None
        return Gap(self._starts[index], self._ends[index])

    def factor(self, second: int) -> float:
        """Returns the factor of the price."""
        factor = 1.0
        for ramp in self._ramps:
            factor *= _factor_of(ramp, second)
        return factor / self.shares(second)

    def shares(self, second: int) -> float:
        """Returns the factor of the volume."""
        if not self._splits:
            return self._shares
        return self._shares * prod(split.ratio for split in self._splits if split.moment <= second)


def _factor_of(ramp: Ramp, moment: int) -> float:
    points = ramp.points
    index = bisect_right(points, moment, key=itemgetter(0))
    if index == 0:
        return points[0][1]
    before, factor = points[index - 1]
    if index == len(points):
        return factor
    after, target = points[index]
    return factor + (target - factor) * (moment - before) / (after - before)


def _gaps(alterations: Sequence[Alteration]) -> list[Gap]:
    """Returns the gaps in whole seconds, ascending; no two of them touch."""
    gaps: list[Gap] = []
    for each in alterations:
        if isinstance(each, Pause):
            gaps.append(Gap(whole_second(each.start), whole_second(each.end)))
        elif isinstance(each, Listed):
            if each.start is not None:
                gaps.append(Gap(PAST, whole_second(each.start)))
            if each.end is not None:
                gaps.append(Gap(whole_second(each.end), FUTURE))
    found: list[Gap] = []
    for gap in sorted(gaps, key=lambda each: each.start):
        if found and gap.start <= found[-1].end:
            found[-1] = Gap(found[-1].start, max(found[-1].end, gap.end))
        elif gap.start < gap.end:
            found.append(gap)
    return found


def whole_second(moment: int) -> int:
    """Returns the first second that begins at or after a moment."""
    return -(-moment // SECOND) * SECOND
