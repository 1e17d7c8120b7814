"""Sessions of the New York Stock Exchange, from 1995 on.

Holidays, half days and special closures come from the `holidays` package. Since 1995 every early close is at
13:00; before that year this calendar is wrong.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import dropwhile
from typing import Final, Literal
from zoneinfo import ZoneInfo

from holidays import HALF_DAY, PUBLIC, HolidayBase, financial_holidays
from msgspec import Struct

Session = Literal["pre", "regular", "post", "closed"]

NEW_YORK: Final = ZoneInfo("America/New_York")

_PRE_OPEN: Final = time(4)
_OPEN: Final = time(9, 30)
_CLOSE: Final = time(16)
_POST_CLOSE: Final = time(20)
_EARLY_CLOSE: Final = time(13)
_EARLY_POST_CLOSE: Final = time(17)
_SATURDAY: Final = 5


class TradingDay(Struct, frozen=True):
    """A day on which the exchange opens, with the limits of its sessions in UTC."""

    date: date
    pre_open: datetime
    open: datetime
    close: datetime
    post_close: datetime


class Unscheduled(Struct, frozen=True, kw_only=True):
    """A deviation from the calendar on one New York date, as the exchange's own clock reports it.

    Without `open` and `close` the exchange stays closed on that date. A halt of the whole market moves the
    close to an earlier time.
    """

    date: date
    open: datetime | None = None
    close: datetime | None = None
    is_open: bool
    next_open: datetime
    next_close: datetime

    def applies_at(self, moment: datetime) -> bool:
        """Returns whether it applies at an aware moment: it ends with the next opening or close."""
        return moment < (self.next_close if self.is_open else self.next_open)


def trading_day(day: date) -> TradingDay | None:
    """Returns the sessions of a New York date; None on weekends, holidays and special closures."""
    return _trading_days_of(day.year).get(day)


def trading_days_from(day: date) -> Iterator[TradingDay]:
    """Yields every trading day on or after the date, ascending, up to the year 9999."""
    for year in range(day.year, date.max.year + 1):
        yield from dropwhile(lambda each: each.date < day, _trading_days_of(year).values())


def trading_days_until(day: date) -> Iterator[TradingDay]:
    """Yields every trading day on or before the date, newest first."""
    for year in range(day.year, date.min.year, -1):
        yield from dropwhile(lambda each: each.date > day, reversed(_trading_days_of(year).values()))


def session_at(moment: datetime) -> Session:
    """Returns the session of an aware moment; a session includes its first instant, not its last."""
    day = trading_day(_local_date(moment))
    if day is None or not day.pre_open <= moment < day.post_close:
        return "closed"
    if moment < day.open:
        return "pre"
    return "regular" if moment < day.close else "post"


def actual_session_at(moment: datetime, unscheduled: Unscheduled | None) -> Session:
    """Returns the session of an aware moment, by the exchange's own clock where it differs."""
    if unscheduled is None or not unscheduled.applies_at(moment):
        return session_at(moment)
    if unscheduled.is_open:
        return "regular"
    return "closed" if _local_date(moment) == unscheduled.date else session_at(moment)


def next_open(moment: datetime) -> datetime:
    """Returns the first opening of the regular session after an aware moment, in UTC."""
    return next(day.open for day in trading_days_from(_local_date(moment)) if day.open > moment)


def next_close(moment: datetime) -> datetime:
    """Returns the first close of the regular session after an aware moment, in UTC."""
    return next(day.close for day in trading_days_from(_local_date(moment)) if day.close > moment)


def _local_date(moment: datetime) -> date:
    if moment.tzinfo is None:
        raise ValueError("A moment needs a time zone to have a session")
    return moment.astimezone(NEW_YORK).date()


@lru_cache(maxsize=128)
def _trading_days_of(year: int) -> dict[date, TradingDay]:
    closed = _nyse(year, PUBLIC)
    early = _nyse(year, HALF_DAY)
    first = date(year, 1, 1)
    days = (first + timedelta(days=number) for number in range((date(year, 12, 31) - first).days + 1))
    return {
        day: _sessions_of(day, early=day in early)
        for day in days
        if day.weekday() < _SATURDAY and day not in closed
    }


def _nyse(year: int, category: str) -> HolidayBase:
    return financial_holidays("XNYS", years=year, expand=False, language="en_US", categories=(category,))


def _sessions_of(day: date, *, early: bool) -> TradingDay:
    return TradingDay(
        date=day,
        pre_open=_utc(day, _PRE_OPEN),
        open=_utc(day, _OPEN),
        close=_utc(day, _EARLY_CLOSE if early else _CLOSE),
        post_close=_utc(day, _EARLY_POST_CLOSE if early else _POST_CLOSE),
    )


def _utc(day: date, hour: time) -> datetime:
    return datetime.combine(day, hour, NEW_YORK).astimezone(UTC)
