"""The trades of one instrument at any time, a pure function of seed, instrument and time.

Nothing is stored. The paths determine a day's candle, and each finer candle comes from subdividing its
parent. Any moment is therefore reachable in five steps, and bars of all intervals agree.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, Protocol

from msgspec.structs import replace

from quotecast.simulation.market.candles import (
    FINER,
    HOUR,
    STEPS,
    Subdivision,
    TickCandle,
    merge,
    noise_length,
    subdivide,
)
from quotecast.simulation.market.hours import Hours, TradingWindow
from quotecast.simulation.market.listings import Listing
from quotecast.simulation.market.noise import fractions, noise
from quotecast.simulation.market.paths import POINTS_PER_DAY
from quotecast.simulation.market.trades import NOISE_LENGTH, PAUSE, Trades, trades

_DAY_KIND: Final = 0
#: Maximum shadow of a daily candle beyond open and close, in daily moves.
_SHADOW: Final = 0.8


class TapeSource(Protocol):
    """An instrument's tape, as scenarios change it."""

    @property
    def listing(self) -> Listing:
        """Returns the instrument's parameters."""
        ...

    @property
    def hours(self) -> Hours:
        """Returns the venue's hours."""
        ...

    def at(self, moment: int) -> "Tape":
        """Returns the tape as of a moment: earlier prices and volumes are in the shares of that moment."""
        ...

    def raw(self) -> "Tape":
        """Returns the tape whose prices and volumes are in the shares of their own time."""
        ...


class Tape:
    """One instrument's trading during its venue's hours; times are Unix milliseconds, prices are in ticks."""

    def __init__(self, listing: Listing, hours: Hours) -> None:
        self.listing = listing
        self.hours = hours
        self._volatility = listing.volatility
        #: Path point and price where the last computed day ended: for a continuous venue the next day starts
        #: there. None before the first day: each of thousands of tapes would compute a path here.
        self._boundary: tuple[int, int] | None = None

    def at(self, moment: int) -> "Tape":
        """See TapeSource."""
        del moment
        return self

    def raw(self) -> "Tape":
        """See TapeSource."""
        return self

    def last_traded(self, moment: int) -> int:
        """Returns the latest moment with a trade, up to a moment within the venue's hours."""
        return moment

    def closing_price(self, window: TradingWindow) -> int:
        """Returns a trading day's closing price in ticks."""
        point = (window.ordinal + 1) * POINTS_PER_DAY
        ticks = self.listing.ticks(point)
        self._boundary = (point, ticks)
        return ticks

    def day(self, window: TradingWindow) -> TickCandle:
        """Returns a trading day's candle; a venue that closes opens with a gap from the previous close."""
        night = 0 if self.hours.continuous else 1
        point = window.ordinal * POINTS_PER_DAY + night
        boundary = self._boundary
        start = boundary[1] if boundary and boundary[0] == point else self.listing.ticks(point)
        end = self.closing_price(window)
        up, down, crowd, rush = fractions(noise(self.listing.key, window.ordinal, _DAY_KIND, 8))
        shadow = _SHADOW * self._volatility * start
        return TickCandle(
            window.start,
            window.end,
            start,
            max(start, end) + 1 + int(up * shadow),
            max(1, min(start, end) - 1 - int(down * shadow)),
            end,
            int(self.listing.daily_volume * (0.5 + crowd + rush**4)),
        )

    def subdivide(self, candle: TickCandle, step: int) -> Subdivision:
        """Returns a candle's children of `step` milliseconds: HOUR for a day, MINUTE for an hour."""
        return subdivide(
            candle, step, noise(self.listing.key, candle.start, step, noise_length(candle, step))
        )

    def trades(self, tenth: TickCandle) -> Trades:
        """Returns the trades within a tenth of a second."""
        return trades(tenth, noise(self.listing.key, tenth.start, PAUSE, NOISE_LENGTH))

    def price_at(self, moment: int) -> int:
        """Returns the last price at a moment, in ticks."""
        return self.day_until(moment).close

    def day_until(self, moment: int) -> TickCandle:
        """Returns the latest trading day's candle up to a moment; the whole day after its close."""
        return self._truncate(self.day(self.hours.latest(moment)), HOUR, moment)

    def days(self, start: int, end: int) -> Iterator[tuple[TradingWindow, TickCandle]]:
        """Yields the trading days that end after `start`, ascending; the last one only up to `end`."""
        last = self.hours.latest(end).ordinal
        for window in self.hours.between(self.hours.latest(start).ordinal, last):
            if window.end > start:
                day = self._truncate(self.day(window), HOUR, end)
                if day.high:
                    yield window, day

    def candles(self, size: int, start: int, end: int) -> Iterator[TickCandle]:
        """Yields candles of `size` milliseconds, ascending, up to `end`.

        Candles align to local midnight and end with their trading day. The first one contains `start`, or is
        the next one. `size` divides an hour or is a multiple of one, in whole tenths of a second.
        """
        step = next(step for step in STEPS if size % step == 0)
        last = self.hours.latest(end).ordinal
        for window in self.hours.between(self.hours.latest(start).ordinal, last):
            day = self.day(window)
            for children in self._subdivisions(day, HOUR, step, (start, end)) if day.high else ():
                yield from self._parts(children, window.midnight, size, (start, end))

    def _subdivisions(
        self, candle: TickCandle, step: int, finest: int, bounds: tuple[int, int]
    ) -> Iterator[Subdivision]:
        children = self.subdivide(candle, step)
        if step == finest:
            yield children
            return
        for child in map(children.child, range(len(children))):
            if _overlaps(child, bounds):
                yield from self._subdivisions(child, FINER[step], finest, bounds)

    def _parts(
        self, children: Subdivision, midnight: int, size: int, bounds: tuple[int, int]
    ) -> Iterator[TickCandle]:
        count = size // children.step
        lead = (children.grid - midnight) // children.step % count
        edges = [0, *range(count - lead, len(children), count), len(children)]
        for first, last in pairwise(edges):
            part = children.part(first, last)
            if _overlaps(part, bounds):
                if part.end > bounds[1]:
                    part = self._merge_until(children, first, bounds[1])
                if part.high:
                    yield part

    def _truncate(self, candle: TickCandle, step: int | None, moment: int) -> TickCandle:
        if moment >= candle.end:
            return candle
        if not candle.high:
            return replace(candle, end=moment + 1)
        if step is None:
            return self.trades(candle).candle_until(moment)
        return self._merge_until(self.subdivide(candle, step), 0, moment)

    def _merge_until(self, children: Subdivision, first: int, moment: int) -> TickCandle:
        index = children.index(moment)
        last = self._truncate(children.child(index), FINER.get(children.step), moment)
        return merge([children.part(first, index), last]) if index > first else last


def _overlaps(candle: TickCandle, bounds: tuple[int, int]) -> bool:
    """Returns whether a candle with trades overlaps the bounds."""
    return candle.end > bounds[0] and candle.start <= bounds[1] and candle.high > 0
