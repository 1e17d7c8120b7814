"""Trading hours of the simulated venues."""

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
    """One trading day: date as an ordinal; local midnight, open and close in Unix milliseconds."""

    ordinal: int
    midnight: int
    start: int
    end: int


class Hours(Protocol):
    """The trading days of a venue."""

    zone: ZoneInfo
    #: Whether each trading day opens at the moment the previous one closes.
    continuous: bool

    def latest(self, moment: int) -> TradingWindow:
        """Returns the latest trading day that has begun."""
        ...

    def before(self, window: TradingWindow) -> TradingWindow:
        """Returns the preceding trading day."""
        ...

    def between(self, first: int, last: int) -> Iterator[TradingWindow]:
        """Returns the trading days of these dates (ordinals, both inclusive), ascending."""
        ...


class ContinuousHours:
    """A venue that never closes; a trading day is a calendar day of its time zone."""

    continuous = True

    def __init__(self, zone: ZoneInfo) -> None:
        self.zone = zone

    def latest(self, moment: int) -> TradingWindow:
        """Returns the calendar day of the moment."""
        return self._window(local_ordinal(moment, self.zone))

    def before(self, window: TradingWindow) -> TradingWindow:
        """Returns the preceding calendar day."""
        return self._window(window.ordinal - 1)

    def between(self, first: int, last: int) -> Iterator[TradingWindow]:
        """Returns every day, weekends and holidays included."""
        return map(self._window, range(first, last + 1))

    def _window(self, ordinal: int) -> TradingWindow:
        start = midnight_of(ordinal, self.zone)
        return TradingWindow(ordinal, start, start, midnight_of(ordinal + 1, self.zone))


class ExchangeHours:
    """The regular sessions of the New York Stock Exchange, with half days and holidays."""

    continuous = False
    zone = NEW_YORK

    def latest(self, moment: int) -> TradingWindow:
        """Returns the session in progress, or the latest one."""
        today = date.fromordinal(local_ordinal(moment, self.zone))
        windows = map(self._window, trading_days_until(today))
        return next(window for window in windows if window.start <= moment)

    def before(self, window: TradingWindow) -> TradingWindow:
        """Returns the preceding session."""
        day_before = date.fromordinal(window.ordinal - 1)
        return self._window(next(trading_days_until(day_before)))

    def between(self, first: int, last: int) -> Iterator[TradingWindow]:
        """Returns the sessions of these dates."""
        return map(self._window, trading_days_between(date.fromordinal(first), date.fromordinal(last)))

    def _window(self, day: TradingDay) -> TradingWindow:
        ordinal = day.date.toordinal()
        return TradingWindow(
            ordinal, midnight_of(ordinal, self.zone), milliseconds(day.open), milliseconds(day.close)
        )


def milliseconds(moment: datetime) -> int:
    """Returns the Unix milliseconds of an aware moment, rounded down."""
    return (moment - _EPOCH) // _MILLISECOND


def local_ordinal(moment: int, zone: ZoneInfo) -> int:
    """Returns the local date of a moment in Unix milliseconds, as an ordinal."""
    return datetime.fromtimestamp(moment / 1000, zone).toordinal()


@lru_cache(maxsize=32_768)
def midnight_of(ordinal: int, zone: ZoneInfo) -> int:
    """Returns the Unix milliseconds of a date's local midnight; the date is an ordinal."""
    day = date.fromordinal(ordinal)
    return milliseconds(datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC))
