"""The hot path: a place on a tape that moves with time and knows what its trading day saw before or after.

A cursor keeps the splits around its place. Most moves stay within a tenth of a second and cost a few
look-ups; only at its end is the next tenth opened, at the end of a second the next second, and so on.
"""

from itertools import accumulate
from typing import Final

from msgspec import Struct

from quotecast.providers.simulator.candles import STEPS, TENTH, Candle, Split
from quotecast.providers.simulator.hours import Window
from quotecast.providers.simulator.tape import Tape
from quotecast.providers.simulator.trades import COUNT, PAUSE, Trades

_NOWHERE: Final = Window(0, 0, 0, 0)
_NOTHING: Final = Candle(0, 0, 0, 0, 0, 0, 0)
#: High, low and volume of a stretch of the day.
_Seen = tuple[int, int, int]


class _Frame(Struct, frozen=True):
    """The children of a candle that holds the place, and what the day saw beside that candle."""

    children: Split
    seen: _Seen


class Cursor:
    """What a trading day had seen by the place: prices in ticks, volume in the smallest units.

    `time` is when the last trade happened, in Unix milliseconds; after the day's close it stands still.
    """

    __slots__ = (
        "_amount",
        "_before",
        "_frames",
        "_highs",
        "_lows",
        "_start",
        "_tape",
        "_trades",
        "high",
        "low",
        "open",
        "previous_close",
        "price",
        "time",
        "volume",
        "window",
    )

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._frames: list[_Frame] = []
        self._start = -TENTH
        self._trades = Trades(_NOTHING, b"")
        self._highs: list[int] = []
        self._lows: list[int] = []
        self._before = self._amount = 0
        self.window = _NOWHERE
        self.time = self.price = self.high = self.low = self.volume = 0
        self.open = self.previous_close = 0

    def seek(self, moment: int) -> None:
        """Goes to a moment in Unix milliseconds, forwards or backwards."""
        offset = moment - self._start
        if not 0 <= offset < TENTH:
            offset = self._enter(moment)
        trade = offset // PAUSE
        self.time = self._start + trade * PAUSE
        self.price = self._trades.price(trade)
        self.high = self._highs[trade]
        self.low = self._lows[trade]
        self.volume = self._before + self._amount * (trade + 1) // COUNT

    def _enter(self, moment: int) -> int:
        if not self.window.start <= moment < self.window.end:
            moment = self._begin(moment)
        frames = self._frames
        while not frames[-1].children.parent.start <= moment < frames[-1].children.parent.end:
            frames.pop()
        for step in STEPS[len(frames) :]:
            child, seen = self._child(frames[-1], moment)
            frames.append(_Frame(self._tape.split(child, step), seen))
        tenth, seen = self._child(frames[-1], moment)
        self._load(tenth, seen)
        self._start = tenth.start
        return moment - tenth.start

    def _begin(self, moment: int) -> int:
        window = self._tape.hours.latest(moment)
        if window != self.window:
            day = self._tape.day(window)
            self.window = window
            self.open = day.open
            self.previous_close = self._tape.close(self._tape.hours.before(window))
            self._frames = [_Frame(self._tape.split(day, STEPS[0]), self._nothing(day))]
        return min(moment, window.end - 1)

    def _child(self, frame: _Frame, moment: int) -> tuple[Candle, _Seen]:
        index = frame.children.index(moment)
        return frame.children.child(index), self._beside(frame, index)

    def _nothing(self, day: Candle) -> _Seen:
        return day.open, day.open, 0

    def _beside(self, frame: _Frame, index: int) -> _Seen:
        children = frame.children
        high, low, volume = frame.seen
        return (
            max((high, *children.highs[:index])),
            min((low, *children.lows[:index])),
            volume + children.volumes[index],
        )

    def _load(self, tenth: Candle, seen: _Seen) -> None:
        high, low, self._before = seen
        self._amount = tenth.volume
        self._trades = self._tape.trades(tenth)
        if low <= tenth.low and tenth.high <= high:
            self._highs, self._lows = [high] * COUNT, [low] * COUNT
        else:
            self._spread(high, low)

    def _spread(self, high: int, low: int) -> None:
        prices = self._trades.prices()
        self._highs = list(accumulate(prices, max, initial=high))[1:]
        self._lows = list(accumulate(prices, min, initial=low))[1:]


class Remainder(Cursor):
    """What a trading day was yet to see at the place: high, low and volume of all that came after."""

    __slots__ = ("_whole",)

    def seek(self, moment: int) -> None:
        """Goes to a moment in Unix milliseconds, forwards or backwards."""
        super().seek(moment)
        self.volume = self._whole - self.volume

    def _nothing(self, day: Candle) -> _Seen:
        return day.close, day.close, 0

    def _beside(self, frame: _Frame, index: int) -> _Seen:
        children = frame.children
        high, low, volume = frame.seen
        return (
            max((high, *children.highs[index + 1 :])),
            min((low, *children.lows[index + 1 :])),
            volume + children.volumes[-1] - children.volumes[index + 1],
        )

    def _load(self, tenth: Candle, seen: _Seen) -> None:
        super()._load(tenth, seen)
        self._whole = self._before + self._amount
        self._before = 0

    def _spread(self, high: int, low: int) -> None:
        backwards = self._trades.prices()[:0:-1]
        self._highs = list(accumulate(backwards, max, initial=high))[::-1]
        self._lows = list(accumulate(backwards, min, initial=low))[::-1]
