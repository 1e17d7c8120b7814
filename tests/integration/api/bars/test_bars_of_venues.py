"""Bars during a failover between two venues: one answer never mixes them."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from fakes.binance import FakeBinance
from fakes.binance_rows import statistics
from fakes.http import HTML_503
from fakes.kraken import FakeKraken, ticker
from quotecast.api.worker import composition
from quotecast.ingest.sources import Failover
from quotecast.market.calendars import EXCHANGE
from quotecast.market.feeds import Feed
from quotecast.providers.base import unlimited
from quotecast.providers.binance.client import BinanceProvider
from quotecast.providers.kraken.client import KrakenProvider
from quotecast.settings.loading import load
from quotecast.settings.model import Settings
from support.made.binance import LISTING, STREAM
from support.runs.deadlines import scaled
from support.stages.bar_service import BITCOIN, BarService, new_service

PATIENCE = 0.5
KLINES = "/api/v3/klines"
OHLC = "/0/public/OHLC"
#: Prices that tell the venues apart in the bar in progress.
OF_BINANCE, OF_KRAKEN = 1500.25, 1700.75


@pytest.fixture
async def binance() -> AsyncIterator[FakeBinance]:
    async with FakeBinance(LISTING) as fake:
        fake.statistics = {"BTCUSDT": statistics("BTCUSDT", str(OF_BINANCE))}
        yield fake


@pytest.fixture
async def kraken() -> AsyncIterator[FakeKraken]:
    async with FakeKraken() as fake:
        fake.tickers = {"BTC/USDT": ticker("BTC/USDT", OF_KRAKEN)}
        yield fake


class World:
    """A worker, its histories, and a feed over the same two upstreams."""

    def __init__(self, binance: FakeBinance, kraken: FakeKraken) -> None:
        self.binance, self.kraken = binance, kraken
        self.service: BarService = new_service()
        self.service.now = time.time()
        self.service.histories.clear()
        self.service.histories.update(
            composition.history_providers(self.settings(), lambda *_: unlimited, lambda: EXCHANGE)
        )

    def settings(self) -> Settings:
        return load(
            {
                "QUOTECAST_CRYPTO": "binance,kraken",
                "QUOTECAST_BINANCE_URL": self.binance.url,
                "QUOTECAST_KRAKEN_URL": self.kraken.url,
            }
        )

    async def follow(self, provider: str) -> None:
        """Connects both upstreams, and loads the mirror once the named one leads."""
        feed = Failover(
            [
                BinanceProvider(self.binance.url, self.binance.websocket_url, ["BTC/USDT"]),
                KrakenProvider(f"{self.kraken.websocket_url}/v2", ["BTC/USDT"]),
            ],
            patience=PATIENCE,
            gathering=PATIENCE / 10,
        )
        async with asyncio.timeout(scaled(30)), aclosing(feed.updates()) as updates:
            async for update in updates:
                if update.complete and update.quotes and feed.name == provider:
                    self.service.quotes(Feed.CRYPTO, update.quotes)
                    return

    async def bars(self, query: str = "timeframe=1h&limit=10") -> list[dict[str, float]]:
        answer = await self.service.get(f"{BITCOIN}?{query}")
        assert answer.status_code == 200, answer.text
        bars: list[dict[str, float]] = answer.json()
        return bars


@pytest.fixture
def world(binance: FakeBinance, kraken: FakeKraken) -> World:
    return World(binance, kraken)


async def test_bars_are_of_the_venue_that_leads(
    world: World, binance: FakeBinance, kraken: FakeKraken
) -> None:
    """Bars come from the venue of the price, never from both."""
    binance.answers[STREAM] = HTML_503
    await world.follow("kraken")
    bars = await world.bars()
    assert {asked.path for asked in kraken.requests} >= {OHLC}
    assert KLINES not in {asked.path for asked in binance.requests}
    assert bars[-1]["close"] == OF_KRAKEN


async def test_each_venue_has_its_own_cache(world: World, binance: FakeBinance) -> None:
    """The cache has an entry for each venue."""
    await world.follow("binance")
    first = await world.bars()
    binance.answers[STREAM] = HTML_503
    await world.follow("kraken")
    second = await world.bars()
    keys = sorted(world.service.cache.keys)
    assert [key.partition(":")[0] for key in keys] == ["binance", "kraken"]
    assert (first[-1]["close"], second[-1]["close"]) == (OF_BINANCE, OF_KRAKEN)


async def test_venue_that_leads_and_has_no_bars_is_named(
    world: World, kraken: FakeKraken, binance: FakeBinance
) -> None:
    """A leading venue without bars is 503 that names it."""
    binance.answers[STREAM] = HTML_503
    await world.follow("kraken")
    kraken.answers[OHLC] = HTML_503
    answer = await world.service.get(BITCOIN)
    assert (answer.status_code, answer.json()["detail"]) == (503, "Upstream unavailable")
    world.service.histories[Feed.CRYPTO] = {
        name: each for name, each in world.service.histories[Feed.CRYPTO].items() if name != "kraken"
    }
    answer = await world.service.get(BITCOIN)
    assert (answer.status_code, answer.json()["detail"]) == (
        503,
        "No provider configured for bars of kraken",
    )
    assert KLINES not in {asked.path for asked in binance.requests}
