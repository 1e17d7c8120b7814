"""Candles in whole ticks, and their exact subdivision into shorter ones.

A day is subdivided into hours, those into minutes, seconds and tenths of a second. At each level the first
child opens at the parent's open, each next one at the preceding close, and the last closes at the parent's
close. The children's highest high, lowest low and total volume equal the parent's.
"""

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from math import sqrt
from typing import Final

from msgspec import Struct

from quotecast.simulation.market.noise import bridge

HOUR: Final = 3_600_000
MINUTE: Final = 60_000
SECOND: Final = 1_000
TENTH: Final = 100

#: Milliseconds of the children at each level, from a day's children down.
STEPS: Final = (HOUR, MINUTE, SECOND, TENTH)
#: The next finer step of each step but the last.
FINER: Final = dict(pairwise(STEPS))

#: Mean range of a random walk with a total deviation of one: sqrt(8 / pi).
_RANGE: Final = 1.6
#: Maximum shadow beyond open and close, as a share of a child's deviation; the mean is half of it.
_SHADOW: Final = 0.8
#: Maps a random byte to a volume weight; the largest weight is eight times the smallest.
_SHARE: Final = bytes(32 + value * 7 // 8 for value in range(256))


class TickCandle(Struct, frozen=True, gc=False):
    """A candle: times in Unix milliseconds, `end` exclusive; prices in ticks; volume in smallest units."""

    start: int
    end: int
    open: int
    high: int
    low: int
    close: int
    volume: int


class Subdivision(Struct, frozen=True, gc=False):
    """A candle's children, stored as columns: arrays, which take a quarter of the memory of lists."""

    parent: TickCandle
    step: int
    #: Start of the first child on the clock's grid: a session may open in the middle of an hour.
    grid: int
    #: Opening price of each child, then the parent's close.
    points: Sequence[int]
    highs: Sequence[int]
    lows: Sequence[int]
    #: Volume before each child, then the parent's volume.
    volumes: Sequence[int]

    def __len__(self) -> int:
        return len(self.highs)

    def index(self, moment: int) -> int:
        """Returns the index of the child that contains a moment within the parent."""
        return (moment - self.grid) // self.step

    def child(self, index: int) -> TickCandle:
        """Returns one child."""
        return self.part(index, index + 1)

    def part(self, first: int, last: int) -> TickCandle:
        """Returns the children from `first` up to and excluding `last`, merged into one candle."""
        return TickCandle(
            max(self.grid + first * self.step, self.parent.start),
            min(self.grid + last * self.step, self.parent.end),
            self.points[first],
            max(self.highs[first:last]),
            min(self.lows[first:last]),
            self.points[last],
            self.volumes[last] - self.volumes[first],
        )


def merge(candles: Iterable[TickCandle]) -> TickCandle:
    """Returns the candle that consecutive candles form; at least one is required.

    A candle without a trade has a high of 0.
    """
    parts = list(candles)
    traded = [part for part in parts if part.high] or parts[:1]
    return TickCandle(
        parts[0].start,
        parts[-1].end,
        traded[0].open,
        max(part.high for part in traded),
        min(part.low for part in traded),
        traded[-1].close,
        sum(part.volume for part in traded),
    )


def noise_length(candle: TickCandle, step: int) -> int:
    """Returns how many random bytes `subdivide` takes."""
    return 5 * _child_count(candle, step)


def subdivide(candle: TickCandle, step: int, data: bytes) -> Subdivision:
    """Returns the children of `step` milliseconds, shaped by random bytes."""
    count = _child_count(candle, step)
    # Of one step, for a walk that fills the range.
    deviation = (candle.high - candle.low) / _RANGE / sqrt(count)
    walk = bridge(data[: 2 * count], candle.open, candle.close, deviation)
    # Comparing floats with floats is twice as fast as comparing floats with integers.
    top, bottom = float(candle.high), float(candle.low)
    inside = [
        int((point if bottom <= point <= top else _reflect(point, bottom, top)) + 0.5) for point in walk[:-1]
    ]
    points = [candle.open, *inside, candle.close]
    ends = [(before, after) if before < after else (after, before) for before, after in pairwise(points)]
    shadow = int(deviation * _SHADOW)
    # A byte is a child's share of the volume.
    shares = list(accumulate(data[4 * count :].translate(_SHARE)))
    volumes = [candle.volume * share // shares[-1] for share in shares]
    return Subdivision(
        candle,
        step,
        candle.start - candle.start % step,
        array("q", points),
        array("q", _highs(ends, data[2 * count : 3 * count], shadow, candle.high)),
        array("q", _lows(ends, data[3 * count : 4 * count], shadow, candle.low)),
        # No array: volumes of coins may have more than 64 bits.
        (0, *volumes),
    )


def _reflect(point: float, bottom: float, top: float) -> float:
    """Returns the point reflected into [bottom, top]; clamping would make prices stick to the edges."""
    if bottom == top:
        return top
    return top - abs((point - bottom) % (2 * (top - bottom)) - (top - bottom))


def _child_count(candle: TickCandle, step: int) -> int:
    return (candle.end - candle.start + candle.start % step + step - 1) // step


# A shadow extends at least one tick beyond open and close where the parent allows it, so that prices still
# move at the finest levels. A size is a byte: 256ths of the longest shadow.


def _highs(ends: list[tuple[int, int]], sizes: bytes, shadow: int, top: int) -> list[int]:
    highs = [
        top if (edge := high + 1 + (size * shadow >> 8)) > top else edge
        for (_, high), size in zip(ends, sizes, strict=True)
    ]
    highs[highs.index(max(highs))] = top
    return highs


def _lows(ends: list[tuple[int, int]], sizes: bytes, shadow: int, bottom: int) -> list[int]:
    lows = [
        bottom if (edge := low - 1 - (size * shadow >> 8)) < bottom else edge
        for (low, _), size in zip(ends, sizes, strict=True)
    ]
    lows[lows.index(min(lows))] = bottom
    return lows
