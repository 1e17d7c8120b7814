"""Financial ratios from a company's reports and its stock's trading.

Names and units follow Finnhub: amounts in millions of US dollars, shares in millions; margins, growth and
yields in percent. The figures agree with each other, with the reports and with the price.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from math import pow as power
from typing import Final

from quotecast.market.financials import Metrics, Series, SeriesPoint
from quotecast.simulation.market.companies import Company
from quotecast.simulation.market.reports import Report, Totals, report, sum_reports
from quotecast.simulation.market.trading import TradingYear

MILLION: Final = 1_000_000

_QUARTERS_SHOWN: Final = 12
_YEARS_SHOWN: Final = 6
#: Daily volatility of an average stock, whose beta is 1.
_USUAL_MOVE: Final = 0.019

Figures = Mapping[str, float | str | None]


def metrics(company: Company, last: int, volatility: float, year: TradingYear) -> Metrics:
    """Returns all figures; `last` is the ordinal of the latest reported quarter."""
    ends = [last - (last + 1) % 4 - 4 * number for number in range(_YEARS_SHOWN)]
    past = {number: report(company, number) for number in range(ends[-1] - 3, last + 1)}
    newest = [past[number] for number in range(last, last - _QUARTERS_SHOWN, -1)]
    ttm, annual = _year_to(past, last), _year_to(past, ends[0])
    shares = company.stock.shares
    figures = {
        **_trading(volatility, year),
        **_valuation(company, year.price, ttm, annual, newest[0]),
        **_income("TTM", ttm, shares),
        **_income("Annual", annual, shares),
        **_balance(company, newest[0], past[ends[0]], ttm),
        **_growth(past, last),
    }
    series = Series(
        annual=_series([(past[end], _year_to(past, end)) for end in ends], shares),
        quarterly=_series([(each, sum_reports([each])) for each in newest], shares),
    )
    return Metrics(company.stock.ticker, "all", figures, series, "USD")


def _trading(volatility: float, year: TradingYear) -> Figures:
    today, top, bottom = year.today, year.highest_day(), year.lowest_day()
    last_month = today.replace(day=1) - timedelta(days=1)
    return {
        "52WeekHigh": top.high,
        "52WeekHighDate": top.date.isoformat(),
        "52WeekLow": bottom.low,
        "52WeekLowDate": bottom.date.isoformat(),
        "5DayPriceReturnDaily": year.percent_change_over(5),
        "13WeekPriceReturnDaily": year.percent_change_since(today - timedelta(weeks=13)),
        "26WeekPriceReturnDaily": year.percent_change_since(today - timedelta(weeks=26)),
        "52WeekPriceReturnDaily": year.percent_change_since(today - timedelta(weeks=52)),
        "monthToDatePriceReturnDaily": year.percent_change_since(last_month),
        "yearToDatePriceReturnDaily": year.percent_change_since(last_month.replace(today.year - 1, 12, 31)),
        "10DayAverageTradingVolume": year.average_volume(10),
        "3MonthAverageTradingVolume": year.average_volume(63),
        "beta": round(volatility / _USUAL_MOVE, 4),
    }


def _valuation(company: Company, price: float, ttm: Totals, annual: Totals, last: Report) -> Figures:
    shares = company.stock.shares
    capital = price * shares
    dividend = 4 * round(company.payout * max(0.0, annual.eps) / 4, 2)
    return {
        "marketCapitalization": round(capital / MILLION, 5),
        "enterpriseValue": round((capital + last.debt) / MILLION, 5),
        "peTTM": _ratio(price, ttm.eps),
        "peAnnual": _ratio(price, annual.eps),
        "psTTM": _ratio(capital, ttm.revenue),
        "psAnnual": _ratio(capital, annual.revenue),
        "pbQuarterly": _ratio(capital, last.equity),
        "dividendPerShareAnnual": round(dividend, 4),
        "dividendYieldIndicatedAnnual": _ratio(100 * dividend, price),
        "payoutRatioAnnual": _ratio(100 * dividend, annual.eps),
    }


def _income(span: str, totals: Totals, shares: int) -> Figures:
    return {
        f"eps{span}": totals.eps,
        f"revenuePerShare{span}": _ratio(totals.revenue, shares),
        f"grossMargin{span}": _ratio(100 * totals.gross_profit, totals.revenue),
        f"operatingMargin{span}": _ratio(100 * totals.operating_income, totals.revenue),
        f"netProfitMargin{span}": _ratio(100 * totals.net_income, totals.revenue),
    }


def _balance(company: Company, last: Report, year_end: Report, ttm: Totals) -> Figures:
    return {
        "bookValuePerShareQuarterly": _ratio(last.equity, company.stock.shares),
        "bookValuePerShareAnnual": _ratio(year_end.equity, company.stock.shares),
        "roeTTM": _ratio(100 * ttm.net_income, last.equity),
        "roaTTM": _ratio(100 * ttm.net_income, last.assets),
        "totalDebt/totalEquityQuarterly": _ratio(last.debt, last.equity),
        "longTermDebt/equityQuarterly": _ratio(0.85 * last.debt, last.equity),
        "currentRatioQuarterly": round(company.current_ratio, 4),
        "quickRatioQuarterly": round(0.75 * company.current_ratio, 4),
    }


def _growth(past: Mapping[int, Report], last: int) -> Figures:
    now, before = _year_to(past, last), _year_to(past, last - 4)
    return {
        "revenueGrowthQuarterlyYoy": _growth_percent(past[last].revenue, past[last - 4].revenue),
        "epsGrowthQuarterlyYoy": _growth_percent(past[last].eps, past[last - 4].eps),
        "revenueGrowthTTMYoy": _growth_percent(now.revenue, before.revenue),
        "epsGrowthTTMYoy": _growth_percent(now.eps, before.eps),
        "revenueGrowth3Y": _growth_percent(now.revenue, _year_to(past, last - 12).revenue, years=3),
        "revenueGrowth5Y": _growth_percent(now.revenue, _year_to(past, last - 20).revenue, years=5),
        "epsGrowth3Y": _growth_percent(now.eps, _year_to(past, last - 12).eps, years=3),
        "epsGrowth5Y": _growth_percent(now.eps, _year_to(past, last - 20).eps, years=5),
    }


def _series(periods: Sequence[tuple[Report, Totals]], shares: int) -> Mapping[str, list[SeriesPoint]]:
    """Returns each figure's history by name, newest first; margins are fractions here, not percent."""
    return {
        "eps": _points((last, sums.eps) for last, sums in periods),
        "salesPerShare": _points((last, _ratio(sums.revenue, shares)) for last, sums in periods),
        "grossMargin": _points((last, _ratio(sums.gross_profit, sums.revenue)) for last, sums in periods),
        "operatingMargin": _points(
            (last, _ratio(sums.operating_income, sums.revenue)) for last, sums in periods
        ),
        "netMargin": _points((last, _ratio(sums.net_income, sums.revenue)) for last, sums in periods),
        "bookValue": _points((last, round(last.equity / MILLION, 4)) for last, _ in periods),
    }


def _points(values: Iterable[tuple[Report, float | None]]) -> list[SeriesPoint]:
    return [SeriesPoint(last.quarter.period, value) for last, value in values]


def _year_to(past: Mapping[int, Report], last: int) -> Totals:
    return sum_reports(past[number] for number in range(last - 3, last + 1))


def _ratio(amount: float, base: float) -> float | None:
    """Returns amount / base; None unless the base is positive."""
    return round(amount / base, 4) if base > 0 else None


def _growth_percent(now: float, before: float, *, years: int = 1) -> float | None:
    """Returns the annual growth in percent; None with a loss on either side."""
    if now <= 0 or before <= 0:
        return None
    return round(100 * (power(now / before, 1 / years) - 1), 4)
