"""Binance.US: the same interface, fewer parameters, pairs in dollars, and hours without a trade."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from fakes.binance import FakeBinance
from fakes.binance_rows import listing_row, statistics
from quotecast.errors import SettingsError
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.binance.client import BinanceProvider
from quotecast.providers.binance.wire import US
from quotecast.settings.loading import load
from support.made.binance import INFO, NOW, connection_error, first_updates, provider

LISTING = [
    listing_row("BTC", "USD"),
    listing_row("BTC"),
    listing_row("ETH", "USD"),
    listing_row("OLD", "USD", status="BREAK"),
]


@pytest.fixture
async def fake() -> AsyncIterator[FakeBinance]:
    async with FakeBinance(LISTING) as fake:
        fake.clock.now = lambda: NOW
        fake.listing_parameters = {"symbol", "symbols", "permissions"}
        fake.statistics = {row["symbol"]: statistics(row["symbol"]) for row in LISTING}
        yield fake


def us_provider(fake: FakeBinance, *pairs: str) -> BinanceProvider:
    return provider(fake, *pairs, venue=US)


async def test_pairs_in_dollars_are_found(fake: FakeBinance) -> None:
    """By default those of well-known assets beside the ones in USDT; a halted one is not among them."""
    quotes = (await first_updates(us_provider(fake))).quotes
    assert {quote.key for quote in quotes} == {"BTC/USD", "BTC/USDT", "ETH/USD"}
    assert {(quote.provider, quote.exchange) for quote in quotes if isinstance(quote, CryptoQuote)} == {
        ("binance.us", "Binance.US")
    }
    [quote] = (await first_updates(us_provider(fake, "btc-usd"))).quotes
    assert quote.key == "BTC/USD"


async def test_listing_is_asked_for_without_what_the_venue_does_not_know(fake: FakeBinance) -> None:
    """It refuses parameters of the larger one."""
    await first_updates(us_provider(fake))
    [asked] = [asked for asked in fake.requests if asked.path == INFO]
    assert asked.query == {}


async def test_hours_without_a_trade_are_no_outage(fake: FakeBinance) -> None:
    """While the upstream answers pings, empty updates show that the connection lives."""
    fake.ending = "silence"
    adapter = us_provider(fake, "BTC/USD")
    adapter.silence_seconds = 2.0
    async with asyncio.timeout(20), aclosing(adapter.updates()) as updates:
        assert (await anext(updates)).quotes
        for _ in range(2):
            update = await anext(updates)
            assert (update.quotes, update.removed, update.complete) == ([], [], False)
        await fake.say(statistics("BTCUSD", "101", closeTime=int(NOW * 1000)))
        while not update.quotes:
            update = await anext(updates)
        assert [quote.price for quote in update.quotes] == [101]


async def test_upstream_that_answers_no_ping_is_an_outage(fake: FakeBinance) -> None:
    """The connection is presumed dead."""
    fake.ending = "frozen"
    adapter = us_provider(fake, "BTC/USD")
    adapter.silence_seconds = 2.0
    assert "Binance.US fell silent: no answer to a ping" in str(await connection_error(adapter))


@pytest.mark.parametrize(
    ("url", "websocket_url"),
    [
        ("https://api.binance.us", "wss://data-stream.binance.vision"),
        ("https://data-api.binance.vision", "wss://stream.binance.us:9443"),
    ],
)
def test_hosts_of_two_venues_are_refused(url: str, websocket_url: str) -> None:
    """Quotes of one and bars of the other would make one candle."""
    with pytest.raises(SettingsError, match=r"QUOTECAST_BINANCE_WEBSOCKET_URL: .* of one venue"):
        load(
            {
                "QUOTECAST_CRYPTO": "binance",
                "QUOTECAST_BINANCE_URL": url,
                "QUOTECAST_BINANCE_WEBSOCKET_URL": websocket_url,
            }
        )
