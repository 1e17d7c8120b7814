"""A tape with changed prices, volumes and times without trades; candles of all lengths agree.

A candle that nothing changes in its course is the original with its prices scaled. Any other one is merged
from its children, down to seconds. A candle without a trade has a high of 0.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from typing import Final

from quotecast.simulation.market.candles import FINER, HOUR, SECOND, TENTH, Subdivision, TickCandle
from quotecast.simulation.market.changes import PAST, Changes
from quotecast.simulation.market.hours import TradingWindow, local_ordinal
from quotecast.simulation.market.tape import Tape

#: The low of a candle without a trade.
_NO_LOW: Final = 1 << 62
#: Days in which the first trade of a new listing is looked for: long weekends are shorter.
_SEARCHED_DAYS: Final = 30
#: Subdivisions that a tape remembers: those of the days and hours around a position.
_REMEMBERED: Final = 4


class AlteredCandle(TickCandle, frozen=True, gc=False):
    """A changed candle, and the original, from which its children come."""

    base: TickCandle


class AlteredSubdivision(Subdivision, frozen=True, gc=False):
    """The changed children of a candle: `points` are their opens, then the last close.

    A child without a trade opens as the next one does and closes as the one before it.
    """

    closes: list[int]
    base: Subdivision

    def child(self, index: int) -> TickCandle:
        """See Subdivision."""
        return _with_base(self.part(index, index + 1), self.base.child(index))

    def part(self, first: int, last: int) -> TickCandle:
        """See Subdivision."""
        return TickCandle(
            max(self.grid + first * self.step, self.parent.start),
            min(self.grid + last * self.step, self.parent.end),
            self.points[first],
            max(self.highs[first:last]),
            min(self.lows[first:last]),
            self.closes[last - 1],
            self.volumes[last] - self.volumes[first],
        )


class AlteredTape(Tape):
    """A tape and its changes."""

    def __init__(self, base: Tape, changes: Changes) -> None:
        super().__init__(base.listing, base.hours)
        self._base = base
        self._changes = changes
        self._window = TradingWindow(0, 0, 0, 0)
        self._remember = lru_cache(maxsize=_REMEMBERED)(self._merge)

    def closing_price(self, window: TradingWindow) -> int:
        """Returns the last price before the end of a trading day, in ticks."""
        last = window.end - SECOND
        if self._changes.gap_at(last):
            return self.price_at(last)
        return _scaled(self._base.closing_price(window), self._changes.factor(last))

    def day(self, window: TradingWindow) -> TickCandle:
        """See Tape; a day without a trade has a high of 0."""
        return self._alter(self._base.day(window), HOUR)

    def subdivide(self, candle: TickCandle, step: int) -> Subdivision:
        """See Tape."""
        if not isinstance(candle, AlteredCandle):
            return self._base.subdivide(candle, step)
        if step != TENTH and not self._changes.is_even(candle.start, candle.end):
            return self._merged(candle.base, step)
        factor, shares = self._changes.factor(candle.start), self._changes.shares(candle.start)
        children = self._base.subdivide(candle.base, step)
        if factor == shares == 1:
            return children
        return _scale_children(candle, children, factor)

    def last_traded(self, moment: int) -> int:
        """See Tape; before the first trade of a new listing it is that of the first trade."""
        gap_at, window = self._changes.gap_at, self._window
        if not self._changes.has_gaps or (window.start <= moment < window.end and not gap_at(moment)):
            return moment
        while True:
            self._window = window = self.hours.latest(moment)
            moment = min(moment, window.end - 1)
            gap = gap_at(moment)
            if gap is None:
                return moment
            if gap.start == PAST:
                return self._first_traded(gap.end)
            moment = gap.start - 1

    def _first_traded(self, moment: int) -> int:
        today = local_ordinal(moment, self.hours.zone)
        for window in self.hours.between(today, today + _SEARCHED_DAYS):
            start = max(moment, window.start)
            gap = self._changes.gap_at(start)
            if gap:
                start = gap.end
            if start < window.end:
                return start
        return moment

    def day_until(self, moment: int) -> TickCandle:
        """See Tape; the day of the latest trade."""
        return super().day_until(self.last_traded(moment))

    def _alter(self, base: TickCandle, step: int) -> TickCandle:
        """Returns the changed candle; `step` is that of its children."""
        changes, start = self._changes, base.start
        if step != TENTH and not changes.is_even(start, base.end):
            children = self._merged(base, step)
            return _with_base(children.part(0, len(children)), base)
        if changes.gap_at(start):
            return AlteredCandle(start, base.end, base.open, 0, _NO_LOW, base.close, 0, base)
        factor, shares = changes.factor(start), changes.shares(start)
        return base if factor == shares == 1 else _scale(base, factor, shares)

    def _merged(self, base: TickCandle, step: int) -> AlteredSubdivision:
        """Returns the children of a candle with different changes in its course."""
        return self._merge(base, step) if step == SECOND else self._remember(base, step)

    def _merge(self, base: TickCandle, step: int) -> AlteredSubdivision:
        children = self._base.subdivide(base, step)
        parts = [self._alter(children.child(index), FINER[step]) for index in range(len(children))]
        opens = _fill((part.open if part.high else 0 for part in reversed(parts)), base.close)[::-1]
        closes = _fill((part.close if part.high else 0 for part in parts), base.open)
        return AlteredSubdivision(
            parent=base,
            step=step,
            grid=children.grid,
            points=[*opens, closes[-1]],
            highs=[part.high for part in parts],
            lows=[part.low for part in parts],
            volumes=[0, *accumulate(part.volume for part in parts)],
            closes=closes,
            base=children,
        )


def _with_base(candle: TickCandle, base: TickCandle) -> AlteredCandle:
    return AlteredCandle(
        candle.start, candle.end, candle.open, candle.high, candle.low, candle.close, candle.volume, base
    )


def _fill(values: Iterable[int], first: int) -> list[int]:
    """Returns values with the one before in place of each 0."""
    return list(accumulate(values, lambda before, value: value or before, initial=first))[1:]


def _scaled(price: int, factor: float) -> int:
    return max(1, int(price * factor + 0.5))


def _scale(base: TickCandle, factor: float, shares: float) -> AlteredCandle:
    return AlteredCandle(
        base.start,
        base.end,
        _scaled(base.open, factor),
        _scaled(base.high, factor),
        _scaled(base.low, factor),
        _scaled(base.close, factor),
        int(base.volume * shares),
        base,
    )


def _scale_children(candle: AlteredCandle, children: Subdivision, factor: float) -> AlteredSubdivision:
    points = [_scaled(price, factor) for price in children.points]
    volumes, total, original = children.volumes, candle.volume, candle.base.volume
    if total != original:
        volumes = [volume * total // original for volume in volumes]
    return AlteredSubdivision(
        parent=candle,
        step=children.step,
        grid=children.grid,
        points=points,
        highs=[_scaled(price, factor) for price in children.highs],
        lows=[_scaled(price, factor) for price in children.lows],
        volumes=volumes,
        closes=points[1:],
        base=children,
    )
