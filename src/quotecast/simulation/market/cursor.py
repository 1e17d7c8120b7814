"""A position on a tape that moves with time and tracks its trading day's high, low and volume (hot path).

The cursor caches the subdivisions around its position. Most moves stay within a tenth of a second and cost a
few look-ups. Only at its end does the cursor subdivide the next tenth, at the end of a second the next
second, and so on.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from msgspec import Struct

from quotecast.simulation.market.candles import MINUTE, STEPS, TENTH, Subdivision, TickCandle
from quotecast.simulation.market.hours import TradingWindow
from quotecast.simulation.market.tape import TapeSource
from quotecast.simulation.market.trades import COUNT, PAUSE, Trades

#: The level of the children of a minute.
_MINUTES: Final = STEPS.index(MINUTE) + 1
_NO_WINDOW: Final = TradingWindow(0, 0, 0, 0)
_NO_CANDLE: Final = TickCandle(0, 0, 0, 0, 0, 0, 0)
#: High, low and volume of a part of a day, or of a day and the one before.
Extent = tuple[int, int, int]


class _Level(Struct, frozen=True):
    """The children of a candle that contains the position, and the day's extent outside that candle."""

    children: Subdivision
    outside: Extent


class Cursor:
    """A trading day up to the position: prices in ticks, volume in the smallest units.

    `time` is the time of the last trade in Unix milliseconds; after the day's close it no longer advances.
    """

    __slots__ = (
        "_highs",
        "_levels",
        "_lows",
        "_source",
        "_start",
        "_tape",
        "_tenth_volume",
        "_trades",
        "_volume_before",
        "high",
        "low",
        "open",
        "previous_close",
        "price",
        "time",
        "volume",
        "window",
    )

    def __init__(self, source: TapeSource) -> None:
        self._source = source
        self._tape = source.at(0)
        self._levels: list[_Level] = []
        self._start = -TENTH
        self._trades = Trades(_NO_CANDLE, b"")
        self._highs: list[int] = []
        self._lows: list[int] = []
        self._volume_before = self._tenth_volume = 0
        self.window = _NO_WINDOW
        self.time = self.price = self.high = self.low = self.volume = 0
        self.open = self.previous_close = 0

    def seek(self, moment: int) -> None:
        """Moves to a moment in Unix milliseconds, forwards or backwards."""
        offset = moment - self._start
        if not 0 <= offset < TENTH:
            offset = self._open_tenth(moment)
        trade = offset // PAUSE
        self.time = self._start + trade * PAUSE
        self.price = self._trades.price(trade)
        self.high = self._highs[trade]
        self.low = self._lows[trade]
        self.volume = self._volume_before + self._tenth_volume * (trade + 1) // COUNT

    def minute(self) -> TickCandle:
        """Returns the whole minute of the position."""
        return self._levels[_MINUTES].children.parent

    def days_after(self, window: TradingWindow) -> Iterator[TickCandle]:
        """Yields the whole days between a trading day and the position's."""
        for each in self._tape.hours.between(window.ordinal + 1, self.window.ordinal - 1):
            yield self._tape.day(each)

    def _open_tenth(self, moment: int) -> int:
        tape = self._source.at(moment)
        if tape is not self._tape:
            self._tape, self.window = tape, _NO_WINDOW
        moment = tape.last_traded(moment)
        if not self.window.start <= moment < self.window.end:
            window = tape.hours.latest(moment)
            if window != self.window:
                day = tape.day(window)
                self.window = window
                self.open = day.open
                self.previous_close = tape.closing_price(tape.hours.before(window))
                self._levels = [_Level(tape.subdivide(day, STEPS[0]), self._empty_extent(day))]
            moment = min(moment, window.end - 1)
        levels = self._levels
        while not levels[-1].children.parent.start <= moment < levels[-1].children.parent.end:
            levels.pop()
        for step in STEPS[len(levels) :]:
            child, outside = self._child(levels[-1], moment)
            levels.append(_Level(tape.subdivide(child, step), outside))
        tenth, outside = self._child(levels[-1], moment)
        self._load(tenth, outside)
        self._start = tenth.start
        return moment - tenth.start

    def _child(self, level: _Level, moment: int) -> tuple[TickCandle, Extent]:
        index = level.children.index(moment)
        return level.children.child(index), self._extent_outside(level, index)

    def _empty_extent(self, day: TickCandle) -> Extent:
        return day.open, day.open, 0

    def _extent_outside(self, level: _Level, index: int) -> Extent:
        children = level.children
        high, low, volume = level.outside
        return (
            max((high, *children.highs[:index])),
            min((low, *children.lows[:index])),
            volume + children.volumes[index],
        )

    def _load(self, tenth: TickCandle, outside: Extent) -> None:
        high, low, self._volume_before = outside
        self._tenth_volume = tenth.volume
        self._trades = self._tape.trades(tenth)
        if low <= tenth.low and tenth.high <= high:
            self._highs, self._lows = [high] * COUNT, [low] * COUNT
        else:
            self._accumulate(high, low)

    def _accumulate(self, high: int, low: int) -> None:
        prices = self._trades.prices()
        self._highs = list(accumulate(prices, max, initial=high))[1:]
        self._lows = list(accumulate(prices, min, initial=low))[1:]


class RestOfDayCursor(Cursor):
    """A trading day after the position: high, low and volume of all later trades."""

    __slots__ = ("_whole",)

    def seek(self, moment: int) -> None:
        """Moves to a moment in Unix milliseconds, forwards or backwards."""
        super().seek(moment)
        self.volume = self._whole - self.volume

    def _empty_extent(self, day: TickCandle) -> Extent:
        return day.close, day.close, 0

    def _extent_outside(self, level: _Level, index: int) -> Extent:
        children = level.children
        high, low, volume = level.outside
        return (
            max((high, *children.highs[index + 1 :])),
            min((low, *children.lows[index + 1 :])),
            volume + children.volumes[-1] - children.volumes[index + 1],
        )

    def _load(self, tenth: TickCandle, outside: Extent) -> None:
        super()._load(tenth, outside)
        self._whole = self._volume_before + self._tenth_volume
        self._volume_before = 0

    def _accumulate(self, high: int, low: int) -> None:
        backwards = self._trades.prices()[:0:-1]
        self._highs = list(accumulate(backwards, max, initial=high))[::-1]
        self._lows = list(accumulate(backwards, min, initial=low))[::-1]


def extent_between(first: RestOfDayCursor, last: Cursor, moment: int) -> Extent:
    """Returns high, low and volume of the trades from that of `first` to that of `last`, at `moment`.

    The two are on consecutive days of a continuous venue, unless a scenario stops trading over midnight.
    """
    if first.window.ordinal == last.window.ordinal:
        # Without trades since yesterday, the rest of that day is all; otherwise trading began today.
        part = first if moment >= last.window.end else last
        return max(part.high, first.price), min(part.low, first.price), part.volume
    high = max(last.high, first.high, first.price)
    low = min(last.low, first.low, first.price)
    volume = last.volume + first.volume
    if first.window.end < last.window.start:
        for day in last.days_after(first.window):
            high, low, volume = max(high, day.high), min(low, day.low), volume + day.volume
    return high, low, volume
