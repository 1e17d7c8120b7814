"""Records of an invented company: reported earnings, estimates and analysts' recommendations."""

from bisect import bisect
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from itertools import pairwise
from math import comb, exp
from typing import Final

from quotecast.market.financials import (
    Earnings,
    EarningsEvent,
    EarningsQuality,
    EpsEstimate,
    Estimates,
    QualityScore,
    Recommendation,
    RevenueEstimate,
)
from quotecast.simulation.market.companies import Company
from quotecast.simulation.market.reports import Report, is_out, ordinals_between, report, report_day_of

QUARTERS: Final = 8
MONTHS: Final = 6
#: Distance of the highest and the lowest estimate from the mean, per quarter ahead.
_EPS_SPREAD: Final = 0.03
_REVENUE_SPREAD: Final = 0.012
#: Minimum scores of the letters, worst first.
_GRADES: Final = (30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90)
_LETTERS: Final = ("F", "D", "D+", "C-", "C", "C+", "B-", "B", "B+", "A-", "A", "A+")


def earnings(company: Company, last: int) -> list[Earnings]:
    """Returns the last eight reported quarters, newest first."""
    found = []
    for number in range(QUARTERS):
        quarterly = report(company, last - number)
        surprise = round(quarterly.eps - quarterly.eps_estimate, 4)
        base = abs(quarterly.eps_estimate)
        record = Earnings(
            symbol=company.stock.ticker,
            period=quarterly.quarter.period,
            quarter=quarterly.quarter.number,
            year=quarterly.quarter.year,
            actual=quarterly.eps,
            estimate=quarterly.eps_estimate,
            surprise=surprise,
            surprise_percent=round(100 * surprise / base, 4) if base else None,
            currency="USD",
        )
        found.append(record)
    return found


def revenue_estimates(company: Company, last: int) -> Estimates[RevenueEstimate]:
    """Returns the revenue estimates of the next eight quarters, nearest last."""
    data = []
    for ahead, quarterly in _coming_reports(company, last):
        spread = quarterly.revenue_estimate * _REVENUE_SPREAD * ahead
        estimate = RevenueEstimate(
            period=quarterly.quarter.period,
            quarter=quarterly.quarter.number,
            year=quarterly.quarter.year,
            revenue_avg=quarterly.revenue_estimate,
            revenue_high=round(quarterly.revenue_estimate + spread),
            revenue_low=round(quarterly.revenue_estimate - spread),
            number_analysts=_analysts(company, ahead),
        )
        data.append(estimate)
    return Estimates(company.stock.ticker, "quarterly", data, "USD")


def eps_estimates(company: Company, last: int) -> Estimates[EpsEstimate]:
    """Returns the estimates of earnings per share of the next eight quarters, nearest last."""
    data = []
    for ahead, quarterly in _coming_reports(company, last):
        spread = abs(quarterly.eps_estimate) * _EPS_SPREAD * ahead
        estimate = EpsEstimate(
            period=quarterly.quarter.period,
            quarter=quarterly.quarter.number,
            year=quarterly.quarter.year,
            eps_avg=quarterly.eps_estimate,
            eps_high=round(quarterly.eps_estimate + spread, 4),
            eps_low=round(quarterly.eps_estimate - spread, 4),
            number_analysts=_analysts(company, ahead),
        )
        data.append(estimate)
    return Estimates(company.stock.ticker, "quarterly", data, "USD")


def recommendations(company: Company, today: date) -> list[Recommendation]:
    """Returns the recommendations of the current month and the preceding ones, newest first."""
    month = today.year * 12 + today.month - 1
    return [_recommendation(company, month - number) for number in range(MONTHS)]


def earnings_quality(company: Company, last: int) -> EarningsQuality:
    """Returns the scores of the last eight reported quarters, newest first."""
    data = [_quality_score(company, last - number) for number in range(QUARTERS)]
    return EarningsQuality(company.stock.ticker, "quarterly", data)


def events(company: Company, first: date, last: date, moment: datetime) -> Iterator[EarningsEvent]:
    """Yields the company's reports on the days from `first` to `last`, as known at an aware moment."""
    for ordinal in ordinals_between(company, first, last):
        day = report_day_of(company, ordinal)
        if not first <= day <= last:
            continue
        quarterly, is_reported = report(company, ordinal), is_out(company, ordinal, moment)
        yield EarningsEvent(
            symbol=company.stock.ticker,
            date=day.isoformat(),
            hour=company.hour,
            year=quarterly.quarter.year,
            quarter=quarterly.quarter.number,
            eps_estimate=quarterly.eps_estimate,
            eps_actual=quarterly.eps if is_reported else None,
            revenue_estimate=quarterly.revenue_estimate,
            revenue_actual=quarterly.revenue if is_reported else None,
        )


def calendar(companies: Iterable[Company], first: date, last: date, moment: datetime) -> list[EarningsEvent]:
    """Returns the reports of companies on the days from `first` to `last`, by day and symbol."""
    found = (event for company in companies for event in events(company, first, last, moment))
    return sorted(found, key=lambda event: (event.date, event.symbol))


def _coming_reports(company: Company, last: int) -> list[tuple[int, Report]]:
    return [(ahead, report(company, last + ahead)) for ahead in range(QUARTERS, 0, -1)]


def _analysts(company: Company, ahead: int) -> int:
    """Returns the number of analysts, which falls with the distance of the quarter."""
    return max(1, round(company.analysts * (1 - 0.1 * (ahead - 1))))


def _recommendation(company: Company, month: int) -> Recommendation:
    """Returns a month's recommendation.

    Analysts are distributed over the five ratings by a binomial distribution of four trials, whose success
    probability follows the company's sentiment.
    """
    lean = 1 / (1 + exp(-0.4 - 0.12 * company.mood(month)))
    below = [
        sum(comb(4, heads) * lean**heads * (1 - lean) ** (4 - heads) for heads in range(n)) for n in range(6)
    ]
    edges = [round(company.analysts * part) for part in below]
    sell_most, sell, hold, buy, buy_most = (after - before for before, after in pairwise(edges))
    return Recommendation(
        symbol=company.stock.ticker,
        period=date(month // 12, month % 12 + 1, 1).isoformat(),
        strong_buy=buy_most,
        buy=buy,
        hold=hold,
        sell=sell,
        strong_sell=sell_most,
    )


def _quality_score(company: Company, ordinal: int) -> QualityScore:
    quarterly, before = report(company, ordinal), report(company, ordinal - 4)
    scores = (
        _clamp_score(50 + 250 * (quarterly.revenue / before.revenue - 1)),
        _clamp_score(35 + 200 * quarterly.net_income / quarterly.revenue),
        _clamp_score(30 + 25 * company.current_ratio),
        _clamp_score(100 - 45 * company.leverage),
    )
    score = round(sum(scores) / len(scores), 4)
    growth, profitability, cash, leverage = scores
    return QualityScore(
        period=quarterly.quarter.period,
        growth=growth,
        profitability=profitability,
        cash_generation_capital_allocation=cash,
        leverage=leverage,
        score=score,
        letter_score=_LETTERS[bisect(_GRADES, score)],
    )


def _clamp_score(score: float) -> float:
    return round(min(100.0, max(0.0, score)), 4)
