"""A grid over the past: bars are fetched and cached in whole windows, whatever part a request asks for.

Requests for any spans read the same windows, so a client cannot fill the cache, or use up an upstream's plan,
with spans of its own.
"""

from datetime import date, datetime, timedelta
from typing import Final

from msgspec import Struct

from quotecast.market.bars import Interval
from quotecast.market.calendars import Calendar, Exchange

#: Days of a window of about 1,400 bars of a venue that never closes, and of one with sessions. Whole weeks
#: where a window has more than one day: windows of days begin on a Monday, so that none splits a weekly bar.
_DAYS: Final[dict[Interval, int]] = {
    "1m": 1,
    "5m": 7,
    "15m": 14,
    "30m": 28,
    "1h": 56,
    "4h": 224,
    "D": 1400,
    "W": 7000,
}
_SESSION_DAYS: Final[dict[Interval, int]] = {
    **_DAYS,
    "1m": 7,
    "5m": 28,
    "15m": 84,
    "30m": 168,
    "1h": 280,
    "4h": 700,
}
#: Years of a window of months.
_YEARS: Final = 20


class BarWindow(Struct, frozen=True):
    """The bars that open in [start, end): those of the dates from `first` to before `following`."""

    first: date
    following: date
    start: datetime
    end: datetime


def window_at(interval: Interval, calendar: Calendar, moment: datetime) -> BarWindow:
    """Returns the window that contains an aware moment."""
    window = _window_of(interval, calendar, next(calendar.until(moment)).date)
    return window if moment < window.end else next_window(interval, calendar, window)


def next_window(interval: Interval, calendar: Calendar, window: BarWindow) -> BarWindow:
    """Returns the window that begins where this one ends."""
    return _window_of(interval, calendar, window.following)


def window_before(interval: Interval, calendar: Calendar, window: BarWindow) -> BarWindow:
    """Returns the window that ends where this one begins."""
    return _window_of(interval, calendar, window.first - timedelta(days=1))


def _window_of(interval: Interval, calendar: Calendar, day: date) -> BarWindow:
    if interval == "M":
        year = day.year - day.year % _YEARS
        first, following = date(year, 1, 1), date(year + _YEARS, 1, 1)
    else:
        days = (_SESSION_DAYS if isinstance(calendar, Exchange) else _DAYS)[interval]
        first = day - timedelta(days=(day.toordinal() - 1) % days)
        following = first + timedelta(days=days)
    # Midnight of a trading day: there opens a bar of each interval of a day or longer.
    start, end = (calendar.first_from(each).midnight for each in (first, following))
    return BarWindow(first, following, start, end)
