"""Makes bars from the quotes of one feed; no I/O.

An update counts in the minute of its quote's timestamp. A minute closes for all symbols at once, two seconds
after its end. An update of a closed minute counts in the oldest open one if it is at most ten minutes late,
else in no bar. A price that is corrected later stays in the high or the low.

Where the venue sends bars of its own, those count, with every trade and its volume; later quotes of the same
minute extend their prices until the venue's last one.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from msgspec import structs

from quotecast.market.bars import LENGTHS, opening_of_bar
from quotecast.market.calendars import NEW_YORK_DAYS, Calendar, latest_close
from quotecast.market.own_bars import (
    COARSE,
    MINUTE,
    Closing,
    LiveInterval,
    OwnBar,
    Parts,
    Progress,
    Slot,
    VenueBar,
    add_volumes,
    close_parts,
    tidy_volume,
)
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote, StockQuote

#: Seconds from the end of a minute to its closing.
GRACE_SECONDS: Final = 2
#: An update counts in a bar if its timestamp is at most so many seconds before the present minute.
LATEST_SECONDS: Final = 600
_MAX_CACHED: Final = 4096
#: The length of `2026-11-22T13:30`.
_TO_THE_MINUTE: Final = 16


class _Making:
    """One symbol's bars in the making: mutable, because a busy feed changes them often."""

    __slots__ = (
        "close",
        "day",
        "ended",
        "high",
        "low",
        "of_venue",
        "open",
        "opened",
        "seen",
        "settled",
        "updates",
        "volume",
    )

    def __init__(self) -> None:
        #: Opening of the newest one-minute bar; -1 before the first.
        self.opened = -1
        self.open = self.high = self.low = self.close = 0.0
        self.volume: float | None = None
        self.updates = 0
        self.ended: OwnBar | None = None
        #: See Progress.
        self.seen: float | None = None
        self.day = 0
        #: Whether the newest bar is the venue's, and whether that one is final.
        self.of_venue = self.settled = False

    @classmethod
    def of(cls, progress: Progress) -> "_Making":
        making = cls()
        if progress.minute is not None:
            bar = progress.minute
            making.opened, making.open, making.high, making.low = bar.opened, bar.open, bar.high, bar.low
            making.close, making.volume, making.updates = bar.close, bar.volume, bar.updates
        making.ended, making.seen, making.day = progress.ended, progress.seen, progress.day
        return making

    def minute(self) -> OwnBar | None:
        if self.opened < 0:
            return None
        return OwnBar(self.opened, self.open, self.high, self.low, self.close, self.volume, self.updates)

    def progress(self) -> Progress:
        return Progress(self.minute(), self.ended, self.seen, self.day)

    def add(self, minute: int, price: float, rise: float | None) -> None:
        """Counts an update in the bar of a minute, which is not before the newest one."""
        if minute != self.opened:
            self.ended = self.minute()
            self.opened, self.updates, self.volume = minute, 1, rise
            self.open = self.high = self.low = self.close = price
            self.of_venue = self.settled = False
            return
        self.updates += 1
        if self.settled:
            return
        if price > self.high:
            self.high = price
        elif price < self.low:
            self.low = price
        self.close = price
        if not self.of_venue:
            self.volume = add_volumes(self.volume, rise)

    def replace(self, bar: OwnBar, *, final: bool) -> None:
        """Takes the venue's bar of the newest minute or a later one, or of the minute before."""
        if bar.opened < self.opened:
            before = self.ended.updates if self.ended is not None and self.ended.opened == bar.opened else 0
            self.ended = structs.replace(bar, updates=before)
            return
        if bar.opened > self.opened:
            self.ended, self.opened, self.updates = self.minute(), bar.opened, 0
        self.open, self.high, self.low, self.close = bar.open, bar.high, bar.low, bar.close
        self.volume, self.of_venue, self.settled = bar.volume, True, final


