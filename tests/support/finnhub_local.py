"""A local Finnhub that knows a company and a fund, and the adapter in front of it."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import date
from typing import Any, Final

from fakes.finnhub import FakeFinnhub, company
from quotecast.providers.finnhub.client import FinnhubFinancials
from support.caching import Clock

#: Each question about a company, and the path that answers it.
PATHS: Final = {
    "metrics": "/stock/metric",
    "earnings": "/stock/earnings",
    "recommendations": "/stock/recommendation",
    "revenue_estimates": "/stock/revenue-estimate",
    "eps_estimates": "/stock/eps-estimate",
    "earnings_quality": "/stock/earnings-quality-score",
}
#: Questions about amounts of money, for whose currency the company's profile is asked.
PRICED: Final = ("metrics", "earnings", "revenue_estimates", "eps_estimates")
#: What `ask` knows.
EVERYTHING: Final = (*PATHS, "calendar")
#: Of the calendar that `ask` asks for.
FIRST, LAST = date(2026, 11, 16), date(2026, 11, 20)


@asynccontextmanager
async def local_finnhub(clock: Clock) -> AsyncIterator[FakeFinnhub]:
    """It knows AAPL, and of SPY metrics and a price; its plan is the paid one."""
    async with FakeFinnhub() as fake:
        fake.clock = clock
        fake.companies = {
            "AAPL": company("AAPL", clock.now),
            "SPY": {path: company("SPY")[path] for path in ("/stock/metric", "/quote")},
        }
        yield fake


def provider(fake: FakeFinnhub, **options: Any) -> FinnhubFinancials:
    given: dict[str, Any] = {"url": fake.base, "key": fake.key, "clock": fake.clock}
    return FinnhubFinancials(**given | options)


def ask(upstream: FinnhubFinancials, what: str, symbol: str = "AAPL") -> Awaitable[Any]:
    if what == "calendar":
        return upstream.earnings_calendar(FIRST, LAST)
    answer: Awaitable[Any] = getattr(upstream, what)(symbol)
    return answer
