"""On which days, and from when to when, the instruments of a feed trade."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Protocol

from msgspec import Struct

from quotecast.market.sessions import NEW_YORK, TradingDay, trading_days_from, trading_days_until


class Day(Struct, frozen=True):
    """A trading day: its date, the midnight it is counted from, and its open and close, in UTC."""

    date: date
    midnight: datetime
    open: datetime
    close: datetime


class Calendar(Protocol):
    """The trading days of a venue."""

    def until(self, moment: datetime) -> Iterator[Day]:
        """The days that have opened by an aware moment, newest first."""
        ...

    def first_from(self, day: date) -> Day:
        """The first trading day on or after a date."""
        ...


class AroundTheClock:
    """A venue that never closes: every calendar day of its time zone is a trading day."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone

    def until(self, moment: datetime) -> Iterator[Day]:
        """See Calendar."""
        today = moment.astimezone(self._zone).date()
        while True:
            yield self.first_from(today)
            today -= timedelta(days=1)

    def first_from(self, day: date) -> Day:
        """See Calendar."""
        start = _midnight(day, self._zone)
        return Day(day, start, start, _midnight(day + timedelta(days=1), self._zone))


class Exchange:
    """The regular sessions of the New York Stock Exchange."""

    def until(self, moment: datetime) -> Iterator[Day]:
        """See Calendar."""
        days = trading_days_until(moment.astimezone(NEW_YORK).date())
        return (_session(day) for day in days if day.open <= moment)

    def first_from(self, day: date) -> Day:
        """See Calendar."""
        return _session(next(trading_days_from(day)))


EXCHANGE: Final = Exchange()
NEW_YORK_DAYS: Final = AroundTheClock(NEW_YORK)
UTC_DAYS: Final = AroundTheClock(UTC)


def is_open(calendar: Calendar, moment: datetime) -> bool:
    """Whether instruments trade at an aware moment; a day holds its first instant, not its last."""
    return moment < next(calendar.until(moment)).close


def _session(day: TradingDay) -> Day:
    return Day(day.date, _midnight(day.date, NEW_YORK), day.open, day.close)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
