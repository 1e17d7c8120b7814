"""Canonical spellings of symbols."""

import pytest

from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol


@pytest.mark.parametrize(
    ("feed", "text", "spelled"),
    [
        (Feed.STOCKS, " aapl ", "AAPL"),
        (Feed.STOCKS, "brk.b", "BRK.B"),
        (Feed.CRYPTO, "btc-usdt", "BTC/USDT"),
        (Feed.CRYPTO, "BTC/usdt", "BTC/USDT"),
        (Feed.DOVIZ, "Gram-Altin", "gram-altin"),
        (Feed.DOVIZ, "AKBANK-usd", "akbank-usd"),
    ],
)
def test_every_way_to_write_a_symbol_has_one_spelling(feed: Feed, text: str, spelled: str) -> None:
    """Case, blanks and the separator of pairs do not matter."""
    assert canonical_symbol(feed, text) == spelled


@pytest.mark.parametrize("text", ["", " ", "A" * 41, "../x", "A\r\nB", "A%2fB", "ŞIŞE", "A B", "A\0"])
@pytest.mark.parametrize("feed", Feed)
def test_text_that_cannot_be_a_symbol_is_refused(feed: Feed, text: str) -> None:
    """A symbol has only letters, digits, dot, dash and one slash."""
    assert canonical_symbol(feed, text) is None
