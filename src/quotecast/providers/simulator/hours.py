"""When the simulated venues trade."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from quotecast.market.calendars import AroundTheClock, Exchange

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class Window(Struct, frozen=True, gc=False):
    """One trading day: its date as an ordinal, local midnight, and open and close in Unix milliseconds."""

    ordinal: int
    midnight: int
    start: int
    end: int


class Hours:
    """A venue's trading days, from its calendar; `zone` is that of the calendar's dates."""

    def __init__(self, calendar: AroundTheClock | Exchange, zone: ZoneInfo) -> None:
        self.zone = zone
        #: Whether each trading day opens where the one before closed.
        self.continuous = isinstance(calendar, AroundTheClock)
        self._calendar = calendar

    def latest(self, moment: int) -> Window:
        """Returns the trading day that began last."""
        today = local_ordinal(moment, self.zone)
        return next(window for window in self._back_from(today) if window.start <= moment)

    def before(self, window: Window) -> Window:
        """Returns the trading day before."""
        return next(self._back_from(window.ordinal - 1))

    def between(self, first: int, last: int) -> Iterator[Window]:
        """Yields the trading days of these dates (ordinals, both included), ascending."""
        windows = (_window(self._calendar, self.zone, ordinal) for ordinal in range(first, last + 1))
        return (window for window in windows if window)

    def _back_from(self, ordinal: int) -> Iterator[Window]:
        windows = (_window(self._calendar, self.zone, each) for each in range(ordinal, 0, -1))
        return (window for window in windows if window)


@lru_cache(maxsize=32_768)
def _window(calendar: AroundTheClock | Exchange, zone: ZoneInfo, ordinal: int) -> Window | None:
    """Returns the trading day of a date; None for a date without one."""
    day = calendar.first_from(date.fromordinal(ordinal))
    if day.date.toordinal() != ordinal:
        return None
    return Window(ordinal, midnight(ordinal, zone), milliseconds(day.open), milliseconds(day.close))


def milliseconds(moment: datetime) -> int:
    """Whole Unix milliseconds that have passed at an aware moment."""
    return (moment - _EPOCH) // _MILLISECOND


def local_ordinal(moment: int, zone: ZoneInfo) -> int:
    """The date, as an ordinal, that a moment in Unix milliseconds falls on."""
    return datetime.fromtimestamp(moment / 1000, zone).toordinal()


@lru_cache(maxsize=32_768)
def midnight(ordinal: int, zone: ZoneInfo) -> int:
    """Unix milliseconds of the beginning of a date, given as an ordinal."""
    day = date.fromordinal(ordinal)
    return milliseconds(datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC))
