"""Company data of an origin, by REST: its records are ours."""

from collections.abc import Sequence
from datetime import date

from quotecast.market.financials import (
    Earnings,
    EarningsCalendar,
    EarningsQuality,
    EpsEstimate,
    Estimates,
    Metrics,
    Recommendation,
    RevenueEstimate,
)
from quotecast.providers.quotecast.rest import OriginRest
from quotecast.providers.transport.fetch import segment


class OriginFinancials:
    """Company data of the origin."""

    name = "quotecast"

    def __init__(self, rest: OriginRest) -> None:
        self._rest = rest

    async def has(self, symbol: str) -> bool:
        """See FinancialsProvider; the origin decides with its records."""
        del symbol
        return True

    async def metrics(self, symbol: str) -> Metrics:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "metrics"), Metrics)

    async def earnings(self, symbol: str) -> Sequence[Earnings]:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "earnings"), list[Earnings])

    async def recommendations(self, symbol: str) -> Sequence[Recommendation]:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "recommendations"), list[Recommendation])

    async def revenue_estimates(self, symbol: str) -> Estimates[RevenueEstimate]:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "revenue-estimates"), Estimates[RevenueEstimate])

    async def eps_estimates(self, symbol: str) -> Estimates[EpsEstimate]:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "eps-estimates"), Estimates[EpsEstimate])

    async def earnings_quality(self, symbol: str) -> EarningsQuality:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "earnings-quality"), EarningsQuality)

    def is_provisional(self, symbol: str) -> bool:
        """See FinancialsProvider; the origin does not say so."""
        del symbol
        return False

    async def earnings_calendar(self, first: date, last: date, symbol: str | None = None) -> EarningsCalendar:
        """See FinancialsProvider."""
        of_one = {} if symbol is None else {"symbol": symbol}
        params = {"from": first.isoformat(), "to": last.isoformat(), **of_one}
        return await self._rest.read("/api/financials/earnings-calendar", EarningsCalendar, params)


def _path(symbol: str, record: str) -> str:
    return f"/api/financials/company/{segment(symbol)}/{record}"
