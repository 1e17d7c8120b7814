"""Names of symbols with their feed."""

import pytest

from quotecast_client.names import Feed, split_name


@pytest.mark.parametrize(
    ("name", "feeds", "symbol"),
    [
        ("market:AAPL", ("market",), "AAPL"),
        ("stocks:AAPL", ("market",), "AAPL"),
        ("Stock:all", ("market",), "all"),
        ("crypto:btc-usdt", ("crypto",), "btc-usdt"),
        ("sector:Energy", ("market",), "sector:Energy"),
        ("AAPL", ("market", "doviz"), "AAPL"),
    ],
)
def test_a_name_says_which_feeds_may_have_it(name: str, feeds: tuple[Feed, ...], symbol: str) -> None:
    """`stocks` and `stock` are other names of `market`."""
    assert split_name(name) == (feeds, symbol)
