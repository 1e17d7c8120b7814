"""Company data: the records and field names of Finnhub's API reference.

An unknown number is None.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

E = TypeVar("E")


class SeriesPoint(Struct, frozen=True):
    """A figure of the reporting period that ends at `period` (YYYY-MM-DD)."""

    period: str
    v: float | None


class Series(Struct, frozen=True):
    """Figures by name; each list begins with the newest period."""

    annual: Mapping[str, Sequence[SeriesPoint]]
    quarterly: Mapping[str, Sequence[SeriesPoint]]


class Metrics(Struct, frozen=True, rename="camel"):
    """Figures by name: numbers, or dates as YYYY-MM-DD; market capitalisation in millions.

    `currency` is the currency of the company's filings, `homeSymbol` the foreign listing that the figures
    describe.
    """

    symbol: str
    metric_type: str
    metric: Mapping[str, float | str | None]
    series: Series
    currency: str | None = None
    home_symbol: str | None = None


class Earnings(Struct, frozen=True, rename="camel"):
    """Earnings per share of a reported fiscal quarter, in `currency`; `surprise` is actual minus estimate.

    `surprisePercent` is the surprise in percent of the absolute estimate. `homeSymbol` is the foreign listing
    that the figures describe.
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
    """Numbers of analysts by recommendation, in the month that begins at `period`.

    `homeSymbol` is the foreign listing that they rate.
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
    """Analysts' estimates in `currency`, the nearest period last.

    `homeSymbol` is the foreign listing that they describe.
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
    """An earnings report, due or done; `hour` is bmo (before open), amc (after close), dmh (during) or empty.

    If `abroad`, the company has a foreign listing, and the figures are in its own currency.
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
    """Reports by date, complete from `coveredFrom` to `coveredTo`.

    The two dates span fewer days than requested where the upstream has no more, and are null where it has
    none.
    """

    earnings_calendar: Sequence[EarningsEvent]
    covered_from: str | None = None
    covered_to: str | None = None
