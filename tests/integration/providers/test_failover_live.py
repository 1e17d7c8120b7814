"""Failover between adapters, over real sockets: one upstream dies, and heals."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fakes.binance import FakeBinance
from fakes.binance_rows import statistics
from fakes.kraken import FakeKraken, ticker
from quotecast.ingest.sources import Failover
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.base import Update
from quotecast.providers.binance.client import BinanceProvider
from quotecast.providers.kraken.client import KrakenProvider
from support.made.binance import LISTING
from support.runs.deadlines import scaled
from support.servers.reserved import port_number, reserve_port

PATIENCE = 5.0


async def next_whole(updates: AsyncGenerator[Update, None]) -> dict[str, CryptoQuote]:
    """Returns the quotes by pair of the next complete update."""
    async for update in updates:
        if update.complete and update.quotes:
            return {quote.key: quote for quote in update.quotes if isinstance(quote, CryptoQuote)}
    raise AssertionError


async def serving_binance(port: int) -> FakeBinance:
    fake = await FakeBinance(LISTING, port).__aenter__()
    fake.statistics = {"BTCUSDT": statistics("BTCUSDT", "92000.00", "91900.00")}
    return fake


async def stop(fake: FakeBinance) -> None:
    fake.abort()
    await fake.__aexit__(None, None, None)


async def test_second_upstream_stands_in_until_the_first_heals() -> None:
    """Quotes say where they come from, and never are of both at once."""
    with reserve_port() as held:
        port = port_number(held)
        binance = await serving_binance(port)
        async with FakeKraken() as kraken:
            kraken.tickers = {"BTC/USD": ticker("BTC/USD", 92_100.0)}
            failover = Failover(
                [
                    BinanceProvider(binance.url, binance.websocket_url, ["BTC/USDT"]),
                    KrakenProvider(f"{kraken.websocket_url}/v2", ["BTC/USD"]),
                ],
                patience=PATIENCE,
                gathering=PATIENCE / 10,
            )
            async with aclosing(failover.updates()) as updates, asyncio.timeout(scaled(30)):
                first = await next_whole(updates)
                assert {pair: quote.provider for pair, quote in first.items()} == {"BTC/USDT": "binance"}
                await stop(binance)
                second = await next_whole(updates)
                assert {pair: (quote.provider, quote.exchange) for pair, quote in second.items()} == {
                    "BTC/USD": ("kraken", "Kraken")
                }
                assert failover.name == "kraken"
                healed = await serving_binance(port)
                third = await next_whole(updates)
                assert {pair: quote.provider for pair, quote in third.items()} == {"BTC/USDT": "binance"}
                await kraken.closed.wait()
            await stop(healed)
