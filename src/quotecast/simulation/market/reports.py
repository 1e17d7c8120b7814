"""Quarterly reports of invented companies and their estimates: a pure function of company and quarter."""

from collections.abc import Iterable
from datetime import date, datetime
from math import cos, exp, pi
from typing import Final

from msgspec import Struct

from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.companies import Company
from quotecast.simulation.market.noise import fractions, noise
from quotecast.simulation.market.quarters import Quarter, ordinal_at, quarter, report_day, report_moment

_SURPRISE_KIND: Final = 2
_DAY_KIND: Final = 3
#: Scale of the revenue and margin paths; a path moves by about 1.4 a year.
_SALES_MOVE: Final = 0.035
_SKILL_MOVE: Final = 0.02
_TAX: Final = 0.21
#: Interest expense as a share of revenue.
_INTEREST: Final = 0.01
#: Maximum days of a report beyond the company's usual delay.
_LATEST_DAYS: Final = 5


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


def report(company: Company, ordinal: int) -> Report:
    """Returns a quarter's figures, whether or not the quarter is over."""
    fiscal = quarter(ordinal, company.last_month)
    level = exp(_SALES_MOVE * company.sales(ordinal))
    revenue = round(company.revenue * level * _season(company, fiscal.number))
    shares = company.stock.shares
    eps = round(company.margin * exp(_SKILL_MOVE * company.skill(ordinal)) * revenue / shares, 2)
    operating_income = _before_tax(eps * shares) + _INTEREST * revenue
    assets = company.revenue * company.assets * level
    beat_by, sold_more_by = fractions(noise(company.key, ordinal, _SURPRISE_KIND, 4))
    return Report(
        quarter=fiscal,
        revenue=revenue,
        gross_profit=min(operating_income + company.overhead * revenue, 0.97 * revenue),
        operating_income=operating_income,
        net_income=eps * shares,
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
    end = quarter(ordinal, company.last_month).end
    return report_day(end, company.delay_days + int(late * _LATEST_DAYS))


def is_out(company: Company, ordinal: int, moment: datetime) -> bool:
    """Returns whether a quarter's report is published by an aware moment."""
    return report_moment(report_day_of(company, ordinal), company.hour) <= moment


def last_reported_quarter(company: Company, moment: datetime) -> int:
    """Returns the ordinal of the latest quarter reported by an aware moment."""
    ordinal = ordinal_at(moment.astimezone(NEW_YORK).date(), company.last_month) - 1
    return ordinal if is_out(company, ordinal, moment) else ordinal - 1


def _season(company: Company, number: int) -> float:
    """Returns the seasonal factor of a fiscal quarter; it averages 1 over a year."""
    return 1 + company.season * cos((number - company.peak) * pi / 2)


def _before_tax(profit: float) -> float:
    return profit / (1 - _TAX) if profit > 0 else profit
