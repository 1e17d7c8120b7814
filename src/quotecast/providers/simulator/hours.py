"""When the simulated venues trade."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from msgspec import Struct

from quotecast.market.sessions import (
    NEW_YORK,
    TradingDay,
    trading_days_between,
    trading_days_until,
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class TradingWindow(Struct, frozen=True, gc=False):
    """One trading day: its date as an ordinal, local midnight, and open and close in Unix milliseconds."""

    ordinal: int
    midnight: int
    start: int
    end: int


class Hours(Protocol):
    """A venue's trading days."""

    zone: ZoneInfo
    #: Whether each trading day opens where the one before closed.
    continuous: bool

    def latest(self, moment: int) -> TradingWindow:
        """The trading day that has begun last."""
        ...

    def before(self, window: TradingWindow) -> TradingWindow:
        """The trading day before."""
        ...

    def between(self, first: int, last: int) -> Iterator[TradingWindow]:
        """The trading days of these dates (ordinals, both included), ascending."""
        ...


class ContinuousHours:
    """A venue that never closes; a trading day is a calendar day of its time zone."""

    continuous = True

    def __init__(self, zone: ZoneInfo) -> None:
        self.zone = zone

    def latest(self, moment: int) -> TradingWindow:
        """The calendar day of the moment."""
        return self._window(local_ordinal(moment, self.zone))

    def before(self, window: TradingWindow) -> TradingWindow:
        """The calendar day before."""
        return self._window(window.ordinal - 1)

    def between(self, first: int, last: int) -> Iterator[TradingWindow]:
        """Every day, weekends and holidays too."""
        return map(self._window, range(first, last + 1))

    def _window(self, ordinal: int) -> TradingWindow:
        start = midnight_of(ordinal, self.zone)
        return TradingWindow(ordinal, start, start, midnight_of(ordinal + 1, self.zone))


class ExchangeHours:
    """The regular sessions of the New York Stock Exchange, half days and holidays included."""

    continuous = False
    zone = NEW_YORK

    def latest(self, moment: int) -> TradingWindow:
        """The session that is running, or else the last one."""
        today = date.fromordinal(local_ordinal(moment, self.zone))
        windows = map(self._window, trading_days_until(today))
        return next(window for window in windows if window.start <= moment)

    def before(self, window: TradingWindow) -> TradingWindow:
        """The session before."""
        day_before = date.fromordinal(window.ordinal - 1)
        return self._window(next(trading_days_until(day_before)))

    def between(self, first: int, last: int) -> Iterator[TradingWindow]:
        """The sessions of these dates."""
        return map(self._window, trading_days_between(date.fromordinal(first), date.fromordinal(last)))

    def _window(self, day: TradingDay) -> TradingWindow:
        ordinal = day.date.toordinal()
        return TradingWindow(
            ordinal, midnight_of(ordinal, self.zone), milliseconds(day.open), milliseconds(day.close)
        )


def milliseconds(moment: datetime) -> int:
    """Whole Unix milliseconds that have passed at an aware moment."""
    return (moment - _EPOCH) // _MILLISECOND


def local_ordinal(moment: int, zone: ZoneInfo) -> int:
    """The date, as an ordinal, that a moment in Unix milliseconds falls on."""
    return datetime.fromtimestamp(moment / 1000, zone).toordinal()


@lru_cache(maxsize=32_768)
def midnight_of(ordinal: int, zone: ZoneInfo) -> int:
    """Unix milliseconds of the beginning of a date, given as an ordinal."""
    day = date.fromordinal(ordinal)
    return milliseconds(datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC))
