"""The names of feeds."""

import pytest

from quotecast.market.feeds import Feed, feed_named


@pytest.mark.parametrize(
    ("name", "feed"),
    [
        ("stocks", Feed.STOCKS),
        ("market", Feed.STOCKS),
        ("stock", Feed.STOCKS),
        (" Crypto", Feed.CRYPTO),
        ("doviz", Feed.DOVIZ),
        ("markets", None),
        ("", None),
    ],
)
def test_a_feed_answers_to_its_names(name: str, feed: Feed | None) -> None:
    """Paths and frames say `market`, settings and tools `stocks`, lists of instruments `stock`."""
    assert feed_named(name) is feed
