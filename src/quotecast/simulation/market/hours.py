"""Trading hours of the simulated venues."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from quotecast.market.calendars import AroundTheClock, Calendar
from quotecast.market.sessions import NEW_YORK

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class TradingWindow(Struct, frozen=True, gc=False):
    """One trading day: date as an ordinal; local midnight, open and close in Unix milliseconds."""

    ordinal: int
    midnight: int
    start: int
    end: int


class Hours:
    """A venue's trading days, from its calendar; `zone` is that of the calendar's dates."""

    def __init__(self, calendar: Calendar, zone: ZoneInfo) -> None:
        self.zone = zone
        #: Whether each trading day opens where the one before closed.
        self.continuous = isinstance(calendar, AroundTheClock)
        self._calendar = calendar

    def latest(self, moment: int) -> TradingWindow:
        """Returns the latest trading day that has begun."""
        today = local_ordinal(moment, self.zone)
        return next(window for window in self._back_from(today) if window.start <= moment)

    def before(self, window: TradingWindow) -> TradingWindow:
        """Returns the preceding trading day."""
        return next(self._back_from(window.ordinal - 1))

    def between(self, first: int, last: int) -> Iterator[TradingWindow]:
        """Yields the trading days of these dates (ordinals, both included), ascending."""
        windows = (_window(self._calendar, self.zone, ordinal) for ordinal in range(first, last + 1))
        return (window for window in windows if window)

    def _back_from(self, ordinal: int) -> Iterator[TradingWindow]:
        windows = (_window(self._calendar, self.zone, each) for each in range(ordinal, 0, -1))
        return (window for window in windows if window)


@lru_cache(maxsize=32_768)
def _window(calendar: Calendar, zone: ZoneInfo, ordinal: int) -> TradingWindow | None:
    """Returns the trading day of a date; None for a date without one."""
    day = calendar.first_from(date.fromordinal(ordinal))
    if day.date.toordinal() != ordinal:
        return None
    return TradingWindow(ordinal, midnight_of(ordinal, zone), milliseconds(day.open), milliseconds(day.close))


def milliseconds(moment: datetime) -> int:
    """Returns the Unix milliseconds of an aware moment, rounded down."""
    return (moment - _EPOCH) // _MILLISECOND


def local_ordinal(moment: int, zone: ZoneInfo) -> int:
    """Returns the local date of a moment in Unix milliseconds, as an ordinal."""
    return datetime.fromtimestamp(moment / 1000, zone).toordinal()


def new_york_date(moment: int) -> date:
    """Returns the date in New York at a moment in Unix milliseconds."""
    return date.fromordinal(local_ordinal(moment, NEW_YORK))


@lru_cache(maxsize=32_768)
def midnight_of(ordinal: int, zone: ZoneInfo) -> int:
    """Returns the Unix milliseconds of a date's local midnight; the date is an ordinal."""
    day = date.fromordinal(ordinal)
    return milliseconds(datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC))
