"""The kinds of company data: what each is called, how it is asked for, and how long it stays true."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from quotecast.api.reference import financial_examples as examples
from quotecast.cache.base import Policy
from quotecast.market.financials import (
    Earnings,
    EarningsQuality,
    EpsEstimate,
    Estimates,
    Metrics,
    Recommendation,
    RevenueEstimate,
    Series,
)
from quotecast.providers.base import FinancialsProvider

HOUR_SECONDS: Final = 3600


class CompanyRecord(Struct, frozen=True, kw_only=True):
    """One kind of data about a company."""

    #: Last segment of its route's path.
    path: str
    #: Member of the overview.
    member: str
    summary: str
    description: str
    kind: Any
    example: Any
    hours: int
    ask: Callable[[FinancialsProvider, str], Awaitable[Any]]
    #: What is told of a stock that the upstream has no such data of.
    nothing: Callable[[str], Any]

    @property
    def policy(self) -> Policy:
        """How long it is kept."""
        return Policy(fresh_seconds=self.hours * HOUR_SECONDS)


class Overview(Struct, frozen=True, rename="camel"):
    """All kinds together; one that could not be had is null, and `errors` says why by its name."""

    symbol: str
    metrics: Metrics | None
    earnings: Sequence[Earnings] | None
    recommendations: Sequence[Recommendation] | None
    revenue_estimates: Estimates[RevenueEstimate] | None
    eps_estimates: Estimates[EpsEstimate] | None
    earnings_quality: EarningsQuality | None
    errors: Mapping[str, str]


EXAMPLE: Final = Overview(
    "AAPL",
    examples.METRICS,
    examples.EARNINGS,
    examples.RECOMMENDATIONS,
    examples.REVENUE_ESTIMATES,
    examples.EPS_ESTIMATES,
    examples.EARNINGS_QUALITY,
    {},
)

#: In the order of the overview's members.
RECORDS: Final = (
    CompanyRecord(
        path="metrics",
        member="metrics",
        summary="Metrics of a company",
        description="An open map of figures, and series of some of them; market capitalization in millions.",
        kind=Metrics,
        example=examples.METRICS,
        hours=24,
        ask=lambda provider, symbol: provider.metrics(symbol),
        nothing=lambda symbol: Metrics(symbol, "all", {}, Series({}, {})),
    ),
    CompanyRecord(
        path="earnings",
        member="earnings",
        summary="Reported earnings of a company",
        description="Earnings per share in `currency`, and what had been expected, the newest quarter first.",
        kind=list[Earnings],
        example=examples.EARNINGS,
        hours=6,
        ask=lambda provider, symbol: provider.earnings(symbol),
        nothing=lambda _: [],
    ),
    CompanyRecord(
        path="recommendations",
        member="recommendations",
        summary="Analysts' recommendations for a stock",
        description="How many analysts said what, by month, the newest first.",
        kind=list[Recommendation],
        example=examples.RECOMMENDATIONS,
        hours=6,
        ask=lambda provider, symbol: provider.recommendations(symbol),
        nothing=lambda _: [],
    ),
    CompanyRecord(
        path="revenue-estimates",
        member="revenueEstimates",
        summary="Expected revenue of a company",
        description="By quarter, the nearest last, in `currency`; null where that is not known.",
        kind=Estimates[RevenueEstimate],
        example=examples.REVENUE_ESTIMATES,
        hours=12,
        ask=lambda provider, symbol: provider.revenue_estimates(symbol),
        nothing=lambda symbol: Estimates(symbol, "quarterly", []),
    ),
    CompanyRecord(
        path="eps-estimates",
        member="epsEstimates",
        summary="Expected earnings per share of a company",
        description="By quarter, the nearest last, in `currency`; null where that is not known.",
        kind=Estimates[EpsEstimate],
        example=examples.EPS_ESTIMATES,
        hours=12,
        ask=lambda provider, symbol: provider.eps_estimates(symbol),
        nothing=lambda symbol: Estimates(symbol, "quarterly", []),
    ),
    CompanyRecord(
        path="earnings-quality",
        member="earningsQuality",
        summary="Quality of a company's earnings",
        description="Scores from 0 to 100 and a letter, by quarter, the newest first.",
        kind=EarningsQuality,
        example=examples.EARNINGS_QUALITY,
        hours=24,
        ask=lambda provider, symbol: provider.earnings_quality(symbol),
        nothing=lambda symbol: EarningsQuality(symbol, "quarterly", []),
    ),
)
