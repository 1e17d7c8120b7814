"""A fake Binance with a few pairs, and the adapter that reads it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import pytest

from fakes.binance import FakeBinance
from fakes.binance_rows import listing_row, statistics
from quotecast.errors import UpstreamError
from quotecast.providers.base import Update
from quotecast.providers.binance.client import BinanceProvider
from support.runs.deadlines import scaled

NOW = 1_795_118_400.0
INFO = "/api/v3/exchangeInfo"
DAY = "/api/v3/ticker/24hr"
STREAM = "/stream"

LISTING = [
    listing_row("BTC"),
    listing_row("ETH"),
    listing_row("NEWCOIN"),
    listing_row("BTC", "TRY"),
    listing_row("OLD", status="BREAK"),
    listing_row("币安人生"),
]


@contextlib.asynccontextmanager
async def running_binance() -> AsyncIterator[FakeBinance]:
    """Yields a fake with the listing; every price is 100."""
    async with FakeBinance(LISTING) as fake:
        fake.clock.now = lambda: NOW
        fake.statistics = {row["symbol"]: statistics(row["symbol"]) for row in LISTING}
        yield fake


def provider(
    fake: FakeBinance, *pairs: str, clock: Callable[[], float] = lambda: NOW, **other: Any
) -> BinanceProvider:
    return BinanceProvider(fake.url, fake.websocket_url, pairs, clock=clock, **other)


async def first_updates(adapter: BinanceProvider) -> Update:
    """Returns the first updates of a connection."""
    async with asyncio.timeout(scaled(10)), aclosing(adapter.updates()) as updates:
        return await anext(updates)


async def connection_error(adapter: BinanceProvider) -> UpstreamError:
    """Returns the error that ends the connection."""
    async with asyncio.timeout(scaled(10)):
        with pytest.raises(UpstreamError) as caught:
            async for _ in adapter.updates():
                pass
    return caught.value
