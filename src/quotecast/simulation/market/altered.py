"""A tape with changed prices, volumes and times without trades; candles of all lengths agree.

A candle that nothing changes in its course is the original with its prices scaled. Any other one is merged
from its children, down to seconds. A candle without a trade has a high of 0. A ScheduledTape follows the
scenarios of a session, also those that begin while it runs.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from operator import attrgetter, mul
from typing import Final

from msgspec.structs import replace

from quotecast.simulation.market.candles import FINER, HOUR, MINUTE, SECOND, TENTH, Subdivision, TickCandle
from quotecast.simulation.market.changes import PAST, Changes, whole_second
from quotecast.simulation.market.hours import Hours, TradingWindow, local_ordinal, midnight_of
from quotecast.simulation.market.listings import Listing
from quotecast.simulation.market.scenarios.base import Alteration, Pause, Split
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.market.tape import Tape

#: The low of a candle without a trade.
_NO_LOW: Final = 1 << 62
#: Days in which the first trade of a new listing is looked for: long weekends are shorter.
_SEARCHED_DAYS: Final = 30
#: Subdivisions that a tape remembers: those of the days and hours around a position.
_REMEMBERED: Final = 4
#: Returns the changes that a schedule makes to an instrument of a venue with these hours.
Alterations = Callable[[Schedule, str, Hours], Sequence[Alteration]]


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


class ScheduledTape:
    """See TapeSource."""

    def __init__(self, tape: Tape, symbol: str, schedule: Schedule, alterations: Alterations) -> None:
        self.listing: Listing = tape.listing
        self.hours: Hours = tape.hours
        self._base = tape
        self._schedule = schedule
        self._alterations_now = partial(alterations, schedule, symbol, tape.hours)
        self._planned: object = None
        self._alterations: Sequence[Alteration] | None = None
        self._splits: list[Split] = []
        #: The tape as of the time before the first split, before the second, and so on.
        self._views: list[Tape] = [tape]
        self._raw = tape

    def at(self, moment: int) -> Tape:
        """See TapeSource."""
        self._follow()
        if not self._splits:
            return self._views[0]
        return self._views[sum(split.moment <= moment for split in self._splits)]

    def raw(self) -> Tape:
        """See TapeSource."""
        self._follow()
        return self._raw

    def _follow(self) -> None:
        """Takes over the schedule's changes; the tapes stay the same objects where it has none."""
        if self._planned is self._schedule.planned:
            return
        self._planned = self._schedule.planned
        alterations = self._alterations_now()
        if alterations == self._alterations:
            return
        self._alterations = alterations
        self._splits = sorted(_splits(alterations), key=attrgetter("moment"))
        others = [each for each in alterations if not isinstance(each, Split)]
        shares = accumulate((split.ratio for split in self._splits), mul, initial=1.0)
        base = self._base
        self._views = [
            AlteredTape(base, Changes(others, shares=each)) if alterations else base for each in shares
        ]
        self._raw = AlteredTape(base, Changes(others, self._splits)) if self._splits else self._views[0]


def _splits(alterations: Sequence[Alteration]) -> Iterator[Split]:
    for each in alterations:
        if isinstance(each, Split):
            yield replace(each, moment=whole_second(each.moment))


def stock_alterations(schedule: Schedule, ticker: str, hours: Hours) -> list[Alteration]:
    """Returns the changes to a stock; it does not trade while a special day closes the exchange."""
    found = [*schedule.alterations(ticker)]
    for day in schedule.special_days():
        ordinal = day.date.toordinal()
        start = midnight_of(ordinal, hours.zone) + (day.close_minutes or 0) * MINUTE
        found.append(Pause(start, midnight_of(ordinal + 1, hours.zone)))
    return found


def other_alterations(schedule: Schedule, symbol: str, _hours: Hours) -> list[Alteration]:
    """Returns the changes to a pair, currency or metal: it has no shares that could split."""
    return [each for each in schedule.alterations(symbol) if not isinstance(each, Split)]
