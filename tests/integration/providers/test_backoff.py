"""Upstreams that answer and hang up are dialled ever less often; a minute of life forgives them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import pytest

from fakes.alpaca_stream import trade
from fakes.binance import FakeBinance
from fakes.binance_rows import statistics
from fakes.coinbase import FakeCoinbase, ScriptMessage
from fakes.kraken import FakeKraken, ticker
from quotecast.ingest.supervise import pump
from quotecast.providers.base import QuoteProvider, Update
from quotecast.providers.binance.client import BinanceProvider
from quotecast.providers.coinbase.client import CoinbaseProvider
from quotecast.providers.kraken.client import KrakenProvider
from support.made.alpaca import AAPL
from support.made.binance import LISTING
from support.servers.alpaca_local import LocalAlpaca, local_alpaca

DOUBLING = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


@asynccontextmanager
async def binance() -> AsyncIterator[QuoteProvider]:
    async with FakeBinance(LISTING) as fake:
        fake.statistics = {"BTCUSDT": statistics("BTCUSDT", "92000.00", "91900.00")}
        fake.ending = "abort"
        yield BinanceProvider(fake.url, fake.websocket_url, ["BTC/USDT"])


@asynccontextmanager
async def coinbase() -> AsyncIterator[QuoteProvider]:
    async with FakeCoinbase([{"id": "BTC-USD", "status": "online", "trading_disabled": False}]) as fake:
        fake.script = [ScriptMessage('{"type":"ticker","product_id":"BTC-USD","price":"92000.00"}')]
        fake.ending = "abort"
        yield CoinbaseProvider(fake.url, fake.websocket_url)


@asynccontextmanager
async def kraken() -> AsyncIterator[QuoteProvider]:
    async with FakeKraken() as fake:
        fake.tickers = {"BTC/USD": ticker("BTC/USD", 92_000.0)}
        fake.ending = "abort"
        yield KrakenProvider(f"{fake.websocket_url}/v2", ["BTC/USD"])


Upstream = Callable[[], AbstractAsyncContextManager[QuoteProvider]]


class Enough(Exception):
    """As many pauses as the test wanted."""


async def pauses(provider: QuoteProvider, number: int, life: float) -> list[float]:
    """The first pauses between connections that each live for `life` seconds after an update."""
    seconds: list[float] = []
    now = 1000.0

    def take(_: Update) -> None:
        nonlocal now
        now += life

    async def sleep(wait: float) -> None:
        seconds.append(wait)
        if len(seconds) == number:
            raise Enough

    with pytest.raises(Enough):
        await pump(provider, take, sleep=sleep, chance=lambda: 1.0, clock=lambda: now)
    return seconds


@pytest.mark.parametrize("upstream", [binance, coinbase, kraken])
async def test_upstream_that_answers_and_hangs_up_is_dialled_ever_less_often(upstream: Upstream) -> None:
    async with upstream() as provider:
        assert await pauses(provider, len(DOUBLING), life=1.0) == DOUBLING


@pytest.mark.parametrize("upstream", [binance, coinbase, kraken])
async def test_minute_of_life_starts_the_delays_over(upstream: Upstream) -> None:
    async with upstream() as provider:
        assert await pauses(provider, 3, life=60.0) == [0.5, 0.5, 0.5]


async def pauses_of_stream(alpaca: LocalAlpaca, number: int, life: float) -> list[float]:
    """The first pauses of a stream that hangs up `life` seconds after a trade."""
    seconds = []
    async with aclosing(alpaca.provider([AAPL]).updates()) as updates:
        await anext(updates)
        for connection in range(1, number + 1):
            await alpaca.stream.until_subscribed(connection)
            await alpaca.stream.say(trade("AAPL", 231.0 + connection / 10, "2026-11-19T17:00:00Z"))
            await anext(updates)
            alpaca.now += life
            alpaca.stream.abort()
            seconds.append(await alpaca.tries.end())
    return seconds


async def test_alpacas_stream_that_hangs_up_is_dialled_ever_less_often() -> None:
    async with local_alpaca() as alpaca:
        assert await pauses_of_stream(alpaca, 4, life=1.0) == [0.5, 1.0, 2.0, 4.0]


async def test_minute_of_life_starts_the_delays_of_alpacas_stream_over() -> None:
    async with local_alpaca() as alpaca:
        assert await pauses_of_stream(alpaca, 3, life=60.0) == [0.5, 0.5, 0.5]
