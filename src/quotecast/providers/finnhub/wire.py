"""Finnhub's rows of company data, and their conversion to records.

Source of the format: Finnhub's OpenAPI document, `/stock/earnings`, `/stock/recommendation`,
`/stock/revenue-estimate`, `/stock/eps-estimate`, `/stock/earnings-quality-score` and `/calendar/earnings`.
All structs ignore unknown fields. Any number may be missing, null or a string; an unreadable one is None and
counts as `unreadable_field`. A row without its date is malformed.
"""

import re
from datetime import date
from typing import Final

from msgspec import Struct

from quotecast.market.feeds import Feed
from quotecast.market.financials import (
    Earnings,
    EarningsEvent,
    EpsEstimate,
    QualityScore,
    Recommendation,
    RevenueEstimate,
)
from quotecast.market.instruments import canonical_symbol
from quotecast.market.numbers import Number, signed_decimal
from quotecast.providers.finnhub.profiles import CompanyProfile, home_symbol
from quotecast.providers.refusals import RefusalCounter

HOURS: Final = frozenset({"bmo", "amc", "dmh"})

#: EventRow has a field `date`, which hides the type.
Day = date
#: The suffix of an exchange abroad; other single letters are classes of US shares, as in `BRK.B`.
_ABROAD: Final = re.compile(r"\.(?!WS$)([A-Z]{2,}|[FLTV])$")
_LETTER: Final = re.compile(r"[A-F][+-]?")


class EarningsRow(Struct, frozen=True, rename="camel"):
    """A row of `/stock/earnings`."""

    period: date
    quarter: Number = None
    year: Number = None
    actual: Number = None
    estimate: Number = None
    surprise: Number = None
    surprise_percent: Number = None
    symbol: str | None = None

    def to_record(self, symbol: str, profile: CompanyProfile, refused: RefusalCounter) -> Earnings:
        """Returns the record."""
        return Earnings(
            symbol=symbol,
            period=self.period.isoformat(),
            quarter=whole(self.quarter, refused),
            year=whole(self.year, refused),
            actual=figure(self.actual, refused),
            estimate=figure(self.estimate, refused),
            surprise=figure(self.surprise, refused),
            surprise_percent=figure(self.surprise_percent, refused),
            currency=profile.estimate_currency,
            home_symbol=home_symbol(symbol, self.symbol, profile.ticker),
        )


class RecommendationRow(Struct, frozen=True, rename="camel"):
    """A row of `/stock/recommendation`."""

    period: date
    strong_buy: Number = None
    buy: Number = None
    hold: Number = None
    sell: Number = None
    strong_sell: Number = None
    symbol: str | None = None

    def to_record(self, symbol: str, refused: RefusalCounter) -> Recommendation:
        """Returns the record."""
        return Recommendation(
            symbol=symbol,
            period=self.period.isoformat(),
            strong_buy=whole(self.strong_buy, refused),
            buy=whole(self.buy, refused),
            hold=whole(self.hold, refused),
            sell=whole(self.sell, refused),
            strong_sell=whole(self.strong_sell, refused),
            home_symbol=home_symbol(symbol, self.symbol),
        )


class RevenueRow(Struct, frozen=True, rename="camel"):
    """A row of `/stock/revenue-estimate`."""

    period: date
    quarter: Number = None
    year: Number = None
    revenue_avg: Number = None
    revenue_high: Number = None
    revenue_low: Number = None
    number_analysts: Number = None

    def to_record(self, refused: RefusalCounter) -> RevenueEstimate:
        """Returns the record."""
        return RevenueEstimate(
            period=self.period.isoformat(),
            quarter=whole(self.quarter, refused),
            year=whole(self.year, refused),
            revenue_avg=figure(self.revenue_avg, refused),
            revenue_high=figure(self.revenue_high, refused),
            revenue_low=figure(self.revenue_low, refused),
            number_analysts=whole(self.number_analysts, refused),
        )


class EpsRow(Struct, frozen=True, rename="camel"):
    """A row of `/stock/eps-estimate`."""

    period: date
    quarter: Number = None
    year: Number = None
    eps_avg: Number = None
    eps_high: Number = None
    eps_low: Number = None
    number_analysts: Number = None

    def to_record(self, refused: RefusalCounter) -> EpsEstimate:
        """Returns the record."""
        return EpsEstimate(
            period=self.period.isoformat(),
            quarter=whole(self.quarter, refused),
            year=whole(self.year, refused),
            eps_avg=figure(self.eps_avg, refused),
            eps_high=figure(self.eps_high, refused),
            eps_low=figure(self.eps_low, refused),
            number_analysts=whole(self.number_analysts, refused),
        )


class QualityRow(Struct, frozen=True, rename="camel"):
    """A row of `/stock/earnings-quality-score`; specification and example differ in one name."""

    period: date
    growth: Number = None
    profitability: Number = None
    cash_generation_capital_allocation: Number = None
    capital_allocation: Number = None
    leverage: Number = None
    score: Number = None
    letter_score: str | None = None

    def to_record(self, refused: RefusalCounter) -> QualityScore:
        """Returns the record, with either name of the field."""
        allocation = self.cash_generation_capital_allocation
        return QualityScore(
            period=self.period.isoformat(),
            growth=figure(self.growth, refused),
            profitability=figure(self.profitability, refused),
            cash_generation_capital_allocation=figure(
                self.capital_allocation if allocation is None else allocation, refused
            ),
            leverage=figure(self.leverage, refused),
            score=figure(self.score, refused),
            letter_score=self.letter_score if _LETTER.fullmatch(self.letter_score or "") else None,
        )


class EventRow(Struct, frozen=True, rename="camel"):
    """A row of `/calendar/earnings`."""

    symbol: str
    date: Day
    hour: str | None = None
    year: Number = None
    quarter: Number = None
    eps_estimate: Number = None
    eps_actual: Number = None
    revenue_estimate: Number = None
    revenue_actual: Number = None

    def to_record(self, refused: RefusalCounter) -> EarningsEvent | None:
        """Returns the record; None for an invalid ticker."""
        symbol = canonical_symbol(Feed.STOCKS, self.symbol)
        if symbol is None:
            return None
        return EarningsEvent(
            symbol=symbol,
            date=self.date.isoformat(),
            hour=self.hour if self.hour in HOURS else "",
            year=whole(self.year, refused),
            quarter=whole(self.quarter, refused),
            eps_estimate=figure(self.eps_estimate, refused),
            eps_actual=figure(self.eps_actual, refused),
            revenue_estimate=figure(self.revenue_estimate, refused),
            revenue_actual=figure(self.revenue_actual, refused),
            abroad=_ABROAD.search(symbol) is not None,
        )


def figure(value: Number, refused: RefusalCounter) -> float | None:
    """Returns a number between -10^18 and 10^18; None for anything else, which counts unless it is null."""
    decimal = signed_decimal(value)
    if decimal is None and value is not None:
        refused.count("unreadable_field")
    return None if decimal is None else float(decimal)


def whole(value: Number, refused: RefusalCounter) -> int | None:
    """Returns a whole number from zero; None for anything else, which counts unless it is null."""
    decimal = signed_decimal(value)
    if decimal is not None and decimal >= 0 and decimal == int(decimal):
        return int(decimal)
    if value is not None:
        refused.count("unreadable_field")
    return None