class BarMaker:
    """The bars in progress of one feed. Times are Unix time in seconds; `now` never falls."""

    def __init__(self, calendar: Calendar) -> None:
        #: What is final of coarser bars in progress.
        self.parts: dict[str, Parts] = {}
        #: The bars that end by it are final.
        self.through = 0
        #: Updates that came too late for any bar.
        self.late = 0
        #: Those of them that a bar of a session lacks, but for a symbol's first update.
        self.corrections = 0
        #: The bars that open from this time on have every update; 0 before the first update.
        self.whole_from = 0
        self._making: dict[str, _Making] = {}
        self._calendar = calendar

    def use(self, calendar: Calendar) -> None:
        """Takes the venue's calendar of today from now on."""
        self._calendar = calendar

    def inherit(self, progress: Mapping[str, Progress], parts: Mapping[str, Parts], through: int) -> None:
        """Continues the bars of an earlier leader."""
        self._making = {key: _Making.of(each) for key, each in progress.items()}
        self.parts = {key: dict(own) for key, own in parts.items()}
        self.through = through

    def miss(self, now: float) -> None:
        """Notes that updates until `now` are missing: the bars of that time are not whole."""
        self.whole_from = max(math.ceil(now / MINUTE) * MINUTE, self.through)

    def progress_of(self, key: str) -> Progress | None:
        """Returns a symbol's one-minute bars that may not be final; None before its first update."""
        making = self._making.get(key)
        if making is None:
            return None
        if making.ended is not None and making.ended.opened + MINUTE <= self.through:
            making.ended = None
        return making.progress()

    def minute_of(self, key: str) -> int:
        """Returns the opening of a symbol's newest one-minute bar; -1 before the first."""
        making = self._making.get(key)
        return making.opened if making is not None else -1

    def add(self, quote: Quote, before: Quote | None, now: int) -> None:
        """Counts an update in its bar; `before` is the symbol's quote until now. Call `close` first."""
        present = now - now % MINUTE
        stated = present if quote.timestamp is None else _minute_of(quote.timestamp[:_TO_THE_MINUTE])
        # A recording that starts over is before what is closed already.
        if present < self.through or present - stated > LATEST_SECONDS:
            self.late += 1
            is_new = before is not None and before.timestamp != quote.timestamp
            self.corrections += is_new and slot_of(self._calendar, stated) is not None
            return
        making = self._making.get(quote.key)
        if making is None:
            making = self._making[quote.key] = _Making()
        minute = max(min(stated, present), self.through, making.opened)
        slot, day = slot_of(self._calendar, minute), midnight_of(minute)
        rise = None if isinstance(quote, DovizQuote) else _rise(making, quote, before, day)
        if slot is not None:
            making.add(minute, quote.price, rise)

    def take(self, each: VenueBar, now: int) -> None:
        """Counts the venue's own bar of a minute; one that is closed stays as it is. Call `close` first."""
        opened, present = each.bar.opened, now - now % MINUTE
        is_traded = slot_of(self._calendar, opened) is not None
        if opened + MINUTE <= self.through:
            self.late += 1
            self.corrections += is_traded
        elif opened <= present and is_traded:
            self._making.setdefault(each.key, _Making()).replace(each.bar, final=each.final)

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
        minutes = {bar.opened + MINUTE for _, bar in self._unfinished(before, through)}
        ends = {part.ends for own in self.parts.values() for part in own.values()}
        # The last minutes of coarser bars begin in this closing too.
        for minute in minutes:
            ends |= {end for _, end in (slot_of(self._calendar, minute - MINUTE) or {}).values()}
        return {end for end in minutes | ends if before < end <= through}

    def _unfinished(self, before: int, through: int) -> Iterator[tuple[str, OwnBar]]:
        """Yields the one-minute bars that end after `before` and by `through`, with their symbols."""
        for key, making in self._making.items():
            for bar in (making.ended, making.minute()):
                if bar is not None and before < bar.opened + MINUTE <= through:
                    yield key, bar

    def _closing(self, end: int) -> Closing:
        """Makes the bars final that end at `end`."""
        bars: dict[LiveInterval, dict[str, OwnBar]] = {}
        slot: dict[LiveInterval, tuple[int, int]] = {}
        if minutes := dict(self._unfinished(end - 1, end)):
            bars["1m"] = minutes
            slot |= slot_of(self._calendar, end - MINUTE) or {}
            close_parts(self.parts, Closing(end, bars, slot))
        for interval in COARSE:
            ended = [key for key, own in self.parts.items() if interval in own and own[interval].ends <= end]
            if ended:
                bars[interval] = {key: self.parts[key].pop(interval).bar for key in ended}
        return Closing(end, bars, slot)


@lru_cache(_MAX_CACHED)
def _minute_of(prefix: str) -> int:
    """Returns the Unix time of a minute in UTC such as `2026-11-22T13:30`."""
    return int(datetime.fromisoformat(prefix).replace(tzinfo=UTC).timestamp())


@lru_cache(_MAX_CACHED)
def slot_of(calendar: Calendar, minute: int) -> Slot | None:
    """Returns a minute's place in coarser intervals; None outside trading hours.

    A halt ends no coarser bar: it goes on when the exchange trades again.
    """
    moment = datetime.fromtimestamp(minute, UTC)
    day = next(calendar.until(moment))
    if moment >= day.close:
        return None
    slot: dict[LiveInterval, tuple[int, int]] = {}
    closes = int(latest_close(calendar, day).timestamp())
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


@lru_cache(_MAX_CACHED)
def midnight_of(minute: int) -> int:
    """Returns the midnight in New York before a minute: volumes of stocks begin at 0 then."""
    opened = opening_of_bar(NEW_YORK_DAYS, "D", datetime.fromtimestamp(minute, UTC))
    return int(opened.timestamp()) if opened is not None else 0


def _rise(making: _Making, quote: StockQuote | CryptoQuote, before: Quote | None, day: int) -> float | None:
    """Returns the volume of an update: never negative, and 0 where nothing says from when it counts."""
    if quote.volume is None:
        return None
    volume, seen = float(quote.volume), making.seen
    if isinstance(quote, CryptoQuote):
        making.seen = volume
        same_venue = isinstance(before, CryptoQuote) and before.provider == quote.provider
        rise = volume - seen if seen is not None and same_venue else 0.0
    elif seen is None or (day != making.day and volume != seen):
        rise = 0.0 if seen is None else volume
        making.seen, making.day = volume, day
    else:
        # A volume that falls within its day is corrected.
        rise = volume - seen
        making.seen = max(volume, seen)
    return tidy_volume(max(0.0, rise))
