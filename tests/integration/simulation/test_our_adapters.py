"""Our adapters of Kraken and Finnhub in front of the simulated ones: they agree with the market."""

import asyncio
from contextlib import aclosing
from datetime import date, timedelta
from typing import Final

import pytest

from fakes.http import running
from quotecast.errors import NotOffered, SymbolNotFound
from quotecast.market.bars import Interval, bar_time
from quotecast.providers.finnhub.client import FinnhubFinancials
from quotecast.providers.finnhub.rest import FinnhubRest
from quotecast.providers.kraken.client import KrakenProvider
from quotecast.providers.kraken.history import KrakenHistory
from quotecast.simulation.market.financials import SimulatorFinancials
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.finnhub.server import VERSION, FinnhubServer
from quotecast.simulation.vendors.kraken.server import KrakenServer
from quotecast.simulation.vendors.market import Market, utc
from support.runs.deadlines import scaled
from support.runs.manual_clock import ManualClock

SEED: Final = 7
#: Thursday, 2026-11-19, 15:00 in New York.
START: Final = 1_795_118_400_000


async def test_quotes_of_kraken_are_the_markets() -> None:
    """Every pair of the simulated Kraken that our adapter follows by default gets a believable quote."""
    market = Market(SEED)
    async with KrakenServer(market, MarketClock(), rate=500.0) as server, running(server.run()):
        provider = KrakenProvider(f"{server.websocket_url}/v2")
        prices: dict[str, float] = {}
        async with asyncio.timeout(scaled(30)), aclosing(provider.updates()) as updates:
            async for update in updates:
                prices |= {quote.key: quote.price for quote in update.quotes}
                if len(prices) >= 50:
                    break
        now = server.clock.moment()
    assert set(provider.statistics().values()) <= {0}
    for symbol, seen in prices.items():
        price = market.price(symbol, now)
        assert price.low <= seen <= price.high


@pytest.mark.parametrize(("interval", "step"), [("1m", 60), ("4h", 14_400), ("D", 86_400)])
async def test_bars_of_kraken_are_the_markets(interval: Interval, step: int) -> None:
    market = Market(SEED)
    async with KrakenServer(market, ManualClock(START)) as server:
        begin = utc(START) - timedelta(seconds=5 * step)
        bars = await KrakenHistory(server.url).bars("BTC/USD", interval, begin, utc(START))
    expected = market.bars("BTC/USD", interval, START - 5 * step * 1000, START)
    assert [(bar.time, bar.open, bar.high, bar.low, bar.close) for bar in bars] == [
        (bar_time(utc(each.start)), each.open, each.high, each.low, each.close)
        for each in expected
        if each.start < START
    ]


def _finnhub(server: FinnhubServer) -> FinnhubFinancials:
    rest = FinnhubRest(server.url + VERSION, "any", clock=lambda: START / 1000)
    return FinnhubFinancials(rest, clock=lambda: START / 1000)


async def test_company_data_of_finnhub_is_our_simulators() -> None:
    """Both show the company of the same seed."""
    async with FinnhubServer(Market(SEED), ManualClock(START)) as server:
        upstream = _finnhub(server)
        ours = SimulatorFinancials(SEED, lambda: START / 1000)
        for name in ("earnings", "recommendations", "revenue_estimates", "eps_estimates", "earnings_quality"):
            assert await getattr(upstream, name)("AAPL") == await getattr(ours, name)("AAPL"), name
        metrics, expected = await upstream.metrics("AAPL"), await ours.metrics("AAPL")
        assert metrics.metric == expected.metric
        first, last = date(2026, 11, 2), date(2026, 11, 20)
        calendars = [await each.earnings_calendar(first, last) for each in (upstream, ours)]
        assert calendars[0].earnings_calendar == calendars[1].earnings_calendar
        with pytest.raises(SymbolNotFound):
            await upstream.metrics("NONE")


async def test_free_plan_of_finnhub_is_our_not_offered() -> None:
    async with FinnhubServer(Market(SEED), ManualClock(START), free=True) as server:
        upstream = _finnhub(server)
        with pytest.raises(NotOffered):
            await upstream.eps_estimates("AAPL")
