"""The exchange's calendar with the special days of scenarios."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Final

from msgspec.structs import replace

from quotecast.market.calendars import EXCHANGE, Calendar, VenueDay, is_open
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK, Unscheduled
from quotecast.simulation.market.scenarios.base import SpecialDay
from quotecast.simulation.market.venues import calendar_of

_DAY: Final = timedelta(days=1)


class SpecialDays:
    """A calendar with days on which the exchange stays closed or closes early."""

    def __init__(self, calendar: Calendar, days: Iterable[SpecialDay]) -> None:
        self._calendar = calendar
        self._days = {day.date: day for day in days}

    def until(self, moment: datetime) -> Iterator[VenueDay]:
        """See Calendar."""
        return (own for day in self._calendar.until(moment) if (own := self._changed(day)))

    def first_from(self, day: date) -> VenueDay:
        """See Calendar."""
        return next(own for each in days_from(self._calendar, day) if (own := self._changed(each)))

    def _changed(self, day: VenueDay) -> VenueDay | None:
        special = self._days.get(day.date)
        if special is None:
            return day
        if special.close_minutes is None:
            return None
        close = min(day.close, day.midnight + timedelta(minutes=special.close_minutes))
        return replace(day, close=close) if close > day.open else None


@lru_cache(maxsize=32)
def exchange_days(special: tuple[SpecialDay, ...], *, always_open: bool) -> Calendar:
    """Returns the stock exchange's calendar with special days: one object for the same days."""
    regular = calendar_of(Feed.STOCKS, always_open=always_open)
    return SpecialDays(regular, special) if special else regular


class SpecialExchange:
    """The New York exchange with special days, as the service learns of a deviation from its calendar."""

    def __init__(self, days: Sequence[SpecialDay]) -> None:
        self._dates = sorted(day.date for day in days)
        self._calendar = SpecialDays(EXCHANGE, days)

    def unscheduled_at(self, moment: datetime) -> Unscheduled | None:
        """Returns the next special day, else the last one, as known at an aware moment; None without any."""
        if not self._dates:
            return None
        today = moment.astimezone(NEW_YORK).date()
        special = next((each for each in self._dates if each >= today), self._dates[-1])
        own = self._calendar.first_from(special)
        is_trading_day = own.date == special
        days = list(islice(days_from(self._calendar, today), 2))
        return Unscheduled(
            date=special,
            open=own.open if is_trading_day else None,
            close=own.close if is_trading_day else None,
            is_open=is_open(self._calendar, moment),
            next_open=next(day.open for day in days if day.open > moment),
            next_close=next(day.close for day in days if day.close > moment),
        )


def days_from(calendar: Calendar, first: date) -> Iterator[VenueDay]:
    """Yields the trading days from a date on, without end."""
    while True:
        day = calendar.first_from(first)
        yield day
        first = day.date + _DAY
