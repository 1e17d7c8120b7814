"""Coinbase's messages, and the quotes that may be made of them."""

import contextlib
import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.bars import Bar
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.coinbase import wire
from quotecast.providers.coinbase.tickers import CoinbaseTickers

NOON = datetime(2026, 11, 19, 12, tzinfo=UTC).timestamp()
NOON_SECONDS = int(NOON)

TICKER: dict[str, Any] = {
    "type": "ticker",
    "sequence": 10,
    "product_id": "BAND-GBP",
    "price": "14.7775",
    "open_24h": "14.6647",
    "volume_24h": "94381.28000000",
    "low_24h": "14.3691",
    "high_24h": "16.55",
    "best_bid": "14.7550",
    "best_ask": "14.8060",
    "time": "2026-11-19T11:59:59.244075Z",
}


def ticker(**changes: Any) -> wire.CoinbaseTicker:
    message = wire.decode(msgspec.json.encode(TICKER | changes))
    assert isinstance(message, wire.CoinbaseTicker)
    return message


def quote(**changes: Any) -> CryptoQuote:
    made = ticker(**changes).to_quote("BAND/GBP", "Band Protocol", NOON, wire.COINBASE)
    assert made
    return made


def test_ticker_becomes_a_whole_quote() -> None:
    """Every field of the contract comes from the ticker; change is against the price 24 hours ago."""
    assert quote() == CryptoQuote(
        provider="coinbase",
        exchange="Coinbase",
        ticker="BAND/GBP",
        name="Band Protocol",
        symbol="BAND",
        price=14.7775,
        bid=14.755,
        ask=14.806,
        change=0.1128,
        change_percent=0.7692,
        open=14.6647,
        high=16.55,
        low=14.3691,
        volume=94381.28,
        timestamp="2026-11-19T11:59:59.244075Z",
    )


@pytest.mark.parametrize(
    "text", ["NaN", "sNaN", "inf", "-1", "0", "", "1_0", " 1", "٣", "1e400", "1e-400", None]
)
def test_field_that_is_no_price_is_none(text: str | None) -> None:
    """One bad field costs that field, not the quote."""
    made = quote(best_bid=text, best_ask=text, open_24h=text, high_24h=text, low_24h=text)
    assert (made.bid, made.ask, made.open, made.high, made.low) == (None,) * 5
    assert (made.change, made.change_percent) == (None, None)
    assert made.price == 14.7775


@pytest.mark.parametrize("text", ["NaN", "-inf", "-14.7", "0", "0.0", "", "x", "1e999", None])
def test_message_without_a_price_is_no_quote(text: str | None) -> None:
    """Without a price above zero there is no quote."""
    assert ticker(price=text).to_quote("BAND/GBP", "Band", NOON, wire.COINBASE) is None


def test_numbers_may_come_as_json_numbers() -> None:
    """A number is as good as a numeric string, and no volume is a volume of zero."""
    made = quote(price=15, open_24h=14.5, volume_24h="0")
    assert (made.price, made.change, made.volume) == (15.0, 0.5, 0.0)


prices = st.decimals(min_value="0.00000001", max_value=10**9, places=8)


@given(price=prices, opened=prices)
def test_change_is_exact(price: Decimal, opened: Decimal) -> None:
    """The change is the decimal difference as it is written, without the noise of floats."""
    made = quote(price=str(price), open_24h=str(opened))
    assert made.change == float(price - opened)
    assert made.change_percent == round(made.change_percent or 0.0, 4)


@given(
    text=st.text()
    | st.floats().map(str)
    | st.from_regex(r"[0-9]{0,40}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,9})?")
)
def test_no_text_makes_a_number_that_is_not_finite(text: str) -> None:
    """Whatever the upstream writes, a client gets finite numbers or none."""
    for field in ("price", "bid", "ask", "open", "high", "low", "volume"):
        told = msgspec.structs.replace(ticker(), **{field: text}).to_quote(
            "BAND/GBP", "Band", NOON, wire.COINBASE
        )
        numbers = (
            (value for value in msgspec.structs.astuple(told) if isinstance(value, float)) if told else ()
        )
        assert all(map(math.isfinite, numbers))


@pytest.mark.parametrize("text", ["2999-01-01T00:00:00Z", "yesterday", None])
def test_time_that_cannot_be_is_that_of_receipt(text: str | None) -> None:
    """A quote always says how old it is."""
    assert quote(time=text).timestamp == "2026-11-19T12:00:00Z"


@pytest.mark.parametrize("kind", ["change", "last_match", "l2update", "status", "some_day_new"])
def test_other_types_are_nothing(kind: str) -> None:
    """Messages nobody asked for are no error."""
    assert wire.decode(f'{{"type":"{kind}","price":{{}}}}') is None


def test_answers_heartbeats_and_errors_are_told_apart() -> None:
    """Keys that are new do not disturb."""
    answer = wire.decode(
        '{"type":"subscriptions","new":1,"channels":[{"name":"level2","product_ids":["A-B"]},'
        '{"name":"ticker","product_ids":["C-D"],"account_ids":null}]}'
    )
    assert isinstance(answer, wire.Subscriptions)
    assert isinstance(wire.decode('{"type":"heartbeat","product_id":"C-D","sequence":1}'), wire.Heartbeat)
    assert wire.decode('{"type":"error","message":"no","reason":"why"}') == wire.CoinbaseFailure("no", "why")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b"<html>",
        b'{"price":"1"}',
        b'{"type":"ticker"}',
        b'{"type":"ticker","product_id":7}',
        b'{"type":"ticker","product_id":"A-B","price":NaN}',
        b'{"type":"ticker","product_id":"\xff"}',
        b'{"type":"ticker","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b',"type":"new"}',
    ],
)
def test_what_is_no_message_is_an_error(raw: bytes) -> None:
    """A reader of messages has two errors to count."""
    with pytest.raises((ValueError, RecursionError)):
        wire.decode(raw)


