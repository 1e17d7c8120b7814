"""Binance's candles, and which of them can be believed."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from quotecast.providers.binance.history import Kline
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import believable_bars
from quotecast.providers.validation.rows import decode_rows


def row(minute: int, close: float = 10, /, **changes: str) -> Raw:
    prices = {"open": str(close), "high": str(close), "low": str(close), "close": str(close), "volume": "1"}
    return raw(
        [minute * 60_000, *(prices | changes).values(), minute * 60_000 + 59_999, "1", 1, "1", "1", "0"]
    )


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def closes(*rows: Raw) -> tuple[list[float], dict[str, int]]:
    refused = RefusalCounter("binance")
    made = believable_bars((row.to_bar() for row in decode_rows(rows, Kline, refused)), refused)
    return [bar.close for bar in made], dict(refused.by_reason())


@pytest.mark.parametrize(
    "bad",
    [
        {"open": "NaN"},
        {"close": "0"},
        {"high": "9"},
        {"low": "11"},
        {"volume": "-1"},
        {"high": "1e400"},
        {"low": ""},
        {"open": "100.01"},
        {"open": "0.99"},
    ],
)
def test_bar_that_cannot_be_is_left_out(bad: dict[str, str]) -> None:
    """The others stay, and it is counted."""
    assert closes(row(1), row(2, 10, **bad), row(3)) == ([10, 10], {"unreadable": 1})


def test_bar_in_which_nothing_traded_is_left_out() -> None:
    """It is a filler, not an error: the upstream repeats the close before, at any price that was."""
    fillers = [row(2, 10, volume="0"), row(3, 10, volume="0.00000000"), row(5, 1e9, volume="0")]
    assert closes(row(1), *fillers, row(4, 11)) == ([10, 11], {})


@pytest.mark.parametrize(
    ("prices", "extremes"),
    [
        ({"open": "10.01"}, (10.01, 10)),
        ({"open": "9.99"}, (10, 9.99)),
        ({"close": "10.01"}, (10.01, 10)),
        ({"open": "9", "close": "11"}, (11, 9)),
    ],
)
def test_open_and_close_widen_high_and_low(prices: dict[str, str], extremes: tuple[float, float]) -> None:
    """Alpaca's AAAA of 2021-04-01 opened at 25.05 and was at 25.04 at most."""
    bar = msgspec.json.decode(row(1, 10, **prices), type=Kline).to_bar()
    assert bar
    assert (bar.high, bar.low) == extremes


def test_row_that_is_no_candle_is_left_out() -> None:
    """The others stay, and it is counted."""
    assert closes(row(1), raw(["soon"]), raw({}), row(2)) == ([10, 10], {"malformed": 2})


def test_bars_ascend_and_come_once() -> None:
    """Whatever order they came in; the last to come is the newest."""
    assert closes(row(3, 12), row(1), row(3, 13)) == ([10, 13], {})


@pytest.mark.parametrize("at", [0, 2, 4])
def test_close_far_from_both_neighbours_is_absurd(at: int) -> None:
    """First, last or between them."""
    rows = [row(minute, 1e9 if minute == at else 10) for minute in range(5)]
    assert closes(*rows) == ([10, 10, 10, 10], {"absurd": 1})


def test_leap_that_stays_is_a_leap_of_the_market() -> None:
    """Markets do lose nine tenths in a minute, and what came before and after is no error."""
    assert closes(row(1), row(2), row(3, 0.5), row(4, 0.5)) == ([10, 10, 0.5, 0.5], {})


@given(st.lists(st.tuples(st.integers(0, 50), st.decimals("0.00000001", 10**9, places=8)), max_size=20))
def test_bars_ascend_and_none_is_lost_uncounted(told: list[tuple[int, Decimal]]) -> None:
    """What is not answered was refused for a reason, or replaced by a later row of its time."""
    refused = RefusalCounter("binance")
    rows = [
        row(minute, **dict.fromkeys(("open", "high", "low", "close"), str(price))) for minute, price in told
    ]
    made = believable_bars((row.to_bar() for row in decode_rows(rows, Kline, refused)), refused)
    times = [bar.time for bar in made]
    assert times == sorted(set(times))
    assert len(made) + sum(refused.by_reason().values()) == len({minute for minute, _ in told})
