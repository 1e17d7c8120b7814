"""Conversion of Alpaca's REST rows to bars, articles and assets."""

import math
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from fakes.alpaca_rows import asset, story
from quotecast.market.assets import Asset
from quotecast.market.bars import Bar, bar_time
from quotecast.market.calendars import EXCHANGE
from quotecast.market.news import Article, NewsImage
from quotecast.market.reference import Stock
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.bar_rows import BarRequest, bars
from quotecast.providers.alpaca.rest_wire import AssetRow, Story
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import to_bar
from quotecast.providers.validation.rows import decode_rows

NOON = datetime(2026, 11, 19, 17, tzinfo=UTC)
ROW: dict[str, Any] = {
    "t": "2026-11-19T17:00:00Z", "o": 228, "h": "230.5", "l": 227.0, "c": 229.1,
    "v": 41_000_000, "n": 400_000, "vw": 228.8,
}  # fmt: skip
APPLE = Stock("AAPL", "Apple", "NASDAQ", "Information Technology", "Hardware", 1, 1.0)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def bar(**changes: Any) -> Bar | None:
    return to_bar(msgspec.convert(ROW | changes, wire.AlpacaBar), NOON)


def article(**changes: Any) -> Article | None:
    return msgspec.convert(story(**changes), Story).to_article(NOON.timestamp())


def asset_of(**changes: Any) -> Asset | None:
    return msgspec.convert(asset("AAPL") | changes, AssetRow).to_asset({"AAPL": APPLE})


def test_row_becomes_a_bar() -> None:
    """Numbers may be integers or strings."""
    assert bar() == Bar("2026-11-19T17:00:00Z", 228.0, 230.5, 227.0, 229.1, 41_000_000.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"o": 0}, {"h": None}, {"l": -1}, {"c": "NaN"}, {"c": 1e30}, {"v": -1},
        {"v": None}, {"h": 226}, {"l": 231},
    ],
    ids=str,
)  # fmt: skip
def test_row_with_a_bad_value_is_no_bar(changes: Any) -> None:
    """A row with a price of zero, or a low above its high, is not a bar."""
    assert bar(**changes) is None


@given(st.fixed_dictionaries({}, optional=dict.fromkeys("ohlcv", anything)))
def test_any_row_yields_a_valid_bar_or_none(changes: dict[str, Any]) -> None:
    """Any row is either rejected or a finite, positive bar within its high and low."""
    raw = Raw(msgspec.json.encode(ROW | changes))
    for row in decode_rows([raw], wire.AlpacaBar, RefusalCounter("test")):
        if made := to_bar(row, NOON):
            assert 0 < made.low <= min(made.open, made.close)
            assert max(made.open, made.close) <= made.high < math.inf
            assert 0 <= made.volume < math.inf


@given(st.permutations(range(30)), st.sets(st.integers(0, 29), max_size=5))
def test_bars_do_not_depend_on_the_order_of_rows(order: list[int], repeated: set[int]) -> None:
    """Bars ascend with one bar per time, in whatever order rows arrive."""
    request = BarRequest("sip", "1Min", NOON, NOON.replace(hour=18))
    times = [bar_time(NOON.replace(minute=number)) for number in range(30)]
    raws = [Raw(msgspec.json.encode(ROW | {"t": times[number]})) for number in [*order, *repeated]]
    refused = RefusalCounter("test")
    found = bars([(request, raws)], EXCHANGE, "1m", NOON.replace(hour=18), refused)
    assert [each.time for each in found] == times
    assert not refused.by_reason()


