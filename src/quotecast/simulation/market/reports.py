"""Fiscal quarters of invented companies, their reports and estimates: a function of company and quarter."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from math import cos, exp, pi
from typing import Final

from msgspec import Struct

from quotecast.market.sessions import NEW_YORK, trading_days_from
from quotecast.simulation.market.companies import Company, Hour
from quotecast.simulation.market.noise import fractions, noise

#: Bounds of the exchange's calendar, which determines the days of reports.
FIRST_DAY: Final = date(1995, 1, 1)
LAST_DAY: Final = date(2099, 12, 31)

_SURPRISE_KIND: Final = 2
_DAY_KIND: Final = 3
#: New York times of reports.
_TIMES: Final[dict[Hour, time]] = {"bmo": time(7), "amc": time(16, 30)}
#: Scale of the revenue and margin paths; a path moves by about 1.4 a year.
_SALES_MOVE: Final = 0.035
_SKILL_MOVE: Final = 0.02
_TAX: Final = 0.21
#: Interest expense as a share of revenue.
_INTEREST: Final = 0.01
#: Maximum days of a report beyond the company's usual delay.
_LATEST_DAYS: Final = 5
#: Maximum quarters between a quarter and its report, or the dividend that the report declares.
_QUARTERS_LATE: Final = 2


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


class Report(Struct, frozen=True):
    """One fiscal quarter's figures in US dollars; earnings per share are rounded to cents.

    `net_income` is exactly `eps` times the shares outstanding. The estimates are analysts' expectations
    before the report.
    """

    quarter: Quarter
    revenue: int
    gross_profit: float
    operating_income: float
    net_income: float
    eps: float
    eps_estimate: float
    revenue_estimate: int
    assets: float
    equity: float
    debt: float


class Totals(Struct, frozen=True):
    """Totals of several quarters, in US dollars."""

    revenue: int
    gross_profit: float
    operating_income: float
    net_income: float
    eps: float


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


def ordinals_between(company: Company, first: date, last: date) -> range:
    """Returns the ordinals of all quarters whose report or dividend may come between two days."""
    month = company.last_month
    return range(ordinal_at(first, month) - _QUARTERS_LATE, ordinal_at(last, month))


def report(company: Company, ordinal: int) -> Report:
    """Returns a quarter's figures, whether or not the quarter is over."""
    fiscal = quarter(ordinal, company.last_month)
    level = exp(_SALES_MOVE * company.sales(ordinal))
    # Averages 1 over a year.
    season = 1 + company.season * cos((fiscal.number - company.peak) * pi / 2)
    revenue = round(company.revenue * level * season)
    shares = company.stock.shares
    eps = round(company.margin * exp(_SKILL_MOVE * company.skill(ordinal)) * revenue / shares, 2)
    profit = eps * shares
    operating_income = (profit / (1 - _TAX) if profit > 0 else profit) + _INTEREST * revenue
    assets = company.revenue * company.assets * level
    beat_by, sold_more_by = fractions(noise(company.key, ordinal, _SURPRISE_KIND, 4))
    return Report(
        quarter=fiscal,
        revenue=revenue,
        gross_profit=min(operating_income + company.overhead * revenue, 0.97 * revenue),
        operating_income=operating_income,
        net_income=profit,
        eps=eps,
        # Companies beat estimates more often than they miss them.
        eps_estimate=round(eps - (beat_by - 0.35) * 0.12 * abs(eps), 4),
        revenue_estimate=round(revenue * (1 - (sold_more_by - 0.4) * 0.04)),
        assets=assets,
        equity=assets * company.equity,
        debt=assets * company.equity * company.leverage,
    )


def sum_reports(reports: Iterable[Report]) -> Totals:
    """Returns the totals of several quarters, such as a year."""
    parts = list(reports)
    return Totals(
        sum(part.revenue for part in parts),
        sum(part.gross_profit for part in parts),
        sum(part.operating_income for part in parts),
        sum(part.net_income for part in parts),
        round(sum(part.eps for part in parts), 2),
    )


def report_day_of(company: Company, ordinal: int) -> date:
    """Returns the trading day of a quarter's report, which lies before the end of the next quarter."""
    (late,) = fractions(noise(company.key, ordinal, _DAY_KIND, 2))
    delay = company.delay_days + int(late * _LATEST_DAYS)
    end = quarter(ordinal, company.last_month).end
    return next(trading_days_from(end + timedelta(days=delay))).date


def is_out(company: Company, ordinal: int, moment: datetime) -> bool:
    """Returns whether a quarter's report is published by an aware moment."""
    day = report_day_of(company, ordinal)
    return datetime.combine(day, _TIMES[company.hour], NEW_YORK) <= moment


def last_reported_quarter(company: Company, moment: datetime) -> int:
    """Returns the ordinal of the latest quarter reported by an aware moment."""
    ordinal = ordinal_at(moment.astimezone(NEW_YORK).date(), company.last_month) - 1
    return ordinal if is_out(company, ordinal, moment) else ordinal - 1
