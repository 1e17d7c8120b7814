"""Everything that ever traded of one instrument: a pure function of seed, instrument and time.

Nothing is recorded. A day's candle follows from the paths; every finer one is found by splitting its
parent, so any moment is reached in five steps and all intervals tell the same story.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from quotecast.providers.simulator.candles import (
    FINER,
    HOUR,
    STEPS,
    Subdivision,
    TickCandle,
    merge,
    noise_length,
    subdivide,
)
from quotecast.providers.simulator.hours import Hours, TradingWindow
from quotecast.providers.simulator.listings import Listing
from quotecast.providers.simulator.noise import fractions, noise
from quotecast.providers.simulator.paths import POINTS_PER_DAY
from quotecast.providers.simulator.trades import NOISE_LENGTH, PAUSE, Trades, trades

_DAY_KIND: Final = 0
#: The longest shadow of a day, in daily moves.
_SHADOW: Final = 0.8


class Tape:
    """One instrument's trading in the hours of its venue; all moments are Unix milliseconds."""

    def __init__(self, listing: Listing, hours: Hours) -> None:
        self.listing = listing
        self.hours = hours
        self._volatility = listing.volatility
        #: Where the last day that was looked at ended: around the clock the next one begins there.
        self._boundary = (0, listing.ticks(0))

    def closing_price(self, window: TradingWindow) -> int:
        """Price, in ticks, with which a trading day ends."""
        point = (window.ordinal + 1) * POINTS_PER_DAY
        ticks = self.listing.ticks(point)
        self._boundary = (point, ticks)
        return ticks

    def day(self, window: TradingWindow) -> TickCandle:
        """A whole trading day; where the venue closes, it opens off the close before."""
        night = 0 if self.hours.continuous else 1
        point = window.ordinal * POINTS_PER_DAY + night
        boundary = self._boundary
        start = boundary[1] if boundary[0] == point else self.listing.ticks(point)
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
        """The children of a candle of this tape: a day's with HOUR, an hour's with MINUTE, and so on."""
        return subdivide(
            candle, step, noise(self.listing.key, candle.start, step, noise_length(candle, step))
        )

    def trades(self, tenth: TickCandle) -> Trades:
        """The trades of a tenth of a second of this tape."""
        return trades(tenth, noise(self.listing.key, tenth.start, PAUSE, NOISE_LENGTH))

    def price_at(self, moment: int) -> int:
        """The last price at a moment, in ticks."""
        return self.day_until(moment).close

    def day_until(self, moment: int) -> TickCandle:
        """The latest trading day as it stands at a moment; whole once the day is over."""
        return self._truncate(self.day(self.hours.latest(moment)), HOUR, moment)

    def days(self, start: int, end: int) -> Iterator[tuple[TradingWindow, TickCandle]]:
        """The trading days that end after `start`, ascending; the last as it stands at `end`."""
        last = self.hours.latest(end).ordinal
        for window in self.hours.between(self.hours.latest(start).ordinal, last):
            if window.end > start:
                yield window, self._truncate(self.day(window), HOUR, end)

    def candles(self, size: int, start: int, end: int) -> Iterator[TickCandle]:
        """Candles of `size` milliseconds, ascending, as of `end`.

        They are counted from midnight and do not reach beyond their trading day; the first is the one that
        holds `start`, or the next. `size` is a divisor or a multiple of an hour, in whole tenths of seconds.
        """
        step = next(step for step in STEPS if size % step == 0)
        last = self.hours.latest(end).ordinal
        for window in self.hours.between(self.hours.latest(start).ordinal, last):
            for children in self._subdivisions(self.day(window), HOUR, step, (start, end)):
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
                yield part if part.end <= bounds[1] else self._merge_until(children, first, bounds[1])

    def _truncate(self, candle: TickCandle, step: int | None, moment: int) -> TickCandle:
        if moment >= candle.end:
            return candle
        if step is None:
            return self.trades(candle).candle_until(moment)
        return self._merge_until(self.subdivide(candle, step), 0, moment)

    def _merge_until(self, children: Subdivision, first: int, moment: int) -> TickCandle:
        index = children.index(moment)
        last = self._truncate(children.child(index), FINER.get(children.step), moment)
        return merge([children.part(first, index), last]) if index > first else last


def _overlaps(candle: TickCandle, bounds: tuple[int, int]) -> bool:
    return candle.end > bounds[0] and candle.start <= bounds[1]
