"""Binance's messages, and the quotes that may be made of them."""

import math
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from fakes.binance_rows import event, statistics
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.binance import wire
from quotecast.providers.binance.tickers import BinanceTickers
from quotecast.providers.binance.wire import GLOBAL
from quotecast.providers.validation.judgement import ABSURD_FACTOR, JUDGING_SECONDS

NOW = 1_795_118_400.0
MILLISECONDS = int(NOW * 1000)

EVENT: dict[str, Any] = {
    "e": "24hrTicker",
    "E": MILLISECONDS - 250,
    "s": "BTCUSDT",
    "p": "120.10000000",
    "P": "0.131",
    "c": "92020.10",
    "Q": "0.001",
    "b": "92020.0",
    "a": "92020.2",
    "o": "91900.00",
    "h": "93000.0",
    "l": "91000.0",
    "v": "20123.4",
    "q": "1850000000.1",
    "C": MILLISECONDS - 300,
    "n": 900_001,
}


def frame(**changes: Any) -> bytes:
    return msgspec.json.encode({"stream": "btcusdt@ticker", "data": EVENT | changes})


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def following() -> BinanceTickers:
    """BinanceTickers that follow one pair."""
    tickers = BinanceTickers()
    tickers.follow({"BTCUSDT": "BTC/USDT"})
    return tickers


def quote(tickers: BinanceTickers | None = None, /, **changes: Any) -> CryptoQuote:
    [made] = (tickers or following()).read([frame(**changes)], NOW)
    return made


def test_event_becomes_a_whole_quote() -> None:
    """Every field of the contract comes from the event; the name is ours."""
    assert quote() == CryptoQuote(
        provider="binance",
        exchange="Binance",
        ticker="BTC/USDT",
        name="Bitcoin",
        symbol="BTC",
        price=92020.1,
        bid=92020.0,
        ask=92020.2,
        change=120.1,
        change_percent=0.131,
        open=91900.0,
        high=93000.0,
        low=91000.0,
        volume=20123.4,
        timestamp="2026-11-19T19:59:59.750000Z",
    )


def test_row_becomes_the_same_quote() -> None:
    """REST and stream tell the same under other names."""
    row = statistics("BTCUSDT", "92020.10", "91900.00", closeTime=MILLISECONDS)
    [by_rest] = following().take([raw(row)], NOW)
    [by_stream] = following().read([msgspec.json.encode(event(row))], NOW)
    assert by_rest == by_stream
    assert (by_rest.price, by_rest.change, by_rest.volume) == (92020.1, 120.1, 1234.5)


@pytest.mark.parametrize("text", ["NaN", "inf", "-1", "", "1_0", "1e400", None, "0.00000000"])
def test_field_that_is_no_price_is_none(text: str | None) -> None:
    """One bad field costs that field; zero is what the upstream writes where nobody bids."""
    made = quote(b=text, a=text, o=text, h=text, l=text)
    assert (made.bid, made.ask, made.open, made.high, made.low) == (None,) * 5
    assert (made.price, made.change) == (92020.1, 120.1)


@pytest.mark.parametrize("text", ["NaN", "-inf", "-14.7", "0", "0.00000000", "", "x", "1e999", None])
def test_statistics_without_a_price_are_refused(text: str | None) -> None:
    """Without a price above zero there is no quote."""
    tickers = following()
    assert tickers.read([frame(c=text)], NOW) == []
    assert tickers.statistics()["unreadable"] == 1


@pytest.mark.parametrize(
    ("told", "percent", "change"),
    [
        ("NaN", "0.1", 120.1),
        ("92020.10", "0.1", 120.1),
        ("5", "-100", 120.1),
        (None, None, 120.1),
        ("5", "1", 5),
        ("91909.1", "0.1", 120.1),
        ("120.10", "100999.0", 120.1),
        ("120.10", "-99." + "9" * 28, 120.1),
    ],
)
def test_change_that_leaves_no_price_before_is_computed(
    told: str | None, percent: str | None, change: float
) -> None:
    """A price was above zero a day ago too, and near what Binance writes of it."""
    assert quote(p=told, P=percent).change == change


