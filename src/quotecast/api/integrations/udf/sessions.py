"""Trading hours in TradingView's notation: sessions, holidays and corrections."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final

from msgspec import Struct

from quotecast.market.calendars import Calendar, Exchange, VenueDay
from quotecast.market.sessions import NEW_YORK, TradingDay

#: The first year whose holidays a chart gets; intraday bars of earlier years are rare.
FIRST_YEAR: Final = 2000

_REGULAR: Final = "0930-1600"
_SATURDAY: Final = 5


class Hours(Struct, frozen=True):
    """When a venue trades, in its own time: the usual session, closed days, and days with other hours."""

    session: str
    session_holidays: str = ""
    corrections: str = ""


_ALWAYS: Final = Hours("24x7")


def hours_of(calendar: Calendar, moment: datetime) -> Hours:
    """Returns the hours of a venue, up to the end of the year after an aware moment."""
    if not isinstance(calendar, Exchange):
        return _ALWAYS
    return _exchange_hours(calendar, moment.astimezone(NEW_YORK).year + 1)


@lru_cache(maxsize=8)
def _exchange_hours(exchange: Exchange, last_year: int) -> Hours:
    closed: list[str] = []
    other: defaultdict[str, list[str]] = defaultdict(list)
    for day in _weekdays(last_year):
        hours = exchange.hours(day)
        if hours is None:
            closed.append(f"{day:%Y%m%d}")
        elif (session := _session(hours)) != _REGULAR:
            other[session].append(f"{day:%Y%m%d}")
    corrections = ";".join(f"{session}:{','.join(days)}" for session, days in other.items())
    return Hours(_REGULAR, ",".join(closed), corrections)


def _weekdays(last_year: int) -> Iterator[date]:
    """Yields the weekdays of the known years, the latest first."""
    day = date(last_year, 12, 31)
    while day.year >= FIRST_YEAR:
        if day.weekday() < _SATURDAY:
            yield day
        day -= timedelta(days=1)


def _session(day: TradingDay | VenueDay) -> str:
    opened, closed = (each.astimezone(NEW_YORK) for each in (day.open, day.close))
    return f"{opened:%H%M}-{closed:%H%M}"
