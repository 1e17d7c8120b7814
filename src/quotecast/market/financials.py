"""Company data as the API answers it: the records and field names of Finnhub, from where it may come.

Numbers that nobody knows are None. Source of the fields: Finnhub's API reference.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

E = TypeVar("E")


class SeriesPoint(Struct, frozen=True):
    """A figure of one reporting period, which ends at `period` (YYYY-MM-DD)."""

    period: str
    v: float | None


class Series(Struct, frozen=True):
    """Figures by name, each the newest period first."""

    annual: Mapping[str, Sequence[SeriesPoint]]
    quarterly: Mapping[str, Sequence[SeriesPoint]]


class Metrics(Struct, frozen=True, rename="camel"):
    """An open map of figures: numbers, or dates as YYYY-MM-DD; market capitalisation in millions.

    `currency` is that of the company's filings, `homeSymbol` the listing abroad that the figures are of.
    """

    symbol: str
    metric_type: str
    metric: Mapping[str, float | str | None]
    series: Series
    currency: str | None = None
    home_symbol: str | None = None


class Earnings(Struct, frozen=True, rename="camel"):
    """A reported fiscal quarter: earnings per share in `currency`; the surprise is what was not estimated.

    `surprisePercent` is in percent of the estimate, without its sign. `homeSymbol` is the listing abroad that
    the figures are of.
    """

    symbol: str
    period: str
    quarter: int | None
    year: int | None
    actual: float | None
    estimate: float | None
    surprise: float | None
    surprise_percent: float | None
    currency: str | None = None
    home_symbol: str | None = None


class Recommendation(Struct, frozen=True, rename="camel"):
    """How many analysts said what in the month that begins at `period`.

    `homeSymbol` is the listing abroad that they judge.
    """

    symbol: str
    period: str
    strong_buy: int | None
    buy: int | None
    hold: int | None
    sell: int | None
    strong_sell: int | None
    home_symbol: str | None = None


class RevenueEstimate(Struct, frozen=True, rename="camel"):
    """Expected revenue of a fiscal quarter."""

    period: str
    quarter: int | None
    year: int | None
    revenue_avg: float | None
    revenue_high: float | None
    revenue_low: float | None
    number_analysts: int | None


class EpsEstimate(Struct, frozen=True, rename="camel"):
    """Expected earnings per share of a fiscal quarter."""

    period: str
    quarter: int | None
    year: int | None
    eps_avg: float | None
    eps_high: float | None
    eps_low: float | None
    number_analysts: int | None


class Estimates(Struct, Generic[E], frozen=True, rename="camel"):
    """Expectations in `currency`, the nearest period last.

    `homeSymbol` is the listing abroad that they are of.
    """

    symbol: str
    freq: str
    data: Sequence[E]
    currency: str | None = None
    home_symbol: str | None = None


class QualityScore(Struct, frozen=True, rename="camel"):
    """Scores from 0 to 100 of one quarter; `letterScore` from A+ to F."""

    period: str
    growth: float | None
    profitability: float | None
    cash_generation_capital_allocation: float | None
    leverage: float | None
    score: float | None
    letter_score: str | None


class EarningsQuality(Struct, frozen=True):
    """Quality of earnings by quarter, the newest first."""

    symbol: str
    freq: str
    data: Sequence[QualityScore]


class EarningsEvent(Struct, frozen=True, rename="camel"):
    """A report that is due or done; `hour` is bmo (before open), amc (after close), dmh (during) or empty.

    Of a listing `abroad` the figures are in the company's own currency.
    """

    symbol: str
    date: str
    hour: str
    year: int | None
    quarter: int | None
    eps_estimate: float | None
    eps_actual: float | None
    revenue_estimate: float | None
    revenue_actual: float | None
    abroad: bool = False


class EarningsCalendar(Struct, frozen=True, rename="camel"):
    """Reports by date, whole from `coveredFrom` to `coveredTo`.

    Those are fewer days than asked for where the upstream has no more, and null where it has none.
    """

    earnings_calendar: Sequence[EarningsEvent]
    covered_from: str | None = None
    covered_to: str | None = None
