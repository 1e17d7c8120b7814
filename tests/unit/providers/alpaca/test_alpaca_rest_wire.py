"""Alpaca's bars, news, assets and trading days, as REST answers them."""

import math
from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from fakes.alpaca_rows import asset, calendar_row, story
from quotecast.market.assets import Asset
from quotecast.market.bars import Bar, stamp
from quotecast.market.calendars import EXCHANGE
from quotecast.market.news import Article, NewsImage
from quotecast.market.sessions import TradingDay, trading_day, trading_days_between
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.bar_rows import bars
from quotecast.providers.alpaca.rest_wire import AssetRow, CalendarRow, Story
from quotecast.providers.alpaca.stretches import Stretch
from quotecast.providers.reference import Stock
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
    return to_bar(msgspec.convert(ROW | changes, wire.Bar), NOON)


def article(**changes: Any) -> Article | None:
    return msgspec.convert(story(**changes), Story).to_article(NOON.timestamp())


def listed(**changes: Any) -> Asset | None:
    return msgspec.convert(asset("AAPL") | changes, AssetRow).to_asset({"AAPL": APPLE})


def test_row_becomes_a_bar() -> None:
    """Integers and texts are read alike."""
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
    """A price of zero, a low above the high."""
    assert bar(**changes) is None


@given(st.fixed_dictionaries({}, optional=dict.fromkeys("ohlcv", anything)))
def test_no_row_makes_a_bar_that_cannot_be(changes: dict[str, Any]) -> None:
    """Whatever is sent: it is refused, or it is finite, above zero and within its extremes."""
    raw = Raw(msgspec.json.encode(ROW | changes))
    for row in decode_rows([raw], wire.Bar, RefusalCounter("test")):
        if made := to_bar(row, NOON):
            assert 0 < made.low <= min(made.open, made.close)
            assert max(made.open, made.close) <= made.high < math.inf
            assert 0 <= made.volume < math.inf


@given(st.permutations(range(30)), st.sets(st.integers(0, 29), max_size=5))
def test_bars_do_not_depend_on_the_order_of_rows(order: list[int], repeated: set[int]) -> None:
    """They ascend, each time once."""
    stretch = Stretch("sip", "1Min", NOON, NOON.replace(hour=18))
    times = [stamp(NOON.replace(minute=number)) for number in range(30)]
    raws = [Raw(msgspec.json.encode(ROW | {"t": times[number]})) for number in [*order, *repeated]]
    refused = RefusalCounter("test")
    found = bars([(stretch, raws)], EXCHANGE, "1m", NOON.replace(hour=18), refused)
    assert [each.time for each in found] == times
    assert not refused.by_reason()


@given(st.lists(st.sampled_from([10.0, 11.0, 10_000.0]), min_size=3, max_size=12))
def test_lone_leap_is_not_believed_and_a_lasting_one_is(closes: list[float]) -> None:
    """No bar stands alone between others that are far from it."""
    stretch = Stretch("sip", "1Min", NOON, NOON.replace(hour=18))
    rows = [
        ROW | {"t": stamp(NOON.replace(minute=number)), "o": close, "h": close, "l": close, "c": close}
        for number, close in enumerate(closes)
    ]
    raws = [Raw(msgspec.json.encode(row)) for row in rows]
    refused = RefusalCounter("test")
    found = bars([(stretch, raws)], EXCHANGE, "1m", NOON.replace(hour=18), refused)
    assert len(found) + refused.by_reason().get("absurd", 0) == len(closes)
    if closes.count(10_000.0) == 1:
        assert 10_000.0 not in {each.close for each in found}
        assert len(found) == len(closes) - 1
    if 10_000.0 not in closes:
        assert len(found) == len(closes)


def test_story_becomes_an_article() -> None:
    """Texts as they are: they are cleaned for all upstreams in one place."""
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
    """A headline and one time are enough."""
    nulls = dict.fromkeys(("summary", "author", "source", "url", "images", "symbols", "created_at"))
    made = article(**nulls)
    assert made
    assert (made.summary, made.author, made.source, made.url) == ("", "", "", None)
    assert (made.images, made.symbols) == ([], [])
    assert made.created_at == made.updated_at == "2026-11-19T14:00:02Z"


def test_parts_of_a_story_that_are_none_are_left_out() -> None:
    """Pictures without an address; symbols that are none, or that come twice."""
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
    """Alpaca knows neither sector nor industry."""
    assert listed() == Asset(
        ticker="AAPL",
        name="Apple",
        exchange="NASDAQ",
        sector="Information Technology",
        industry="Hardware",
        tradable=True,
    )


def test_unknown_company_is_named_as_the_upstream_says() -> None:
    made = listed(symbol="NEW.A", name=" New Inc. ", exchange="", tradable=None)
    assert made == Asset(ticker="NEW.A", name="New Inc.", exchange="", tradable=False)
    assert listed(symbol="NEW.A", name=None) == Asset(ticker="NEW.A", name="NEW.A", exchange="NASDAQ")


@pytest.mark.parametrize("symbol", ["", "BTC/USD", "A B", "X" * 13])
def test_asset_whose_symbol_is_no_ticker_is_none(symbol: str) -> None:
    assert listed(symbol=symbol) is None


@pytest.mark.parametrize("day", [*trading_days_between(date(2026, 11, 20), date(2026, 11, 30))], ids=str)
def test_trading_days_are_those_of_our_own_calendar(day: TradingDay) -> None:
    """The half day after Thanksgiving is among them."""
    assert msgspec.convert(calendar_row(day), CalendarRow).to_day() == day
    without = {"session_open": None, "session_close": None}
    regular = msgspec.convert(calendar_row(day) | without, CalendarRow).to_day()
    assert regular == replace(day, pre_open=day.open, post_close=day.close)


@pytest.mark.parametrize(
    "changes",
    [
        {"date": "soon"}, {"open": "25:00"}, {"close": "09:00"}, {"session_open": "1000"},
        {"session_close": "1200"}, {"close": ""},
    ],
    ids=str,
)  # fmt: skip
def test_day_that_cannot_be_is_none(changes: Any) -> None:
    """Unreadable, or with a close before its opening."""
    friday = trading_day(date(2026, 11, 20))
    assert friday
    row = calendar_row(friday) | changes
    assert msgspec.convert(row, CalendarRow).to_day() is None


@given(st.lists(anything, max_size=5))
def test_rows_of_any_shape_are_read_or_counted(values: list[Any]) -> None:
    """One by one, whatever they are."""
    for kind in (wire.Bar, Story, AssetRow, CalendarRow):
        refused = RefusalCounter("test")
        read = decode_rows([Raw(msgspec.json.encode(value)) for value in values], kind, refused)
        assert len(read) + refused.by_reason().get("malformed", 0) == len(values)
