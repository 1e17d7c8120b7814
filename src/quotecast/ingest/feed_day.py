"""Counts the figures of a feed's days while this ingest leads it; no I/O."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final

from quotecast.feed.mirror import STALE_AFTER_SECONDS
from quotecast.market.feed_days import DayFigures
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import MINUTE, Closing
from quotecast.market.quotes import Quote

#: The age of one in so many quotes is counted: to read each quote's timestamp would take too long.
SAMPLED: Final = 16


class DayCounter:
    """Counts one term as leader into `days`, by the date at the venue.

    `refused` is what the provider had refused by reason before the term.
    """

    def __init__(self, feed: Feed, days: dict[date, DayFigures], refused: Mapping[str, int]) -> None:
        self._zone = feed.spec.always_open
        self._days = days
        #: Before the feed's first time nothing says which day it is.
        self._today = DayFigures()
        self._ends = 0.0
        self._beat_at: float | None = None
        self._refused = refused
        self._corrections = 0
        self._next = 0

    def turn(self, now: float) -> None:
        """Counts in the day of the feed's time from now on; 0 is no time."""
        if now >= self._ends and now:
            day = next(self._zone.until(datetime.fromtimestamp(now, UTC)))
            self._ends = day.close.timestamp()
            self._today = self._days.setdefault(day.date, DayFigures())

    def sample(self, quotes: Sequence[Quote], before: Callable[[str], Quote | None], received: float) -> None:
        """Counts the ages of some quotes of an update that were received at a Unix time.

        Only a new timestamp has an age: a symbol's first quote was there before.
        """
        first, number = self._next, len(quotes)
        # Many updates have a single quote.
        if first >= number:
            self._next = first - number
            return
        self._next = (first - number) % SAMPLED
        for quote in quotes[first::SAMPLED]:
            known = before(quote.key)
            if known is not None and quote.timestamp and quote.timestamp != known.timestamp:
                self._today.add_age((received - datetime.fromisoformat(quote.timestamp).timestamp()) * 1000)

    def add_changes(self, number: int) -> None:
        """Counts published changes of quotes."""
        self._today.updates += number

    def add_closing(self, closing: Closing) -> None:
        """Counts a published minute in its own day: the last one of a day becomes final in the next."""
        if "1m" in closing.bars:
            opened = datetime.fromtimestamp(closing.through - MINUTE, UTC)
            self._days.setdefault(next(self._zone.until(opened)).date, DayFigures()).minutes += 1

    def beat(self, now: float, *, is_overdue: bool, corrections: int, refused: Mapping[str, int]) -> None:
        """Counts the time since the last beat that reached the bus, by a steady clock in seconds.

        `corrections` are those of the term, `refused` those since the process began.
        """
        day, seconds = self._today, 0.0 if self._beat_at is None else now - self._beat_at
        self._beat_at = now
        day.led_seconds += seconds
        day.stale_seconds += seconds if is_overdue else max(0.0, seconds - STALE_AFTER_SECONDS)
        day.corrections += corrections - self._corrections
        self._corrections = corrections
        for reason, count in refused.items():
            if rise := max(0, count - self._refused.get(reason, 0)):
                day.refused[reason] = day.refused.get(reason, 0) + rise
        self._refused = refused
