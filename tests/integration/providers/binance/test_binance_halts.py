"""Pairs of Binance that stop trading while others go on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from fakes.binance import FakeBinance
from fakes.binance_rows import statistics
from quotecast.providers.binance.client import LISTING_SECONDS
from quotecast.providers.binance.tickers import DAY_SECONDS
from support.made.binance import LISTING, NOW, first_updates, provider, running_binance

HOUR_SECONDS = 3600.0


@pytest.fixture
async def fake() -> AsyncIterator[FakeBinance]:
    async with running_binance() as fake:
        yield fake


def halted(symbol: str, at: float = NOW) -> dict[str, object]:
    """What the upstream tells of a halted pair for years: its last day, without anybody who bids or asks."""
    zero = "0.00000000"
    return statistics(symbol, closeTime=int(at * 1000), bidPrice=zero, askPrice=zero)


@pytest.mark.parametrize("status", ["BREAK", "HALT"])
async def test_halted_pair_is_gone_with_the_next_listing(fake: FakeBinance, status: str) -> None:
    """However new its last statistics are."""
    now = [NOW]
    fake.clock.now = lambda: now[0]
    adapter = provider(fake, "BTC/USDT", "ETH/USDT", clock=lambda: now[0])
    await first_updates(adapter)
    fake.listing = [row | {"status": status} if row["baseAsset"] == "ETH" else row for row in LISTING]
    now[0] += LISTING_SECONDS
    update = await first_updates(adapter)
    assert [quote.key for quote in update.quotes] == ["BTC/USDT"]
    assert update.removed == ["ETH/USDT"]


async def test_pair_that_stopped_a_day_ago_is_removed(fake: FakeBinance) -> None:
    """Its price and change are of a day that is over; the connection and the other pairs go on."""
    now = [NOW - 23 * HOUR_SECONDS]
    fake.clock.now = lambda: now[0]
    adapter = provider(fake, "BTC/USDT", "ETH/USDT", clock=lambda: now[0])
    fake.statistics["ETHUSDT"] = halted("ETHUSDT", NOW - 30 * HOUR_SECONDS)
    async with asyncio.timeout(20), aclosing(adapter.updates()) as updates:
        began = await anext(updates)
        assert {quote.key for quote in began.quotes} == {"BTC/USDT", "ETH/USDT"}
        del fake.statistics["ETHUSDT"]
        now[0] += 18 * HOUR_SECONDS
        gone: list[str] = []
        while not gone:
            gone += (await anext(updates)).removed
    assert gone == ["ETH/USDT"]


async def test_statistics_of_a_day_that_is_over_are_no_quote(fake: FakeBinance) -> None:
    """They would show yesterday's price and change as those of now."""
    fake.statistics["ETHUSDT"] = halted("ETHUSDT", NOW - DAY_SECONDS)
    adapter = provider(fake, "BTC/USDT", "ETH/USDT")
    assert [quote.key for quote in (await first_updates(adapter)).quotes] == ["BTC/USDT"]
    assert adapter.statistics()["halted"] == 1


async def test_pair_that_trades_again_is_back(fake: FakeBinance) -> None:
    """At whatever price: it is not judged by one of long ago."""
    now = [NOW]
    fake.clock.now = lambda: now[0]
    adapter = provider(fake, "BTC/USDT", "ETH/USDT", clock=lambda: now[0])
    fake.statistics["ETHUSDT"] = halted("ETHUSDT")
    await first_updates(adapter)
    now[0] += DAY_SECONDS
    assert [quote.key for quote in (await first_updates(adapter)).quotes] == ["BTC/USDT"]
    fake.statistics["ETHUSDT"] = statistics("ETHUSDT", "2000")
    assert {quote.key: quote.price for quote in (await first_updates(adapter)).quotes}["ETH/USDT"] == 2000
