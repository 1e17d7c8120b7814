"""Our own adapter against a simulated Coinbase Exchange."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest

from quotecast.market.bars import bar_time
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.coinbase.client import CoinbaseProvider
from quotecast.providers.coinbase.history import CoinbaseHistory
from quotecast.simulation.vendors.market import Market
from support.servers.coinbase_simulated import NOW, Session


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    session = Session(Market(3), rate=5000)
    async with session.server:
        yield session


async def test_quotes_of_all_products_are_those_of_the_market(session: Session) -> None:
    """Nothing is refused, and changes are over the last 24 hours."""
    server, market = session.server, session.market
    adapter = CoinbaseProvider(server.url, server.websocket_url, clock=lambda: session.clock.moment() / 1000)
    quotes: dict[str, CryptoQuote] = {}
    async with aclosing(adapter.updates()) as updates:
        async for update in updates:
            quotes |= {quote.key: quote for quote in update.quotes if isinstance(quote, CryptoQuote)}
            if len(quotes) == len(market.pairs):
                break
            session.pass_time(20)
    assert quotes.keys() == market.pairs.keys()
    assert adapter.statistics() == {}
    for symbol, quote in quotes.items():
        price = market.price(symbol, NOW)
        assert quote.price == pytest.approx(price.price, rel=0.01)
        assert quote.name == market.pairs[symbol].name


async def test_history_is_that_of_the_market(session: Session) -> None:
    """Several pages make one history."""
    now = datetime.fromtimestamp(NOW / 1000, UTC)
    start = now - timedelta(hours=10)
    bars = await CoinbaseHistory(session.server.url).bars("BTC/USD", "1m", start, now)
    expected = session.market.bars("BTC/USD", "1m", int(start.timestamp() * 1000), NOW - 1)
    assert [(bar.time, bar.open, bar.close) for bar in bars] == [
        (bar_time(datetime.fromtimestamp(bar.start / 1000, UTC)), bar.open, bar.close) for bar in expected
    ]
    assert len(bars) == 600
