"""Makes bars from the quotes of one feed; no I/O.

An update counts in the minute of its quote's timestamp. A minute closes for all symbols at once, two seconds
after its end. An update of a closed minute counts in the oldest open one if it is at most ten minutes late,
else in no bar. A price that is corrected later stays in the high or the low.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from quotecast.market.bars import LENGTHS, opening_of_bar
from quotecast.market.calendars import NEW_YORK_DAYS, Calendar
from quotecast.market.own_bars import (
    COARSE,
    MINUTE,
    Closing,
    LiveInterval,
    OwnBar,
    Parts,
    Progress,
    Slot,
    close_parts,
    extend,
)
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote, StockQuote

#: Seconds from the end of a minute to its closing.
GRACE_SECONDS: Final = 2
#: An update counts in a bar if its timestamp is at most so many seconds before the present minute.
LATEST_SECONDS: Final = 600
_MAX_CACHED: Final = 4096
_DECIMALS: Final = 8
#: The length of `2026-11-22T13:30`.
_TO_THE_MINUTE: Final = 16


class BarMaker:
    """The bars in progress of one feed. Times are Unix time in seconds; `now` never falls."""

    def __init__(self, calendar: Calendar) -> None:
        #: One-minute bars by symbol; those that end by `through` are final.
        self.progress: dict[str, Progress] = {}
        #: What is final of coarser bars in progress.
        self.parts: dict[str, Parts] = {}
        self.through = 0
        #: Updates that came too late for any bar.
        self.late = 0
        self._calendar = calendar
        self._slots: dict[int, Slot | None] = {}
        self._minutes: dict[str, int] = {}
        self._days: dict[int, int] = {}

    def use(self, calendar: Calendar) -> None:
        """Takes the venue's calendar of today from now on."""
        if calendar is not self._calendar:
            self._calendar = calendar
            self._slots.clear()

    def inherit(self, progress: Mapping[str, Progress], parts: Mapping[str, Parts], through: int) -> None:
        """Continues the bars of an earlier leader."""
        self.progress = dict(progress)
        self.parts = {key: dict(own) for key, own in parts.items()}
        self.through = through

    def add(self, quote: Quote, before: Quote | None, now: int) -> None:
        """Counts an update in its bar; `before` is the symbol's quote until now. Call `close` first."""
        key = quote.key
        state = self.progress.get(key)
        present = now - now % MINUTE
        minute = present if quote.timestamp is None else min(self._minute_of(quote.timestamp), present)
        # A recording that starts over is before what is closed already.
        if present < self.through or present - minute > LATEST_SECONDS:
            self.late += 1
            return
        bar = state.minute if state is not None else None
        minute = max(minute, self.through, bar.opened if bar is not None else 0)
        volume = _volume_of(quote)
        seen = state.seen if state is not None and _continues(quote, before) else None
        day = self._day_of(minute)
        is_new_day = state is not None and isinstance(quote, StockQuote) and day != state.day
        rise = _rise(volume, seen, is_new_day=is_new_day)
        if is_new_day and state is not None and volume == seen:
            day = state.day  # the upstream still has yesterday's volume
        seen = _seen(quote, volume, seen, is_new_day=is_new_day)
        ended = state.ended if state is not None else None
        if self._slot_of(minute) is not None:
            bar, ended = _extended(bar, ended, minute, quote.price, rise)
        self.progress[key] = Progress(bar, ended, seen, day)

    def close(self, now: int) -> list[Closing]:
        """Returns the closings that are due, the oldest first; each is returned once."""
        through = now - GRACE_SECONDS
        through -= through % MINUTE
        if through <= self.through:
            return []
        before, self.through = self.through, through
        return [self._closing(end) for end in sorted(self._ends(before, through))]

    def _ends(self, before: int, through: int) -> set[int]:
        """Returns the ends, after `before` and up to `through`, of bars in progress."""
        minutes = {
            bar.opened + MINUTE
            for state in self.progress.values()
            for bar in (state.ended, state.minute)
            if bar is not None
        }
        coarse = {part.ends for own in self.parts.values() for part in own.values()}
        # The last minutes of coarser bars begin in this closing too.
        coarse |= {
            ends
            for minute in minutes
            if before < minute <= through
            for _, ends in (self._slot_of(minute - MINUTE) or {}).values()
        }
        return {end for end in minutes | coarse if before < end <= through}

    def _closing(self, end: int) -> Closing:
        bars: dict[LiveInterval, dict[str, OwnBar]] = {}
        minutes = {
            key: bar
            for key, state in self.progress.items()
            for bar in (state.ended, state.minute)
            if bar is not None and bar.opened + MINUTE == end
        }
        slot = dict(self._slot_of(end - MINUTE) or {}) if minutes else {}
        if minutes:
            bars["1m"] = minutes
            close_parts(self.parts, Closing(end, bars, slot))
        for interval in COARSE:
            ended = {
                key: own[interval].bar
                for key, own in self.parts.items()
                if interval in own and own[interval].ends <= end
            }
            if ended:
                bars[interval] = ended
        closing = Closing(end, bars, slot)
        for interval in COARSE:
            for key in bars.get(interval, ()):
                del self.parts[key][interval]
        return closing

    def _slot_of(self, minute: int) -> Slot | None:
        """Returns the minute's place in coarser intervals; None outside trading hours."""
        if minute not in self._slots:
            if len(self._slots) >= _MAX_CACHED:
                self._slots.clear()
            self._slots[minute] = slot_of(self._calendar, minute)
        return self._slots[minute]

    def _minute_of(self, timestamp: str) -> int:
        """Returns the minute of an ISO 8601 timestamp in UTC."""
        prefix = timestamp[:_TO_THE_MINUTE]
        minute = self._minutes.get(prefix)
        if minute is None:
            if len(self._minutes) >= _MAX_CACHED:
                self._minutes.clear()
            minute = int(datetime.fromisoformat(prefix).replace(tzinfo=UTC).timestamp())
            self._minutes[prefix] = minute
        return minute

    def _day_of(self, minute: int) -> int:
        """Returns the opening of the day in New York, by which volumes of stocks begin at 0."""
        hour = minute - minute % 3600
        if hour not in self._days:
            if len(self._days) >= _MAX_CACHED:
                self._days.clear()
            opened = opening_of_bar(NEW_YORK_DAYS, "D", datetime.fromtimestamp(hour, UTC))
            self._days[hour] = int(opened.timestamp()) if opened else 0
        return self._days[hour]


