"""Bars in whole ticks, and how one falls apart into finer ones that add up to it exactly.

A day is split into hours, those into minutes, those into seconds, and those into tenths. Whatever the
level, the first child opens where its parent opens, each next one where the one before closed, the last
closes where the parent closes; the highest high, the lowest low and the sum of volumes are the parent's.
"""

from collections.abc import Iterable
from itertools import accumulate, pairwise
from math import sqrt
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.providers.simulator.noise import bridge

HOUR: Final = 3_600_000
MINUTE: Final = 60_000
SECOND: Final = 1_000
TENTH: Final = 100

#: Milliseconds of the children at each level, beginning with those of a day.
STEPS: Final = (HOUR, MINUTE, SECOND, TENTH)
#: The step below each but the last.
FINER: Final = dict(pairwise(STEPS))

#: Range of a random walk of one unit of deviation, on average: sqrt(8 / pi).
_RANGE: Final = 1.6
#: The longest shadow beyond open and close, as a share of a child's deviation; the mean is half of it.
_SHADOW: Final = 0.8
#: Every child gets a share of the volume; the largest is eight times the smallest.
_SHARE: Final = bytes(32 + value * 7 // 8 for value in range(256))


class TickCandle(Struct, frozen=True, gc=False):
    """Times in Unix milliseconds, `end` excluded; prices in ticks; volume in the smallest units."""

    start: int
    end: int
    open: int
    high: int
    low: int
    close: int
    volume: int


class Subdivision(Struct, frozen=True, gc=False):
    """A candle's children, as columns."""

    parent: TickCandle
    step: int
    #: Where the first child would begin if it were whole: a session may open in mid-hour.
    grid: int
    #: Where each child opens, and at last where the parent closes.
    points: list[int]
    highs: list[int]
    lows: list[int]
    #: Volume before each child, and at last the parent's.
    volumes: list[int]

    def __len__(self) -> int:
        return len(self.highs)

    def index(self, moment: int) -> int:
        """Which child a moment within the parent falls into."""
        return (moment - self.grid) // self.step

    def child(self, index: int) -> TickCandle:
        """One child."""
        return self.part(index, index + 1)

    def part(self, first: int, last: int) -> TickCandle:
        """The children from `first` to before `last` as one candle."""
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
    """The coarser candle that consecutive finer ones make; there must be one at least."""
    parts = list(candles)
    return replace(
        parts[0],
        end=parts[-1].end,
        high=max(part.high for part in parts),
        low=min(part.low for part in parts),
        close=parts[-1].close,
        volume=sum(part.volume for part in parts),
    )


def noise_length(candle: TickCandle, step: int) -> int:
    """Bytes of randomness that `split` takes."""
    return 5 * _child_count(candle, step)


def subdivide(candle: TickCandle, step: int, data: bytes) -> Subdivision:
    """The children of `step` milliseconds, shaped by random bytes."""
    count = _child_count(candle, step)
    deviation = _step_deviation(candle, count)
    walk = bridge(data[: 2 * count], candle.open, candle.close, deviation)
    points = [candle.open, *_reflect_all(candle, walk[:-1]), candle.close]
    ends = [(before, after) if before < after else (after, before) for before, after in pairwise(points)]
    shadow = int(deviation * _SHADOW)
    return Subdivision(
        candle,
        step,
        candle.start - candle.start % step,
        points,
        _highs(ends, data[2 * count : 3 * count], shadow, candle.high),
        _lows(ends, data[3 * count : 4 * count], shadow, candle.low),
        [0, *_cumulative_volumes(candle.volume, data[4 * count :])],
    )


def _step_deviation(candle: TickCandle, count: int) -> float:
    """How far each of so many steps goes, in ticks, when the walk is to fill the candle's range."""
    return (candle.high - candle.low) / _RANGE / sqrt(count)


def _reflect_all(candle: TickCandle, walk: list[float]) -> list[int]:
    # Floats compare with floats twice as fast as with integers.
    top, bottom = float(candle.high), float(candle.low)
    return [int((point if bottom <= point <= top else _reflect(point, bottom, top)) + 0.5) for point in walk]


def _reflect(point: float, bottom: float, top: float) -> float:
    """Thrown back from the edges as often as it takes; cut off there, prices would stick to them."""
    if bottom == top:
        return top
    return top - abs((point - bottom) % (2 * (top - bottom)) - (top - bottom))


def _cumulative_volumes(total: int, data: bytes) -> list[int]:
    """Running sums of the shares of a volume, one for each byte; the last is the whole."""
    sums = list(accumulate(data.translate(_SHARE)))
    whole = sums[-1]
    return [total * share // whole for share in sums]


def _child_count(candle: TickCandle, step: int) -> int:
    return (candle.end - candle.start + candle.start % step + step - 1) // step


# Shadows reach one tick beyond open and close at least, where the parent allows, so that prices go on
# moving at the finest levels. Sizes are bytes, hence 256ths of the longest shadow.


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