def test_change_of_another_scale_keeps_its_last_good_opening() -> None:
    """The change is from the opening that the quote shows, also where Binance writes all three wrongly."""
    tickers = following()
    quote(tickers)
    made = quote(tickers, c="92100.00", o="91", p="92009.00", P="101108.79")
    assert (made.open, made.change, made.change_percent) == (91900.0, 200.0, 0.2176)
    assert tickers.statistics() == {"absurd_field": 1}


def test_computed_change_is_exact() -> None:
    """The difference of the decimals, and its percentage to four digits."""
    made = quote(p=None, c="14.7775", o="14.6647")
    assert (made.change, made.change_percent) == (0.1128, 0.7692)


@given(
    text=st.text()
    | st.floats().map(str)
    | st.from_regex(r"-?[0-9]{0,40}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,9})?")
)
def test_no_text_makes_a_number_that_is_not_finite(text: str) -> None:
    """Whatever the upstream writes, a client gets finite numbers or none."""
    pair = "BTC/USDT", "Bitcoin"
    for field in "cpPbaohlv":
        told = wire.event(msgspec.json.encode(EVENT | {field: text})).to_quote(*pair, NOW, GLOBAL)
        values = msgspec.structs.astuple(told) if told else ()
        assert all(math.isfinite(value) for value in values if isinstance(value, float))


@pytest.mark.parametrize(
    ("told", "timestamp"),
    [
        (MILLISECONDS, "2026-11-19T20:00:00Z"),
        (MILLISECONDS + 60_000, "2026-11-19T20:01:00Z"),
        (MILLISECONDS + 60_001, "2026-11-19T20:00:00Z"),
        (10**18, "2026-11-19T20:00:00Z"),
    ],
)
def test_time_is_not_in_the_future(told: int, timestamp: str) -> None:
    """A time over a minute ahead of ours, or none, gives way to the time of receipt."""
    assert quote(E=told, C=told).timestamp == timestamp


def test_time_in_the_future_does_not_silence_the_pair() -> None:
    """Later statistics are not older for it."""
    tickers = following()
    quote(tickers, C=10**15)
    assert quote(tickers, c="92021").price == 92021


def test_time_in_the_future_does_not_hide_what_is_older() -> None:
    """The order of earlier events stays."""
    tickers = following()
    quote(tickers)
    quote(tickers, c="92021", C=10**15)
    assert tickers.read([frame(c="91000", C=EVENT["C"] - 60_000)], NOW) == []
    assert tickers.statistics() == {"outdated": 1}
    assert quote(tickers, c="92022", C=EVENT["C"] + 1).price == 92022


@pytest.mark.parametrize("field", ["E", "C"])
@pytest.mark.parametrize("told", [0, -1, -(10**18)])
def test_time_before_1970_is_refused(field: str, told: int) -> None:
    """An event of no time would be shown as half a century old."""
    tickers = following()
    assert tickers.read([frame(**{field: told})], NOW) == []
    assert tickers.statistics() == {"malformed": 1}


def test_older_statistics_are_refused() -> None:
    """Never an older price after a newer one, be it by REST or by stream."""
    tickers = following()
    quote(tickers)
    row = statistics("BTCUSDT", "92000", "91900", closeTime=EVENT["C"] - 1)
    assert tickers.take([raw(row)], NOW) == []
    assert tickers.statistics() == {"outdated": 1}


@pytest.mark.parametrize("price", ["920201.1", "9202.0", "0.0001"])
def test_absurd_price_is_refused_and_the_last_good_one_stands(price: str) -> None:
    """More than ten times or less than a tenth of the last good price is not believed within the hour."""
    tickers = following()
    good = quote(tickers)
    assert tickers.read([frame(c=price)], NOW + JUDGING_SECONDS - 1) == []
    assert tickers.quotes() == [good]
    assert tickers.statistics() == {"absurd": 1}
    assert tickers.read([frame(c=price)], NOW + JUDGING_SECONDS)


@pytest.mark.parametrize(
    ("field", "name"),
    [("b", "bid"), ("a", "ask"), ("o", "open"), ("h", "high"), ("l", "low"), ("v", "volume")],
)
def test_field_that_cannot_be_read_keeps_its_last_good_value(field: str, name: str) -> None:
    """The quote stays whole, and the fault is counted."""
    tickers = following()
    before = quote(tickers)
    after = quote(tickers, c="92030", **{field: "NaN"})
    assert after.price == 92030
    assert getattr(after, name) == getattr(before, name)
    assert tickers.statistics() == {"unreadable_field": 1}


