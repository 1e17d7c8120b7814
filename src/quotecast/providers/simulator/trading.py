"""How a stock has traded over the last year, read off its tape."""

from datetime import date, timedelta
from typing import Final

from msgspec import Struct

from quotecast.market.sessions import NEW_YORK
from quotecast.providers.simulator.hours import local_ordinal
from quotecast.providers.simulator.tape import Tape

DAY: Final = 86_400_000
YEAR_DAYS: Final = 364
#: A little more than a year, so that the close before it is there too.
_READ_DAYS: Final = 375


class DailyPrices(Struct, frozen=True):
    """One trading day, in dollars and shares."""

    date: date
    high: float
    low: float
    close: float
    volume: int


class TradingYear(Struct, frozen=True):
    """The trading days until a moment, ascending; the last one as it stands."""

    today: date
    days: list[DailyPrices]

    @property
    def price(self) -> float:
        """The last one."""
        return self.days[-1].close

    def highest_day(self) -> DailyPrices:
        """The day of the highest price in 52 weeks."""
        return max(self._last_52_weeks(), key=lambda day: day.high)

    def lowest_day(self) -> DailyPrices:
        """The day of the lowest price in 52 weeks."""
        return min(self._last_52_weeks(), key=lambda day: day.low)

    def percent_change_since(self, day: date) -> float:
        """By how much the price has risen since a day's close, or the last close before: in percent."""
        before = next(each.close for each in reversed(self.days) if each.date <= day)
        return round((self.price / before - 1) * 100, 4)

    def average_volume(self, days: int) -> float:
        """Millions of shares traded on an average of the last so many days that are over."""
        counted = self.days[-days - 1 : -1]
        return round(sum(day.volume for day in counted) / len(counted) / 1_000_000, 5)

    def _last_52_weeks(self) -> list[DailyPrices]:
        first = self.today - timedelta(days=YEAR_DAYS)
        return [day for day in self.days if day.date >= first]


def trading_year(tape: Tape, moment: int) -> TradingYear:
    """The year that ends at a moment, in Unix milliseconds."""
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
    return TradingYear(date.fromordinal(local_ordinal(moment, NEW_YORK)), days)
