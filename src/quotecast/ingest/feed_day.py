"""Counts the figures of a feed's days while this ingest leads it; no I/O."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final

from quotecast.feed.mirror import STALE_AFTER_SECONDS
from quotecast.market.feed_days import DayFigures
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import MINUTE, Closing
from quotecast.market.quotes import Quote

#: One quote in so many has its age counted, for speed: a prime number, which reaches all symbols of a poll.
SAMPLED: Final = 17


class DayCounter:
    """Counts one term as leader into `days`, by the date at the venue.

    `refused` is what the provider had refused by reason before the term.
    """

    def __init__(self, feed: Feed, days: dict[date, DayFigures], refused: Mapping[str, int]) -> None:
        self._zone = feed.spec.always_open
        self._days = days
        #: Before the feed's first time nothing says which day it is.
        self.today = self._beaten = DayFigures()
        self._now = self._begins = self._ends = 0.0
        self._beat_at: float | None = None
        self._refused = refused
        self._corrections = 0
        self._next = 0

    def turn(self, now: float) -> None:
        """Counts in the day of the feed's time from now on; 0 means no time."""
        self._now = now
        if now >= self._ends and now:
            day = next(self._zone.until(datetime.fromtimestamp(now, UTC)))
            self._begins, self._ends = day.open.timestamp(), day.close.timestamp()
            self.today = self._days.setdefault(day.date, DayFigures())
            # A minute of yesterday may still become final.
            for old in sorted(self._days.keys() - {day.date})[:-1]:
                del self._days[old]

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
                self.today.add_age((received - datetime.fromisoformat(quote.timestamp).timestamp()) * 1000)

    def add_closing(self, closing: Closing) -> None:
        """Counts a published minute in its own day: the last one of a day becomes final in the next."""
        if "1m" in closing.bars:
            opened = datetime.fromtimestamp(closing.through - MINUTE, UTC)
            self._days.setdefault(next(self._zone.until(opened)).date, DayFigures()).minutes += 1

    def beat(self, now: float, *, is_overdue: bool, corrections: int, refused: Mapping[str, int]) -> None:
        """Counts the time since the last beat that reached the bus, by a steady clock in seconds.

        `corrections` are those of the term, `refused` those since the process began. Call `turn` first.
        """
        day, seconds = self.today, 0.0 if self._beat_at is None else now - self._beat_at
        stale = seconds if is_overdue else max(0.0, seconds - STALE_AFTER_SECONDS)
        # An outage over midnight counts in both days.
        inside = min(seconds, self._now - self._begins)
        self._beaten.led_seconds += seconds - inside
        self._beaten.stale_seconds += max(0.0, stale - inside)
        day.led_seconds += inside
        day.stale_seconds += min(stale, inside)
        self._beat_at, self._beaten = now, day
        day.corrections += corrections - self._corrections
        self._corrections = corrections
        for reason, count in refused.items():
            if rise := max(0, count - self._refused.get(reason, 0)):
                day.refused[reason] = day.refused.get(reason, 0) + rise
        self._refused = refused
