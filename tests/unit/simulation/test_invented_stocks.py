"""A market larger than the table: invented stocks beside its companies."""

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from quotecast.errors import SettingsError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.reference import stocks
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.settings.loading import load
from quotecast.simulation.market.history import SimulatorHistory
from quotecast.simulation.market.invented import MAX_STOCKS, TABLE_STOCKS, SimulatorAssets, listed_stocks

NOON = datetime(2026, 2, 13, 17, tzinfo=UTC).timestamp()


def test_default_market_is_the_table() -> None:
    """Without a number the market has the companies of the table and no others."""
    assert listed_stocks(TABLE_STOCKS) == stocks()


def test_largest_market_has_distinct_tickers_in_order() -> None:
    """Every ticker is valid and comes once, in the order of tickers; the table's companies are among them."""
    listed = listed_stocks(MAX_STOCKS)
    tickers = [stock.ticker for stock in listed]
    assert len(tickers) == MAX_STOCKS
    assert tickers == sorted(set(tickers))
    assert {*stocks()} <= {*listed}
    assert all(canonical_symbol(Feed.STOCKS, ticker) == ticker for ticker in tickers)


def test_larger_market_has_the_stocks_of_a_smaller_one() -> None:
    """An invented stock does not depend on the size of the market."""
    assert {*listed_stocks(2_000)} < {*listed_stocks(3_000)}


def test_invented_stocks_are_plausible() -> None:
    """They have names, a price of dollars, shares, and the sectors of the table or of funds."""
    invented = [stock for stock in listed_stocks(3_000) if stock not in {*stocks()}]
    sectors = {stock.sector for stock in stocks()}
    assert {stock.sector for stock in invented} == sectors | {"Funds"}
    assert all(3 <= stock.price <= 300 and stock.shares >= 1_000_000 for stock in invented)
    assert all(stock.name and stock.industry and stock.exchange for stock in invented)


async def test_quotes_assets_and_bars_have_the_same_stocks() -> None:
    """The setting counts for the feed, for the list of stocks and for bars."""
    number = TABLE_STOCKS + 40
    provider = SimulatorProvider(
        Feed.STOCKS, seed=1, rate=50, speed=1, always_open=True, stocks=number, clock=lambda: NOON
    )
    async with aclosing(provider.updates()) as updates:
        quotes = (await anext(updates)).quotes
    assets = await SimulatorAssets(clock=lambda: NOON, stocks=number).assets()
    assert [quote.key for quote in quotes] == [asset.ticker for asset in assets]
    assert len(assets) == number
    ticker = next(asset.ticker for asset in assets if asset.sector == "Funds")
    history = SimulatorHistory(Feed.STOCKS, seed=1, always_open=True, stocks=number, clock=lambda: NOON)
    end = datetime.fromtimestamp(NOON, UTC)
    assert await history.bars(ticker, "D", datetime(2026, 2, 10, tzinfo=UTC), end)


@pytest.mark.slow
async def test_busy_market_ticks_often_enough_to_serve_others() -> None:
    """At 48,000 updates a second no tick has more than a thousand quotes, or little more."""
    now = NOON

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await asyncio.sleep(0)

    provider = SimulatorProvider(
        Feed.STOCKS,
        seed=1,
        rate=48_000,
        speed=1,
        always_open=True,
        stocks=3_000,
        clock=lambda: now,
        sleep=sleep,
    )
    sizes: list[int] = []
    async with aclosing(provider.updates()) as updates:
        await anext(updates)
        async for update in updates:
            sizes.append(len(update.quotes))
            if len(sizes) == 20:
                break
    assert max(sizes) <= 1_300


@pytest.mark.parametrize("number", ["499", "20001", "many"])
def test_setting_has_bounds(number: str) -> None:
    """A number outside the bounds is an error that names the variable."""
    with pytest.raises(SettingsError, match="QUOTECAST_SIMULATOR_STOCKS"):
        load({"QUOTECAST_SIMULATOR_STOCKS": number})
