"""Kraken's messages, and the quotes that may be made of them."""

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.errors import UpstreamError
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.kraken import wire
from quotecast.providers.kraken.tickers import KrakenTickers

NOW = 1_795_118_400.0

TICKER: dict[str, Any] = {
    "symbol": "BTC/USD",
    "bid": 92000.0,
    "bid_qty": 0.5,
    "ask": 92000.3,
    "ask_qty": 0.2,
    "last": 92000.1,
    "volume": 2100.5,
    "vwap": 91700.2,
    "low": 90500.0,
    "high": 93000.0,
    "change": 120.1,
    "change_pct": 0.13,
}


def frame(*rows: Any) -> bytes:
    return msgspec.json.encode({"channel": "ticker", "type": "update", "data": rows})


def quote(tickers: KrakenTickers | None = None, /, **changes: Any) -> CryptoQuote:
    [made] = (tickers or KrakenTickers()).read([frame(TICKER | changes)], NOW)
    return made


def test_quotes_from_before_judge_the_first_price_and_go_with_their_pair() -> None:
    """A successor believes no price of another scale, and removes pairs that the venue does not have."""
    before, tickers = quote(), KrakenTickers()
    tickers.inherit([before, msgspec.structs.replace(before, ticker="ETH/USD")])
    assert tickers.read([frame(TICKER | {"last": 9_200_001.0})], NOW + 1) == []
    assert tickers.statistics() == {"absurd": 1}
    assert tickers.keep_only(["BTC/USD"]) == ["ETH/USD"]


def test_ticker_out_of_order_is_dropped() -> None:
    """By its own time, within a batch and between two; one without a time, or of the future, is taken."""
    tickers = KrakenTickers()
    times = ("2026-11-19T19:59:58Z", "2026-11-19T19:59:57.9Z", "2026-11-19T19:59:59Z", "2026-11-19T19:59:58Z")
    rows = [TICKER | {"last": 92000.0 + number, "timestamp": time} for number, time in enumerate(times)]
    assert [[made.price for made in tickers.read([frame(row)], NOW)] for row in rows] == [
        [92000.0],
        [],
        [92002.0],
        [],
    ]
    assert [made.price for made in KrakenTickers().read([frame(*rows)], NOW)] == [92002.0]
    assert tickers.statistics() == {"outdated": 2}
    assert quote(tickers, last=92010.0, timestamp=None).price == 92010.0
    assert quote(tickers, last=92011.0, timestamp="2030-01-01T00:00:00Z").price == 92011.0
    assert quote(tickers, last=92012.0, timestamp="2026-11-19T19:59:59Z").price == 92012.0


def test_ticker_becomes_a_whole_quote() -> None:
    """The quote has every field of the contract; the name is ours."""
    assert quote() == CryptoQuote(
        provider="kraken",
        exchange="Kraken",
        ticker="BTC/USD",
        name="Bitcoin",
        symbol="BTC",
        price=92000.1,
        bid=92000.0,
        ask=92000.3,
        change=120.1,
        change_percent=0.1307,
        open=91880.0,
        high=93000.0,
        low=90500.0,
        volume=2100.5,
        timestamp="2026-11-19T20:00:00Z",
    )


@pytest.mark.parametrize(
    ("told", "stands"),
    [
        ("2026-11-19T19:59:59.123456Z", "2026-11-19T19:59:59.123456Z"),
        ("2027-01-01T00:00:00Z", "2026-11-19T20:00:00Z"),
        ("soon", "2026-11-19T20:00:00Z"),
    ],
)
def test_time_is_the_upstreams_unless_it_cannot_be(told: str, stands: str) -> None:
    """A time in the future would hide all that follows."""
    assert quote(timestamp=told).timestamp == stands


@pytest.mark.parametrize("change", [None, "much", 92000.1, 1e300])
def test_change_that_cannot_be_is_none(change: Any) -> None:
    """Nothing is derived from it either."""
    made = quote(change=change)
    assert (made.change, made.change_percent, made.open) == (None, None, None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [(None, "unreadable_field"), (92001.1, "unreadable_field"), (91999.0, "absurd_field")],
)
def test_change_that_cannot_be_is_from_the_last_good_opening(change: Any, reason: str) -> None:
    """No alert hears a day's change of 100,000 percent."""
    tickers = KrakenTickers()
    quote(tickers)
    made = quote(tickers, last=92001.1, change=change)
    assert (made.open, made.change, made.change_percent) == (91880.0, 121.1, 0.1318)
    assert tickers.statistics() == {reason: 1}


@pytest.mark.parametrize(("bid", "reason"), [(1.0, "absurd_field"), ("", "unreadable_field")])
def test_last_good_bid_is_never_above_the_new_ask(bid: Any, reason: str) -> None:
    """Both sides are those of the last quote then."""
    tickers = KrakenTickers()
    quote(tickers)
    made = quote(tickers, last=90000.0, bid=bid, ask=90001.0)
    assert (made.bid, made.ask) == (92000.0, 92000.3)
    assert tickers.statistics()[reason] >= 1


