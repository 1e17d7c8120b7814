"""A fake Finnhub that knows a company and a fund, and the adapter in front of it."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import date
from typing import Any, Final

from fakes.finnhub import FakeFinnhub
from fakes.finnhub_rows import company
from quotecast.providers.finnhub.client import FinnhubFinancials
from quotecast.providers.finnhub.rest import FinnhubRest
from support.stages.caching import Clock

#: Methods of the adapter, and the path that each one calls.
PATHS: Final = {
    "metrics": "/stock/metric",
    "earnings": "/stock/earnings",
    "recommendations": "/stock/recommendation",
    "revenue_estimates": "/stock/revenue-estimate",
    "eps_estimates": "/stock/eps-estimate",
    "earnings_quality": "/stock/earnings-quality-score",
}
#: Methods that return amounts of money, for which the adapter also reads the company's profile.
PRICED: Final = ("metrics", "earnings", "revenue_estimates", "eps_estimates")
#: The symbols of the fake.
EVERYTHING: Final = (*PATHS, "calendar")
#: The calendar that `ask` requests.
FIRST, LAST = date(2026, 11, 16), date(2026, 11, 20)


@asynccontextmanager
async def local_finnhub(clock: Clock) -> AsyncIterator[FakeFinnhub]:
    """Yields a fake with AAPL, and metrics and a price of SPY; its plan is the paid one."""
    async with FakeFinnhub() as fake:
        fake.follow_clock(clock)
        fake.companies = {
            "AAPL": company("AAPL", clock.now),
            "SPY": {path: company("SPY")[path] for path in ("/stock/metric", "/quote")},
        }
        yield fake


def provider(fake: FakeFinnhub, **options: Any) -> FinnhubFinancials:
    given: dict[str, Any] = {"url": fake.base, "key": fake.key, "clock": fake.now, **options}
    return FinnhubFinancials(FinnhubRest(**given), clock=given["clock"])


def ask(upstream: FinnhubFinancials, what: str, symbol: str = "AAPL") -> Awaitable[Any]:
    if what == "calendar":
        return upstream.earnings_calendar(FIRST, LAST)
    answer: Awaitable[Any] = getattr(upstream, what)(symbol)
    return answer
