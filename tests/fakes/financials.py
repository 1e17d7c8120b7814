"""A fake upstream of company data that counts calls and may fail, and workers that use it."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import date
from functools import cache
from typing import Any

import httpx

from quotecast.cache.redis import RedisCache
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
from quotecast.providers.base import FinancialsProvider
from quotecast.simulation.market.financials import SimulatorFinancials
from support.made.factories import NOW, client_of, full_mirrors, services
from support.stages.caching import Clock

COMPANY = "/api/financials/company"
CALENDAR = "/api/financials/earnings-calendar"
#: Paths of the single routes, and their names in the overview.
MEMBERS = {
    "metrics": "metrics",
    "earnings": "earnings",
    "recommendations": "recommendations",
    "revenue-estimates": "revenueEstimates",
    "eps-estimates": "epsEstimates",
    "earnings-quality": "earningsQuality",
}


@cache
def _simulator() -> SimulatorFinancials:
    return SimulatorFinancials(1, lambda: NOW)


class FakeFinancials:
    """Company data of the simulator; counts the calls, and fails those that a test chooses."""

    name = "upstream"

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.spans: list[tuple[date, date]] = []
        self.errors: dict[str, Exception] = {}
        self.answering = asyncio.Event()
        self.answering.set()

    async def has(self, symbol: str) -> bool:
        await self._ask("has")
        return await _simulator().has(symbol)

    async def metrics(self, symbol: str) -> Metrics:
        await self._ask("metrics")
        return await _simulator().metrics(symbol)

    async def earnings(self, symbol: str) -> Sequence[Earnings]:
        await self._ask("earnings")
        return await _simulator().earnings(symbol)

    async def recommendations(self, symbol: str) -> Sequence[Recommendation]:
        await self._ask("recommendations")
        return await _simulator().recommendations(symbol)

    async def revenue_estimates(self, symbol: str) -> Estimates[RevenueEstimate]:
        await self._ask("revenue-estimates")
        return await _simulator().revenue_estimates(symbol)

    async def eps_estimates(self, symbol: str) -> Estimates[EpsEstimate]:
        await self._ask("eps-estimates")
        return await _simulator().eps_estimates(symbol)

    async def earnings_quality(self, symbol: str) -> EarningsQuality:
        await self._ask("earnings-quality")
        return await _simulator().earnings_quality(symbol)

    def is_provisional(self, symbol: str) -> bool:
        return _simulator().is_provisional(symbol)

    async def earnings_calendar(self, first: date, last: date, symbol: str | None = None) -> EarningsCalendar:
        await self._ask("calendar")
        self.spans.append((first, last))
        return await _simulator().earnings_calendar(first, last, symbol)

    def fail(self, error: Exception, *names: str) -> None:
        self.errors = dict.fromkeys(names or [*MEMBERS, "calendar"], error)

    async def _ask(self, name: str) -> None:
        self.calls[name] += 1
        await self.answering.wait()
        if name in self.errors:
            raise self.errors[name]


@contextlib.asynccontextmanager
async def running_worker(
    url: str, clock: Clock, provider: FinancialsProvider, **other: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """Yields a client of one worker."""
    async with RedisCache(url, "t", clock=clock, budget=5.0) as cache:
        made = services(full_mirrors(), clock=clock, financials=provider, cache=cache, **other)
        async with client_of(made) as client:
            yield client
