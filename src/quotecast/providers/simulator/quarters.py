"""Fiscal quarters, and the days on which they are reported."""

from datetime import date, datetime, time, timedelta
from typing import Final, Literal

from msgspec import Struct

from quotecast.market.sessions import NEW_YORK, trading_days_from

Hour = Literal["bmo", "amc"]

#: When reports come out, in New York: before the market opens, or after it has closed.
_TIMES: Final[dict[Hour, time]] = {"bmo": time(7), "amc": time(16, 30)}


class Quarter(Struct, frozen=True):
    """A fiscal quarter: the `number`-th of fiscal year `year`, which is the year in which that ends.

    Ordinals count quarters of companies whose years end in the same month without a gap.
    """

    ordinal: int
    year: int
    number: int
    #: Its last day.
    end: date

    @property
    def period(self) -> str:
        """The last day, as records tell it."""
        return self.end.isoformat()


def quarter(ordinal: int, last_month: int) -> Quarter:
    """A quarter of a company whose fiscal years end with this month (1 to 12)."""
    year, number = divmod(ordinal, 4)
    months = 3 * (ordinal - 3) + last_month
    after = date(months // 12, months % 12 + 1, 1)
    return Quarter(ordinal, year, number + 1, after - timedelta(days=1))


def ordinal_at(day: date, last_month: int) -> int:
    """The quarter that a day falls into."""
    months = day.year * 12 + day.month - last_month
    return -(-months // 3) + 3


def report_day(end: date, delay_days: int) -> date:
    """The first trading day that is at least so many days after the quarter's last."""
    return next(trading_days_from(end + timedelta(days=delay_days))).date


def report_moment(day: date, hour: Hour) -> datetime:
    """When a report of the day is out."""
    return datetime.combine(day, _TIMES[hour], NEW_YORK)
