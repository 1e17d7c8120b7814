"""The special days of scenarios, as the service learns of a deviation from the exchange's calendar."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Final

from quotecast.market.calendars import EXCHANGE, VenueDay, is_open
from quotecast.market.sessions import NEW_YORK, Unscheduled
from quotecast.simulation.market.scenarios.base import SpecialDay
from quotecast.simulation.market.special_days import SpecialDays

_DAY: Final = timedelta(days=1)


class SpecialExchange:
    """The New York exchange with special days."""

    def __init__(self, days: Sequence[SpecialDay]) -> None:
        self._dates = sorted(day.date for day in days)
        self._calendar = SpecialDays(EXCHANGE, days)

    def unscheduled_at(self, moment: datetime) -> Unscheduled | None:
        """Returns the next special day, else the last one, as known at an aware moment; None without any."""
        if not self._dates:
            return None
        today = moment.astimezone(NEW_YORK).date()
        special = next((each for each in self._dates if each >= today), self._dates[-1])
        own = next(self._days_from(special))
        is_trading_day = own.date == special
        days = list(islice(self._days_from(today), 2))
        return Unscheduled(
            date=special,
            open=own.open if is_trading_day else None,
            close=own.close if is_trading_day else None,
            is_open=is_open(self._calendar, moment),
            next_open=next(day.open for day in days if day.open > moment),
            next_close=next(day.close for day in days if day.close > moment),
        )

    def _days_from(self, first: date) -> Iterator[VenueDay]:
        while True:
            day = self._calendar.first_from(first)
            yield day
            first = day.date + _DAY