@given(st.lists(st.sampled_from([10.0, 11.0, 10_000.0]), min_size=3, max_size=12))
def test_single_outlier_is_rejected_and_a_lasting_jump_is_not(closes: list[float]) -> None:
    """A single close far from its neighbours is rejected; a lasting jump is not."""
    request = BarRequest("sip", "1Min", NOON, NOON.replace(hour=18))
    rows = [
        ROW | {"t": bar_time(NOON.replace(minute=number)), "o": close, "h": close, "l": close, "c": close}
        for number, close in enumerate(closes)
    ]
    raws = [Raw(msgspec.json.encode(row)) for row in rows]
    refused = RefusalCounter("test")
    found = bars([(request, raws)], EXCHANGE, "1m", NOON.replace(hour=18), refused)
    assert len(found) + refused.by_reason().get("absurd", 0) == len(closes)
    if closes.count(10_000.0) == 1:
        assert 10_000.0 not in {each.close for each in found}
        assert len(found) == len(closes) - 1
    if 10_000.0 not in closes:
        assert len(found) == len(closes)


def test_story_becomes_an_article() -> None:
    """The adapter leaves texts as they are; one place cleans them for all upstreams."""
    assert article() == Article(
        id="40000001",
        headline="Example &amp; headline",
        summary="",
        author="A. Writer",
        source="benzinga",
        url="https://www.example.com/40000001",
        images=[NewsImage("thumb", "https://img.example.com/t.jpg")],
        symbols=["AAPL", "BTCUSD"],
        created_at="2026-11-19T14:00:01Z",
        updated_at="2026-11-19T14:00:02Z",
    )


def test_story_of_nulls_is_an_article_too() -> None:
    """A headline and one time are enough for an article."""
    nulls = dict.fromkeys(("summary", "author", "source", "url", "images", "symbols", "created_at"))
    made = article(**nulls)
    assert made
    assert (made.summary, made.author, made.source, made.url) == ("", "", "", None)
    assert (made.images, made.symbols) == ([], [])
    assert made.created_at == made.updated_at == "2026-11-19T14:00:02Z"


def test_parts_of_a_story_that_are_none_are_left_out() -> None:
    """The article omits images without a URL, invalid symbols and duplicate symbols."""
    made = article(
        images=[None, {"size": "large"}, {"url": "http://a.b"}], symbols=["brk.b", None, "", "A B", "BRK.B"]
    )
    assert made
    assert (made.images, made.symbols) == ([NewsImage("", "http://a.b")], ["BRK.B"])


@pytest.mark.parametrize("changes", [{"headline": " "}, {"created_at": "x", "updated_at": None}], ids=str)
def test_story_without_a_headline_or_a_time_is_none(changes: Any) -> None:
    assert article(**changes) is None


def test_story_from_the_future_is_of_now() -> None:
    made = article(created_at="2026-11-19T17:30:00Z", updated_at="2026-11-19T17:30:00Z")
    assert made
    assert made.created_at == made.updated_at == "2026-11-19T17:00:00Z"


def test_asset_has_what_is_known_of_the_company() -> None:
    """Sector and industry come from the reference table, because Alpaca has neither."""
    assert asset_of() == Asset(
        ticker="AAPL",
        name="Apple",
        exchange="NASDAQ",
        sector="Information Technology",
        industry="Hardware",
        tradable=True,
    )


def test_unknown_company_is_named_as_the_upstream_says() -> None:
    made = asset_of(symbol="NEW.A", name=" New Inc. ", exchange="", tradable=None)
    assert made == Asset(ticker="NEW.A", name="New Inc.", exchange="", tradable=False)
    assert asset_of(symbol="NEW.A", name=None) == Asset(ticker="NEW.A", name="NEW.A", exchange="NASDAQ")


@pytest.mark.parametrize("symbol", ["", "BTC/USD", "A B", "X" * 13])
def test_asset_whose_symbol_is_no_ticker_is_none(symbol: str) -> None:
    assert asset_of(symbol=symbol) is None


@given(st.lists(anything, max_size=5))
def test_rows_of_any_shape_are_read_or_counted(values: list[Any]) -> None:
    """Each row of any shape is decoded or counted."""
    for kind in (wire.AlpacaBar, Story, AssetRow):
        refused = RefusalCounter("test")
        read = decode_rows([Raw(msgspec.json.encode(value)) for value in values], kind, refused)
        assert len(read) + refused.by_reason().get("malformed", 0) == len(values)