@pytest.mark.parametrize(("field", "name"), [("b", "bid"), ("a", "ask"), ("h", "high"), ("l", "low")])
def test_absurd_field_keeps_its_last_good_value(field: str, name: str) -> None:
    """The rule for prices holds for every price."""
    tickers = following()
    before = quote(tickers)
    after = quote(tickers, **{field: "999999999"})
    assert getattr(after, name) == getattr(before, name)
    assert tickers.statistics() == {"absurd_field": 1}


def test_a_bid_above_its_ask_keeps_both_last_good_values() -> None:
    """The price is that of a trade, and stays right."""
    tickers = following()
    before = quote(tickers)
    after = quote(tickers, c="92030", b="92031", a="92029")
    assert (after.price, after.bid, after.ask) == (92030, before.bid, before.ask)
    assert tickers.statistics() == {"absurd_field": 2}


@given(st.lists(st.floats(min_value=1e-9, max_value=1e9), min_size=2))
def test_neighbours_among_believed_prices_are_within_the_factor(prices: list[float]) -> None:
    """Whatever comes, no client sees a leap beyond the factor within the hour."""
    tickers = following()
    made = [quote for price in prices for quote in tickers.read([frame(c=f"{price:.12f}")], NOW)]
    for before, after in pairwise(made):
        assert before.price / ABSURD_FACTOR <= after.price <= before.price * ABSURD_FACTOR
    assert len(made) + tickers.statistics().get("absurd", 0) == len(prices)


def test_newest_of_several_is_told() -> None:
    """One quote of each pair, however many messages."""
    frames = [frame(c=str(92000 + number), C=EVENT["C"] + number) for number in range(5)]
    assert [quote.price for quote in following().read(frames, NOW)] == [92004]


def test_symbol_that_is_not_listed_is_passed_over() -> None:
    """Where the base ends, only a listing tells: `BATUSD` ends with `TUSD`."""
    tickers = following()
    assert tickers.read([frame(s="BATUSD")], NOW) == []
    tickers.follow({"BATUSD": "BAT/USD"})
    assert quote(tickers, s="BATUSD").ticker == "BAT/USD"


def test_pairs_no_longer_followed_are_named_and_forgotten() -> None:
    """`follow` returns each forgotten pair once; messages of other pairs change nothing."""
    tickers = BinanceTickers()
    tickers.follow({"BTCUSDT": "BTC/USDT"})
    quote(tickers)
    assert tickers.read([frame(s="ETHUSDT")], NOW) == []
    assert tickers.follow({"ETHUSDT": "ETH/USDT"}) == ["BTC/USDT"]
    assert tickers.follow({"ETHUSDT": "ETH/USDT"}) == []
    assert tickers.quotes() == []


DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b"<html>",
        b'{"data":{"e":"24hrTicker"}}',
        b'{"data":{"e":"24hrTicker","s":7}}',
        b'{"data":{"e":"24hrTicker","s":"BTCUSDT","c":NaN}}',
        b'{"data":{"e":"24hrTicker","s":"BTCUSDT","C":"soon"}}',
        b'{"data":{"e":"24hrTicker","s":"BTCUSDT","x":' + DEEP + b"}}",
        b'{"x":' + DEEP + b"}",
    ],
)
def test_malformed_message_costs_itself(told: bytes) -> None:
    """The messages around it are taken, and it is counted."""
    tickers = following()
    assert len(tickers.read([told, frame(), told], NOW)) == 1
    assert tickers.statistics() == {"malformed": 2}


def test_bad_row_never_spoils_the_others() -> None:
    """Rows are read one by one."""
    rows = [raw(7), raw({"symbol": None}), raw(statistics("BTCUSDT", closeTime=MILLISECONDS))]
    tickers = following()
    assert [quote.ticker for quote in tickers.take(rows, NOW)] == ["BTC/USDT"]
    assert tickers.statistics() == {"malformed": 2}
