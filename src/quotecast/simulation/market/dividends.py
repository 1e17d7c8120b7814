"""Cash dividends of invented companies: a share of the year's earnings, each quarter."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Final

from msgspec import Struct

from quotecast.market.sessions import trading_days_from
from quotecast.simulation.market.companies import Company
from quotecast.simulation.market.reports import is_out, ordinals_between, report, report_day_of, sum_reports

#: Days from a report, which declares the dividend, to the ex-day; and from that to the payment.
_EX_AFTER: Final = timedelta(days=10)
_PAID_AFTER: Final = timedelta(days=21)


class Dividend(Struct, frozen=True):
    """A dividend of one share, in US dollars; holders on `ex_day` and later do not get it."""

    ex_day: date
    payable_day: date
    amount: float


def dividends(company: Company, first: date, last: date, moment: datetime) -> Iterator[Dividend]:
    """Yields the dividends with ex-days from `first` to `last` that are declared at an aware moment."""
    if not company.payout:
        return
    for ordinal in ordinals_between(company, first, last):
        ex_day = next(trading_days_from(report_day_of(company, ordinal) + _EX_AFTER)).date
        if not first <= ex_day <= last or not is_out(company, ordinal, moment):
            continue
        year = sum_reports(report(company, ordinal - number) for number in range(4))
        amount = round(company.payout * max(0.0, year.eps) / 4, 2)
        if amount > 0:
            yield Dividend(ex_day, next(trading_days_from(ex_day + _PAID_AFTER)).date, amount)
