"""Trading calendars: the days and hours in which a venue trades."""

from collections.abc import Hashable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from heapq import merge
from operator import attrgetter
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from msgspec import Struct

from quotecast.market.sessions import (
    NEW_YORK,
    TradingDay,
    Unscheduled,
    trading_day,
    trading_days_from,
    trading_days_until,
)


class VenueDay(Struct, frozen=True):
    """A venue's trading day: its date, and its midnight, open and close in UTC."""

    date: date
    midnight: datetime
    open: datetime
    close: datetime


class Calendar(Hashable, Protocol):
    """The trading days of a venue; each calendar is equal to itself alone."""

    def until(self, moment: datetime) -> Iterator[VenueDay]:
        """Yields the days that have opened by an aware moment, newest first."""
        ...

    def first_from(self, day: date) -> VenueDay:
        """Returns the first trading day on or after a date."""
        ...


class AroundTheClock:
    """A venue that never closes: every calendar day of its time zone is a trading day."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone

    def until(self, moment: datetime) -> Iterator[VenueDay]:
        """See Calendar."""
        today = moment.astimezone(self._zone).date()
        while True:
            yield self.first_from(today)
            today -= timedelta(days=1)

    def first_from(self, day: date) -> VenueDay:
        """See Calendar."""
        start = _midnight(day, self._zone)
        return VenueDay(day, start, start, _midnight(day + timedelta(days=1), self._zone))


class Exchange:
    """The sessions of the New York Stock Exchange, with at most one unscheduled day.

    The sessions are the regular ones, or with `is_extended` those from 4:00 to 20:00; an unscheduled day has
    its regular session only.
    """

    def __init__(self, unscheduled: Unscheduled | None = None, *, is_extended: bool = False) -> None:
        self.is_extended = is_extended
        self._unscheduled = unscheduled
        self._date = unscheduled.date if unscheduled else None
        self._own: VenueDay | None = None
        self.is_halted = unscheduled is not None and not unscheduled.is_open
        if unscheduled and unscheduled.open and unscheduled.close:
            midnight = _midnight(unscheduled.date, NEW_YORK)
            self._own = VenueDay(unscheduled.date, midnight, unscheduled.open, unscheduled.close)

    def until(self, moment: datetime) -> Iterator[VenueDay]:
        """See Calendar."""
        days = (self._session_of(day) for day in trading_days_until(moment.astimezone(NEW_YORK).date()))
        own = [self._own] if self._own else []
        scheduled = (day for day in days if day.date != self._date)
        return (day for day in merge(scheduled, own, key=_date, reverse=True) if day.open <= moment)

    def first_from(self, day: date) -> VenueDay:
        """See Calendar."""
        days = (self._session_of(each) for each in trading_days_from(day))
        own = [self._own] if self._own and self._own.date >= day else []
        return next(merge((each for each in days if each.date != self._date), own, key=_date))

    def hours(self, day: date) -> TradingDay | VenueDay | None:
        """Returns the session of a New York date, with its open and close; None for a date without one."""
        if day == self._date:
            return self._own
        scheduled = trading_day(day)
        return self._session_of(scheduled) if scheduled and self.is_extended else scheduled

    def _session_of(self, day: TradingDay) -> VenueDay:
        hours = (day.pre_open, day.post_close) if self.is_extended else (day.open, day.close)
        return VenueDay(day.date, _midnight(day.date, NEW_YORK), *hours)

    def extended(self) -> "Exchange":
        """Returns the exchange with the hours before and after its regular sessions."""
        return Exchange(self._unscheduled, is_extended=True)


_date: Final = attrgetter("date")

EXCHANGE: Final = Exchange()
NEW_YORK_DAYS: Final = AroundTheClock(NEW_YORK)
UTC_DAYS: Final = AroundTheClock(UTC)
ISTANBUL_DAYS: Final = AroundTheClock(ZoneInfo("Europe/Istanbul"))


def is_open(calendar: Calendar, moment: datetime) -> bool:
    """Returns whether instruments trade at an aware moment; a day includes its open, not its close."""
    return moment < next(calendar.until(moment)).close


def latest_close(calendar: Calendar, day: VenueDay) -> datetime:
    """Returns the time at which a venue's day is over for certain.

    A halt of the whole exchange moves the close to an earlier time, until it trades again on that day.
    """
    scheduled = trading_day(day.date) if isinstance(calendar, Exchange) and calendar.is_halted else None
    return day.close if scheduled is None else max(day.close, scheduled.close)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
