"""The query of a feed's address."""

from urllib.parse import parse_qs

import pytest

from quotecast.feed.commands import Query
from quotecast.market.feeds import Feed
from quotecast.stream.queries import heartbeat_of, queries_of


@pytest.mark.parametrize(
    "text",
    [
        "",
        "symbols=A,B&interval=1000",
        "symbols=A&symbols=B",
        "symbols",
        "symbols=&&interval==5",
        "a;symbols=A",
    ],
)
def test_address_without_escapes_means_the_same_as_with_them(text: str) -> None:
    """Addresses without escapes are read in a shorter way."""
    escaped = f"{text}&escaped=%41"
    ours, theirs = (queries_of(each.encode(), Feed.STOCKS) for each in (text, escaped))
    assert ours == theirs
    symbols = parse_qs(text, keep_blank_values=True).get("symbols")
    assert ours["market"].symbols == (None if symbols is None else ",".join(symbols))


def test_escapes_and_heartbeats() -> None:
    """Names of pairs have a slash, which browsers escape."""
    query = b"symbols=BTC%2FUSDT+&heartbeat=5"
    assert queries_of(query, Feed.CRYPTO) == {"crypto": Query(symbols="BTC/USDT ")}
    assert heartbeat_of(query) == "5"
    assert heartbeat_of(b"symbols=A") is None


@pytest.mark.parametrize(
    ("text", "feed", "unknown"),
    [
        (b"symbols=AAPL&feilds=price", Feed.STOCKS, ("feilds", "fields")),
        (b"symbol=AAPL", Feed.STOCKS, ("symbol", "symbols")),
        (b"symbols=AAPL&bars-since=x", Feed.STOCKS, ("bars-since", "bars_since")),
        (b"symbols=AAPL&_=17&utm_source=x&t=1", Feed.STOCKS, None),
        (b"symbols=AAPL&ticket=x&at=1&speed=2&heartbeat=5", Feed.STOCKS, None),
        (b"market=AAPL&intervall=500", None, ("intervall", "interval")),
    ],
)
def test_a_misspelt_parameter_is_named(
    text: bytes, feed: Feed | None, unknown: tuple[str, str] | None
) -> None:
    """Others are ignored: cache busters and what analytics add."""
    (query,) = queries_of(text, feed).values()
    assert (query.unknown, query.meant) == (unknown or (None, None))


def test_other_names_of_a_feed_are_its_name() -> None:
    """Two lists of one feed add up, as a repeated one does."""
    query = b"stocks=AAPL&market=MSFT&stock=KO&since=stocks:e-1,crypto:f-2&bars_since=stock:t"
    assert queries_of(query, None) == {
        "market": Query(symbols="AAPL,MSFT,KO", since="e-1", bars_since="t"),
        "crypto": Query(since="f-2"),
    }
    assert queries_of(b"stocks=AAPL&since=none", None) == {"market": Query(symbols="AAPL", since="none")}


def test_a_misspelt_feed_is_no_empty_list() -> None:
    """The session answers a name that is no feed's with the names that there are."""
    assert [*queries_of(b"markt=AAPL", None)] == ["markt"]
