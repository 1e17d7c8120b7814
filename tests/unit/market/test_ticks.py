"""Tick sizes of instruments."""

import pytest

from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote, DovizQuote, StockQuote
from quotecast.market.ticks import decimals_of_quote, tick_size


def bar(price: float) -> Bar:
    return Bar("2026-11-20T15:00:00Z", price, price, price, price, 1.0)


def pair(price: float, bid: float | None = None) -> CryptoQuote:
    return CryptoQuote(
        provider="test", exchange="Test", ticker="A/B", name="A", symbol="A", price=price, bid=bid
    )


@pytest.mark.parametrize(("price", "tick"), [(299.23, "0.01"), (1.0, "0.01"), (0.9999, "0.0001")])
def test_stocks_follow_the_rule_of_the_exchanges(price: float, tick: str) -> None:
    """A stock of a dollar or more moves in cents, whatever the decimals of single trades."""
    quote = StockQuote(ticker="A", name="A", price=price)
    assert tick_size(Feed.STOCKS, decimals_of_quote(quote), [bar(1.234567)]) == tick


@pytest.mark.parametrize(
    ("quote", "tick"),
    [
        (pair(107901.38), "0.01"),
        (pair(107901.0, bid=107900.9), "0.1"),
        (pair(0.00001234), "0.00000001"),
        (pair(1e-05), "0.00001"),
        (pair(5.0), "1"),
        (pair(1e-15), "0.000000000001"),
    ],
)
def test_a_pair_has_the_decimals_of_its_prices(quote: CryptoQuote, tick: str) -> None:
    assert tick_size(Feed.CRYPTO, decimals_of_quote(quote), []) == tick


def test_bars_have_decimals_that_the_quote_happens_to_lack() -> None:
    """A price that ends in zeros says less than the bars before it."""
    quote = DovizQuote(
        provider="test",
        symbol="USD",
        name="USD",
        category="currency",
        source="Test",
        unit="1 USD",
        currency="TRY",
        buying=44.1,
        selling=44.2,
        price=44.2,
    )
    assert tick_size(Feed.DOVIZ, decimals_of_quote(quote), []) == "0.1"
    assert tick_size(Feed.DOVIZ, decimals_of_quote(quote), [bar(44.1813), bar(44.2)]) == "0.0001"
