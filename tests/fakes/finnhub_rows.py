"""Rows of the fake Finnhub: fictional companies, their profiles and expected reports."""

import math
import zlib
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from fakes.http import Row
from quotecast.market.financials import Earnings, EarningsEvent, Recommendation
from quotecast.market.reference import Stock
from quotecast.simulation.vendors.finnhub.rows import profile_row, quote_row, record_row
from quotecast.simulation.vendors.market import Price


def company(symbol: str, now: float = 0.0) -> dict[str, Any]:
    """Returns the answer of each path for a fictional company; its price moves about 1 % in an hour."""
    size = 1 + zlib.crc32(symbol.encode()) % 400
    price = round(size * (1 + math.sin(now / 600 + size) / 100), 2)
    day = datetime.fromtimestamp(now, UTC).date()
    quarters = [*_quarter_ends(day, 4)]
    return {
        "/stock/metric": {
            "symbol": symbol,
            "metricType": "all",
            "metric": {
                "10DayAverageTradingVolume": 48.1,
                "52WeekHigh": round(size * 1.1, 2),
                "52WeekHighDate": (day - timedelta(days=23)).isoformat(),
                "52WeekLow": str(round(size * 0.7, 2)),
                "beta": 1.2,
                "dividendYieldIndicatedAnnual": None,
                "longTermDebt/equityAnnual": 1.1,
                "marketCapitalization": round(price * 15_000, 1),
                "peTTM": round(price / size * 33.1, 2),
            },
            "series": {
                "annual": {"eps": [{"period": quarters[0].isoformat(), "v": 6.9}]},
                "quarterly": {"eps": [{"period": each.isoformat(), "v": 1.6} for each in quarters]},
            },
        },
        "/stock/earnings": [_earnings(symbol, each) for each in quarters],
        "/stock/recommendation": [_recommendation(symbol, day.replace(day=1))],
        "/stock/revenue-estimate": _estimates(
            symbol, day, {"revenueAvg": 117_840_000_000, "revenueHigh": 121.5e9, "revenueLow": 110.2e9}
        ),
        "/stock/eps-estimate": _estimates(symbol, day, {"epsAvg": 2.11, "epsHigh": 2.4, "epsLow": 1.9}),
        "/stock/earnings-quality-score": {
            "symbol": symbol,
            "freq": "quarterly",
            "data": [_quality(each) for each in quarters],
        },
        "/stock/profile2": profile(symbol),
        "/quote": quote_row(_price(symbol, price, now)),
    }


def _price(symbol: str, price: float, now: float) -> Price:
    return Price(
        symbol=symbol,
        time=int(now * 1000),
        number=0,
        price=price,
        size=1,
        bid=price,
        ask=price,
        open=229,
        high=232,
        low=228.5,
        previous=229.1,
        volume=0,
    )


def profile(symbol: str, currency: str = "USD") -> Row:
    """Returns the profile of a company; `symbol` is that of its home listing."""
    stock = Stock(symbol, f"{symbol} Inc", "NASDAQ", "Technology", "Technology", 15_037_870_000, 218.63)
    own = {"currency": currency, "estimateCurrency": currency, "country": currency[:2]}
    return profile_row(stock, stock.price) | own


def company_abroad(home: str, currency: str) -> dict[str, Any]:
    """Returns a company like `company` with the home listing's symbol in every row, and no currency."""
    return company(home) | {"/stock/profile2": profile(home, currency)}


def event(symbol: str, day: date, hour: str = "amc") -> Row:
    """Returns a row of the earnings calendar: an expected report."""
    return record_row(
        EarningsEvent(
            symbol=symbol,
            date=day.isoformat(),
            hour=hour,
            year=day.year,
            quarter=(day.month - 1) // 3 or 4,
            eps_estimate=1.45,
            eps_actual=None,
            revenue_estimate=102_000_000_000,
            revenue_actual=None,
        )
    )


def _earnings(symbol: str, period: date) -> Row:
    quarter, year = period.month // 3, period.year
    return record_row(Earnings(symbol, period.isoformat(), quarter, year, 1.5, 1.45, 0.05, 3.45))


def _recommendation(symbol: str, period: date) -> Row:
    return record_row(Recommendation(symbol, period.isoformat(), 10, 20, 9, 2, 0))


def _estimates(symbol: str, day: date, values: Row) -> Row:
    """Returns estimates of the coming four quarters, the furthest first."""
    periods = _quarter_ends(day + timedelta(days=366), 4)
    data = [
        {
            "period": each.isoformat(),
            "quarter": each.month // 3,
            "year": each.year,
            "numberAnalysts": 28,
            **values,
        }
        for each in periods
    ]
    return {"symbol": symbol, "freq": "quarterly", "data": data}


def _quality(period: date) -> Row:
    return {
        "period": period.isoformat(),
        "growth": 50.5,
        "profitability": 72.2,
        "capitalAllocation": 84,
        "leverage": 89.9,
        "score": 74.15,
        "letterScore": "A-",
    }


def _quarter_ends(day: date, count: int) -> Iterable[date]:
    """Returns the last days of past quarters, newest first."""
    for _ in range(count):
        day = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1) - timedelta(days=1)
        yield day
