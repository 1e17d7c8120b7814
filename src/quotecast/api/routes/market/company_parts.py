"""The records of company data: names, the provider's call, and cache times."""

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
    """One kind of company data, as a route of its own and as a member of the overview."""

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
    #: Makes the empty record of a stock without data at the upstream.
    nothing: Callable[[str], Any]

    @property
    def policy(self) -> Policy:
        """The cache policy of the record."""
        return Policy(fresh_seconds=self.hours * HOUR_SECONDS)


class Overview(Struct, frozen=True, rename="camel"):
    """All records; one that is not available is null, and `errors` has the reason by its name."""

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
        description="Earnings per share in `currency`, reported and estimated, the newest quarter first.",
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
        description="Numbers of analysts by recommendation and month, the newest first.",
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
        description="By quarter, the nearest last, in `currency`; null where the currency is unknown.",
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
        description="By quarter, the nearest last, in `currency`; null where the currency is unknown.",
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