def test_bid_above_its_ask_is_refused_beside_another_bad_field() -> None:
    tickers = KrakenTickers()
    quote(tickers)
    made = quote(tickers, bid=92002.0, ask=92001.0, volume=None)
    assert (made.bid, made.ask, made.volume) == (92000.0, 92000.3, 2100.5)
    assert tickers.statistics() == {"unreadable_field": 1, "absurd_field": 2}


@pytest.mark.parametrize("field", ["bid", "ask", "high", "low", "volume"])
@pytest.mark.parametrize("value", [None, "NaN", -1, True, {}], ids=str)
def test_field_that_cannot_be_read_keeps_its_last_good_value(field: str, value: Any) -> None:
    """It is counted, and the price goes on; a row of another shape is refused whole."""
    tickers = KrakenTickers()
    before = quote(tickers)
    made = tickers.read([frame(TICKER | {field: value, "last": 92001.0})], NOW)
    if isinstance(value, dict | bool):
        assert (made, tickers.statistics()) == ([], {"malformed": 1})
    else:
        assert getattr(made[0], field) == getattr(before, field)
        assert (made[0].price, tickers.statistics()) == (92001.0, {"unreadable_field": 1})


@pytest.mark.parametrize(
    ("last", "reason"), [(0, "unreadable"), (-5, "unreadable"), (None, "unreadable"), (9_300_000, "absurd")]
)
def test_price_that_cannot_be_is_refused(last: float | None, reason: str) -> None:
    """The last good quote stays."""
    tickers = KrakenTickers()
    quote(tickers)
    assert tickers.read([frame(TICKER | {"last": last})], NOW) == []
    assert tickers.statistics() == {reason: 1}


def test_bad_row_never_spoils_the_others() -> None:
    """Rows are read one by one."""
    tickers = KrakenTickers()
    made = tickers.read([frame(7, {"last": 1}, TICKER)], NOW)
    assert [quote.key for quote in made] == ["BTC/USD"]
    assert tickers.statistics() == {"malformed": 2}


DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"{",
        b"[]",
        b"<html>",
        b"\xff",
        b'{"channel":7}',
        b'{"channel":"ticker","data":{}}',
        b'{"channel":"ticker","data":[{"symbol":"BTC/USD","last":NaN}]}',
        b'{"channel":"ticker","data":[{"symbol":"BTC/USD","x":' + DEEP + b"}]}",
        b'{"x":' + DEEP + b"}",
    ],
)
def test_malformed_message_costs_itself(told: bytes) -> None:
    """The messages around it are taken, and it is counted."""
    tickers = KrakenTickers()
    assert len(tickers.read([told, frame(TICKER), told], NOW)) == 1
    assert tickers.statistics() == {"malformed": 2}


@pytest.mark.parametrize("symbol", ["", "BTC", "../USD", "BTC/USD/EUR", "币安/USD"])
def test_symbol_that_is_no_pair_is_refused(symbol: str) -> None:
    """Only pairs get through."""
    tickers = KrakenTickers()
    assert tickers.read([frame(TICKER | {"symbol": symbol})], NOW) == []
    assert tickers.statistics() == {"unreadable": 1}


@pytest.mark.parametrize("channel", ["heartbeat", "instrument", "ohlc"])
def test_other_channels_are_passed_over(channel: str) -> None:
    """So is whatever the upstream adds."""
    tickers = KrakenTickers()
    assert tickers.read([msgspec.json.encode({"channel": channel, "type": "update"})], NOW) == []
    assert tickers.statistics() == {}


def test_maintenance_is_an_error() -> None:
    """Another upstream is to stand in, although this one goes on with its heartbeats."""
    told = {"channel": "status", "type": "update", "data": [7, {"system": "maintenance"}]}
    with pytest.raises(UpstreamError, match="maintenance"):
        KrakenTickers().read([msgspec.json.encode(told)], NOW)


def test_subscription_asks_for_all_that_is_needed() -> None:
    """The state at once, and then every trade."""
    assert msgspec.json.decode(wire.subscribe(["BTC/USD"], 3)) == {
        "method": "subscribe",
        "params": {"channel": "ticker", "symbol": ["BTC/USD"], "event_trigger": "trades", "snapshot": True},
        "req_id": 3,
    }


_VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)


@given(st.dictionaries(st.sampled_from(sorted(TICKER)), _VALUES))
def test_whatever_is_told_quotes_are_sound(changes: dict[str, Any]) -> None:
    """Prices are finite and above zero, and nothing raises."""
    for made in KrakenTickers().read([frame(TICKER | changes)], NOW):
        assert made.price > 0
        numbers = (made.bid, made.ask, made.open, made.high, made.low, made.volume, made.change)
        assert all(math.isfinite(value) for value in numbers if value is not None)
        assert made.change_percent is None or made.change_percent >= -100  # rounded
