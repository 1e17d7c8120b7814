"""Our own adapters against a simulated Alpaca."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest

from quotecast.market.bars import bar_time
from quotecast.market.quotes import StockQuote
from quotecast.providers.alpaca.bar_rows import DataFeed
from quotecast.providers.alpaca.client import AlpacaProvider
from quotecast.providers.alpaca.history import AlpacaHistory
from quotecast.providers.alpaca.news import AlpacaNews
from quotecast.providers.alpaca.offer import AlpacaClock
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.alpaca.universe import AlpacaAssets
from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.vendors.market import utc
from support.runs.waits import until
from support.servers.alpaca_simulated import START, SimulatedAlpaca, simulated_alpaca

#: Half an hour after the opening.
NOW = START + 1_810_000


@pytest.fixture
async def alpaca() -> AsyncIterator[SimulatedAlpaca]:
    async with simulated_alpaca(always_open=False, start=NOW, rate=5000.0) as alpaca:
        yield alpaca


def rest_of(alpaca: SimulatedAlpaca) -> AlpacaRest:
    return AlpacaRest(alpaca.server.url, "key", "secret", clock=lambda: alpaca.clock.moment() / 1000)


async def test_quotes_are_those_of_the_market(alpaca: SimulatedAlpaca) -> None:
    """Stocks come by snapshot, and the stream's trades move the largest; nothing is refused."""
    server, market = alpaca.server, alpaca.market
    # Snapshots of all take a second of CPU, and the adapter waits for an answer for five real ones.
    stocks = [*market.stocks.values()][:50]
    adapter = AlpacaProvider(
        rest_of(alpaca),
        server.websocket_url,
        stocks=stocks,
        plan_feed="sip",
        streamed=["AAPL"],
    )
    async with aclosing(adapter.updates()) as updates:
        first = {quote.key: quote for quote in (await anext(updates)).quotes}
        assert first.keys() == {stock.ticker for stock in stocks}
        for ticker, quote in first.items():
            price = market.price(ticker, NOW)
            assert isinstance(quote, StockQuote)
            assert (quote.price, quote.previous_close) == (price.price, price.previous)
            assert (quote.high, quote.low) == (price.high, price.low)
        await until(server.followed)
        alpaca.run(100)
        [moved] = (await anext(updates)).quotes
        assert moved.key == "AAPL"
        assert abs(moved.price / first["AAPL"].price - 1) < 0.01
    assert adapter.statistics() == {}


@pytest.mark.parametrize("plan_feed", ["iex", "sip"])
async def test_history_is_that_of_the_market(alpaca: SimulatedAlpaca, plan_feed: DataFeed) -> None:
    now, start = utc(NOW), utc(NOW) - timedelta(days=2)
    history = AlpacaHistory(rest_of(alpaca), plan_feed=plan_feed)
    bars = await history.bars("AAPL", "1m", start, now)
    expected = alpaca.market.bars("AAPL", "1m", milliseconds(start), NOW - 1)
    wanted = [
        (bar_time(datetime.fromtimestamp(each.start / 1000, UTC)), each.open, each.high, each.close)
        for each in expected
    ]
    assert [(bar.time, bar.open, bar.high, bar.close) for bar in bars] == wanted[: len(bars)]
    assert len(wanted) - len(bars) <= (16 if plan_feed == "iex" else 0)


async def test_news_assets_and_clock_are_read(alpaca: SimulatedAlpaca) -> None:
    rest = rest_of(alpaca)
    articles = await AlpacaNews(rest).news()
    assets = await AlpacaAssets(rest, [*alpaca.market.stocks.values()]).assets()
    assert len(articles) == 500
    assert {asset.ticker for asset in assets} == set(alpaca.market.stocks)
    assert (await AlpacaClock(rest).market_clock()).is_open
