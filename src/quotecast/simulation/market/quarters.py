"""Fiscal quarters and the days of their earnings reports."""

from datetime import date, datetime, time, timedelta
from typing import Final, Literal

from msgspec import Struct

from quotecast.market.sessions import NEW_YORK, trading_days_from

Hour = Literal["bmo", "amc"]

#: New York times of reports: before the market opens (bmo) or after it closes (amc).
_TIMES: Final[dict[Hour, time]] = {"bmo": time(7), "amc": time(16, 30)}


class Quarter(Struct, frozen=True):
    """Quarter `number` (1 to 4) of fiscal year `year`, named after the calendar year in which it ends.

    `ordinal` numbers quarters consecutively for companies whose fiscal years end in the same month.
    """

    ordinal: int
    year: int
    number: int
    #: The quarter's last day.
    end: date

    @property
    def period(self) -> str:
        """Returns the quarter's last day as an ISO date."""
        return self.end.isoformat()


def quarter(ordinal: int, last_month: int) -> Quarter:
    """Returns the quarter of a company whose fiscal year ends with `last_month` (1 to 12)."""
    year, number = divmod(ordinal, 4)
    months = 3 * (ordinal - 3) + last_month
    after = date(months // 12, months % 12 + 1, 1)
    return Quarter(ordinal, year, number + 1, after - timedelta(days=1))


def ordinal_at(day: date, last_month: int) -> int:
    """Returns the ordinal of the quarter that contains a day."""
    months = day.year * 12 + day.month - last_month
    return -(-months // 3) + 3


def report_day(end: date, delay_days: int) -> date:
    """Returns the first trading day at least `delay_days` after the quarter's last day."""
    return next(trading_days_from(end + timedelta(days=delay_days))).date


def report_moment(day: date, hour: Hour) -> datetime:
    """Returns the publication time of a report on `day`."""
    return datetime.combine(day, _TIMES[hour], NEW_YORK)
