"""Rows, messages, books and limits of the simulated Coinbase Exchange."""

import math

import msgspec
import pytest
from msgspec.structs import replace

from quotecast.providers.coinbase import wire
from quotecast.simulation.vendors.coinbase.book import book_of, changes
from quotecast.simulation.vendors.coinbase.messages import Numbered, ProductWriter
from quotecast.simulation.vendors.coinbase.rows import merge_rows, trade_time
from quotecast.simulation.vendors.market import Market, Price

NOW = 1_795_118_400_000


@pytest.fixture(scope="module")
def market() -> Market:
    return Market(1)


@pytest.fixture
def price(market: Market) -> Price:
    return market.price("BTC/USD", NOW)


def test_ticker_is_what_our_adapter_reads(price: Price) -> None:
    """The recording of a real session has the same fields."""
    message = wire.decode(ProductWriter("BTC-USD", 2).ticker(Numbered(7, price), 1000.5))
    assert isinstance(message, wire.CoinbaseTicker)
    assert (message.product_id, message.sequence, message.time) == ("BTC-USD", 7, trade_time(price))
    shown = [getattr(message, name) for name in ("price", "bid", "ask", "open", "high", "low")]
    expected = [price.price, price.bid, price.ask, price.open, price.high, price.low]
    assert [float(text) for text in shown] == expected
    assert float(str(message.volume)) == pytest.approx(price.volume)


@pytest.mark.parametrize(("bad", "text"), [(math.nan, "NaN"), (0.0, "0.00"), (1e7, "10000000.00")])
def test_bad_price_is_still_a_message(price: Price, bad: float, text: str) -> None:
    """Its text is in the ticker and in the match."""
    writer, newest = ProductWriter("BTC-USD", 2), Numbered(7, replace(price, price=bad))
    assert msgspec.json.decode(writer.ticker(newest, 0.0))["price"] == text
    assert msgspec.json.decode(writer.match(newest))["price"] == text


@pytest.mark.parametrize("symbol", ["SHIB/USD", "XRP/BTC", "DOGE/TRY"])
def test_prices_have_the_decimals_of_their_product(market: Market, symbol: str) -> None:
    """A text reads as the number it was made of."""
    price = market.price(symbol, NOW)
    message = msgspec.json.decode(ProductWriter("X-Y", market.decimals(symbol)).ticker(Numbered(1, price), 0))
    assert (float(message["price"]), float(message["best_ask"])) == (price.price, price.ask)
    book = book_of(price, market.decimals(symbol))
    assert float(next(iter(book.bids))) == price.bid
    assert all(float(level) > 0 for level in book.bids)


def test_changes_lead_from_one_book_to_the_next(market: Market, price: Price) -> None:
    """Equal books have none."""
    before, after = book_of(price, 2), book_of(market.price("BTC/USD", NOW + 5000), 2)
    assert changes(before, before) == []
    sides = {"buy": dict(before.bids), "sell": dict(before.asks)}
    for side, level, size in changes(before, after):
        sides[side][level] = size
    left = {side: {level: size for level, size in of.items() if float(size)} for side, of in sides.items()}
    assert left == {"buy": after.bids, "sell": after.asks}


def test_longer_candles_are_made_of_shorter_ones() -> None:
    """Open of the first, close of the last; a candle without trades has no row."""
    rows = [(0, 1.0, 5.0, 2.0, 3.0, 1.5), (60, 0.5, 4.0, 3.0, 4.0, 0.25), (180, 4.0, 4.0, 4.0, 4.0, 1.0)]
    assert merge_rows(rows, 120) == [(0, 0.5, 5.0, 2.0, 4.0, 1.75), (120, 4.0, 4.0, 4.0, 4.0, 1.0)]
