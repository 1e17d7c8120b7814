"""A stock's trading statistics over the last year, from its tape."""

from datetime import date, timedelta
from typing import Final

from msgspec import Struct

from quotecast.simulation.market.hours import new_york_date
from quotecast.simulation.market.tape import Tape

DAY: Final = 86_400_000
YEAR_DAYS: Final = 364
#: Days read, a little over a year, so that the close before the year is included.
_READ_DAYS: Final = 375


class DailyPrices(Struct, frozen=True):
    """One trading day: prices in US dollars, volume in shares."""

    date: date
    high: float
    low: float
    close: float
    volume: int


class TradingYear(Struct, frozen=True):
    """The trading days up to a moment, ascending; the last one may be in progress."""

    today: date
    days: list[DailyPrices]

    @property
    def price(self) -> float:
        """Returns the last price in US dollars."""
        return self.days[-1].close

    def highest_day(self) -> DailyPrices:
        """Returns the day of the 52-week high."""
        return max(self._last_52_weeks(), key=lambda day: day.high)

    def lowest_day(self) -> DailyPrices:
        """Returns the day of the 52-week low."""
        return min(self._last_52_weeks(), key=lambda day: day.low)

    def percent_change_since(self, day: date) -> float | None:
        """Returns the change since a date's close, or the last close before it, in percent.

        Returns None for a stock that was first listed after that date.
        """
        before = next((each.close for each in reversed(self.days) if each.date <= day), None)
        return None if before is None else round((self.price / before - 1) * 100, 4)

    def percent_change_over(self, days: int) -> float | None:
        """Returns the change over the last `days` trading days; None for a newer stock."""
        return self.percent_change_since(self.days[-days - 1].date) if len(self.days) > days else None

    def average_volume(self, days: int) -> float | None:
        """Returns the average daily volume of the last `days` complete days, in millions of shares.

        Returns None on a stock's first day.
        """
        counted = self.days[-days - 1 : -1]
        if not counted:
            return None
        return round(sum(day.volume for day in counted) / len(counted) / 1_000_000, 5)

    def _last_52_weeks(self) -> list[DailyPrices]:
        first = self.today - timedelta(days=YEAR_DAYS)
        return [day for day in self.days if day.date >= first]


def trading_year(tape: Tape, moment: int) -> TradingYear:
    """Returns the year that ends at a moment in Unix milliseconds."""
    scale = tape.listing.scale
    days = [
        DailyPrices(
            date.fromordinal(window.ordinal),
            candle.high / scale,
            candle.low / scale,
            candle.close / scale,
            candle.volume,
        )
        for window, candle in tape.days(moment - _READ_DAYS * DAY, moment)
    ]
    return TradingYear(new_york_date(moment), days)
