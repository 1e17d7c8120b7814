"""A stock's daily bars on the consolidated tape: the one in progress, and the recent split-adjusted ones.

Minute bars and snapshots extend the bar in progress; the recent ones are the source of the previous close.
"""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.sessions import NEW_YORK, session_at, trading_day

#: From a minute's start to its close, which is within it: a later time would open a bar of the next minute.
TO_CLOSE: Final = timedelta(seconds=59, milliseconds=999)
_ONE: Final = Decimal(1)


class MinuteBar(Struct, frozen=True, gc=False):
    """A minute bar: start in UTC, prices in US dollars, volume in shares; unreadable values are None."""

    start: datetime
    high: Decimal | None
    low: Decimal | None
    close: Decimal | None
    volume: Decimal | None


class DayBar(Struct, frozen=True, gc=False):
    """The daily bar of a New York date: prices in US dollars, volume in shares."""

    date: date
    open: Decimal | None
    high: Decimal | None
    low: Decimal | None
    close: Decimal | None
    volume: Decimal | None
    #: Start of the latest minute bar that `volume` includes; None when unknown.
    minute_start: datetime | None
    #: Shares of that minute bar that `volume` includes.
    minute_volume: Decimal | None

    def is_newer_than(self, other: "DayBar") -> bool:
        """Returns whether the bar is of a later date, or includes a later minute of the same date."""
        if self.date != other.date:
            return self.date > other.date
        if self.minute_start is None or other.minute_start is None:
            return False
        return self.minute_start > other.minute_start

    def with_minute(self, minute: MinuteBar) -> "DayBar":
        """Returns the daily bar extended by a minute bar.

        A minute bar that the volume already includes, wholly or in part, adds the difference. A minute bar of
        another date changes nothing. Extended-hours minutes add volume and leave high, low and close
        unchanged, as on the tapes.
        """
        if minute.start.astimezone(NEW_YORK).date() != self.date:
            return self
        if self.minute_start is not None and minute.start < self.minute_start:
            return self
        day = self._add_volume(minute)
        if session_at(minute.start) != "regular":
            return day
        high = max(filter(None, (self.high, minute.high)), default=None)
        low = min(filter(None, (self.low, minute.low)), default=None)
        return replace(day, high=high, low=low, close=minute.close or self.close)

    def fill_gaps(self, before: "DayBar") -> "DayBar":
        """Returns the bar with its missing values taken from an earlier state of the same day."""
        return replace(
            self,
            open=self.open or before.open,
            high=self.high or before.high,
            low=self.low or before.low,
            close=self.close or before.close,
            volume=before.volume if self.volume is None else self.volume,
        )

    def _add_volume(self, minute: MinuteBar) -> "DayBar":
        # The volume waits for the next snapshot when it is unknown which minutes it includes.
        if self.volume is None or self.minute_start is None or minute.volume is None:
            return self
        counted = self.minute_volume or Decimal(0) if minute.start == self.minute_start else Decimal(0)
        more = max(minute.volume - counted, Decimal(0))
        return replace(
            self, volume=self.volume + more, minute_start=minute.start, minute_volume=counted + more
        )


class DailyHistory(Struct, frozen=True, gc=False):
    """Daily bars up to `session`, ascending, in prices of that session.

    `split_ratio` is the number of new shares for one old share: 4 on the morning of a 4:1 split, 0.1 on that
    of a 1:10 reverse split, 1 on every other day.
    """

    session: date
    days: Sequence[DayBar] = ()
    split_ratio: Decimal = _ONE

    def day(self, trading_date: date | None) -> DayBar | None:
        """Returns the daily bar of a date; None for a date without trades."""
        return next((day for day in self.days if day.date == trading_date), None)

    def last_date_before(self, limit: date) -> date | None:
        """Returns the latest date with trades before `limit`."""
        return max((day.date for day in self.days if day.date < limit), default=None)

    def close_before(self, limit: date) -> Decimal | None:
        """Returns the close of the latest trading day before `limit`; None without one."""
        day = self.day(self.last_date_before(limit))
        return day.close if day else None

    def last_close(self) -> tuple[Decimal, datetime] | None:
        """Returns the newest close, and the time at which its session ended."""
        last = next((day for day in reversed(self.days) if day.close), None)
        session = trading_day(last.date) if last else None
        return (last.close, session.close) if last and last.close and session else None

    def adjust_for_split(self, price: Decimal, moment: datetime) -> Decimal:
        """Returns a price adjusted to the session's shares.

        A price from before the session's date is divided by the split ratio.
        """
        midnight = datetime.combine(self.session, time(), NEW_YORK)
        return price / self.split_ratio if moment < midnight else price


def daily_history(session: date, adjusted: Sequence[DayBar], raw: Sequence[DayBar]) -> DailyHistory:
    """Returns a stock's history from its split-adjusted daily bars and the same bars unadjusted.

    The split ratio is the unadjusted close of the last day before the session divided by its adjusted close.
    """
    closes = {day.date: day.close for day in raw}
    pairs = [(closes.get(day.date), day.close) for day in adjusted if day.date < session]
    ratios = [before / after for before, after in pairs if before and after]
    return DailyHistory(session, adjusted, ratios[-1] if ratios else _ONE)