@given(st.binary())
def test_random_bytes_raise_value_error_or_are_a_message(raw: bytes) -> None:
    """Nothing but ValueError ever comes out."""
    with contextlib.suppress(ValueError):
        wire.decode(raw)


def test_rows_say_whether_a_product_trades() -> None:
    """Only what is online and not disabled trades."""
    rows = msgspec.json.decode(
        b'[{"id":"A-B","status":"online","trading_disabled":false,"auction_mode":false},'
        b'{"id":"C-D","status":"delisted"},{"id":"E-F","status":"online","trading_disabled":true}]',
        type=list[wire.Product],
    )
    assert [row.id for row in rows if row.tradable] == ["A-B"]


def test_subscribe_asks_for_tickers_trades_and_heartbeats() -> None:
    """The message is the one Coinbase documents."""
    assert msgspec.json.decode(wire.subscribe(["A-B"])) == {
        "type": "subscribe",
        "product_ids": ["A-B"],
        "channels": ["ticker", "matches", "heartbeat"],
    }


def test_name_is_the_upstreams_then_ours_then_the_symbol() -> None:
    """A quote always has a name."""
    tickers = CoinbaseTickers()

    def name(product: str) -> str | None:
        made = tickers.quote(ticker(product_id=product), NOON)
        return made.name if made else None

    tickers.learn_names({"BAND": "Band the Upstream's"})
    assert name("BAND-GBP") == "Band the Upstream's"
    assert name("BTC-USD") == "Bitcoin"
    assert name("QZQZQZ-USD") == "QZQZQZ"


@pytest.mark.parametrize("product", ["", "BAND", "BAND-GBP-X", "../etc", "ŞIŞE-GBP", "A" * 50 + "-B"])
def test_product_that_is_no_pair_is_refused(product: str) -> None:
    """Only pairs get through."""
    tickers = CoinbaseTickers()
    assert tickers.quote(ticker(product_id=product), NOON) is None
    assert tickers.statistics() == {"unreadable": 1}


def test_price_that_cannot_be_believed_makes_no_quote() -> None:
    """Neither an older one than the last nor one far from it."""
    tickers = CoinbaseTickers()
    assert tickers.quote(ticker(sequence=10), NOON)
    assert tickers.quote(ticker(sequence=9, price="14.7"), NOON) is None
    assert tickers.quote(ticker(sequence=11, price="147.776"), NOON) is None
    assert tickers.statistics() == {"outdated": 1, "absurd": 1}
    assert tickers.quote(ticker(sequence=12, price="14.8"), NOON)


def test_products_no_longer_followed_are_named_and_forgotten() -> None:
    """`keep_only` returns each forgotten pair once."""
    tickers = CoinbaseTickers()
    assert tickers.quote(ticker(), NOON)
    assert tickers.keep_only(["BTC/USD"]) == ["BAND/GBP"]
    assert tickers.keep_only([]) == []


def candle(*values: object) -> Bar | None:
    """Of time, low, high, open, close and volume."""
    return msgspec.json.decode(msgspec.json.encode(values), type=wire.CoinbaseCandle).to_bar()


def test_candle_becomes_a_bar() -> None:
    """Low comes before high in it; what may come after the volume is ignored."""
    expected = Bar("2026-11-19T12:00:00Z", open=92.0, high=93.5, low=90.25, close=91.0, volume=0.125)
    assert candle(NOON_SECONDS, 90.25, 93.5, 92, 91, 0.125) == expected
    assert candle(NOON_SECONDS, "90.25", "93.5", "92", "91", "0.125", "new") == expected


@pytest.mark.parametrize(
    "values",
    [
        (0, 2, 1, 1, 1),
        (-1, 2, 1, 1, 1),
        (None, 2, 1, 1, 1),
        (1, "NaN", 1, 1, 1),
        (1, 2, 0, 1, 1),
        (1, 2, 1, 1e300, 1),
        (1, 2, 1, 1, -1),
        (1, 2, 1, 1, None),
        (2, 1, 1, 1, 1),
        (1.5, 2, 0.1, 2, 1),
        (1, 2, 1, 20.5, 1),
    ],
)
def test_candle_with_a_value_that_cannot_be_is_no_bar(values: tuple[object, ...]) -> None:
    """Prices are above zero and near the extremes, the low is not above the high, volume not below zero."""
    assert candle(NOON_SECONDS, 1, 2, 1, 2, 0)
    assert candle(NOON_SECONDS, *values) is None


@pytest.mark.parametrize(
    ("text", "product"),
    [("BTC/USD", "BTC-USD"), ("btc-usd", "BTC-USD"), ("eth/eur", "ETH-EUR"), ("a/b/c", "a/b/c")],
)
def test_pair_in_any_spelling_names_its_product(text: str, product: str) -> None:
    """What is no pair is left to the upstream to refuse."""
    assert wire.product_id(text) == product