def slot_of(calendar: Calendar, minute: int) -> Slot | None:
    """Returns a minute's place in coarser intervals; None outside trading hours."""
    moment = datetime.fromtimestamp(minute, UTC)
    day = next(calendar.until(moment))
    if moment >= day.close:
        return None
    slot: dict[LiveInterval, tuple[int, int]] = {}
    closes = int(day.close.timestamp())
    for interval in COARSE:
        opened = opening_of_bar(calendar, interval, moment)
        assert opened is not None, "the market is open"  # noqa: S101 - narrows the type
        length = LENGTHS.get(interval)
        if length is None:
            slot[interval] = int(opened.timestamp()), closes
        else:
            grid = moment - (moment - day.midnight) % length + length
            slot[interval] = int(opened.timestamp()), min(int(grid.timestamp()), closes)
    return slot


def _extended(
    bar: OwnBar | None, ended: OwnBar | None, minute: int, price: float, rise: float | None
) -> tuple[OwnBar, OwnBar | None]:
    """Returns the minute's bar with one more update, and the bar before it."""
    piece = OwnBar(minute, price, price, price, price, rise, 1)
    if bar is None or bar.opened != minute:
        return piece, bar
    return extend(bar, piece, minute), ended


def _volume_of(quote: Quote) -> float | None:
    if isinstance(quote, DovizQuote) or quote.volume is None:
        return None
    return float(quote.volume)


def _continues(quote: Quote, before: Quote | None) -> bool:
    """Returns whether a quote's volume is of the same venue as the one before."""
    return not isinstance(quote, CryptoQuote) or (
        isinstance(before, CryptoQuote) and before.provider == quote.provider
    )


def _rise(volume: float | None, seen: float | None, *, is_new_day: bool) -> float | None:
    """Returns the volume of an update: never negative, and 0 where nothing says from when it counts."""
    if volume is None:
        return None
    if seen is None:
        return 0.0
    if is_new_day and volume != seen:
        return volume
    return round(max(0.0, volume - seen), _DECIMALS)


def _seen(quote: Quote, volume: float | None, seen: float | None, *, is_new_day: bool) -> float | None:
    if volume is None or seen is None:
        return seen if volume is None else volume
    # A day's volume that falls within the day is corrected; that of 24 hours falls with old trades.
    keeps = isinstance(quote, StockQuote) and not is_new_day
    return max(seen, volume) if keeps else volume
