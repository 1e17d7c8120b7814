"""Alpaca's snapshots and the quotes that they form."""

import contextlib
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from quotecast.market.quotes import StockQuote
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.board import Board
from quotecast.providers.alpaca.day_bar import DailyHistory
from support.made.alpaca import (
    AAPL,
    BRK,
    DAY_BEFORE,
    NOON,
    SNAPSHOT,
    answer,
    at,
    board_with,
    closed_day,
    flat_day,
    history_at,
    only_quote,
    quote_after,
    read_messages,
    snapshot,
)


def test_snapshot_becomes_a_whole_quote() -> None:
    """A snapshot fills every field of a quote; nanoseconds are truncated, and prices may be integers."""
    assert quote_after(answer(SNAPSHOT)) == StockQuote(
        ticker="AAPL",
        name="Apple Inc.",
        price=231.4,
        change=2.3,
        change_percent=1.0039,
        open=229.0,
        high=232.0,
        low=228.5,
        previous_close=229.1,
        volume="812345",
        sector="Information Technology",
        industry="Hardware",
        timestamp="2026-11-19T16:59:58.123456Z",
    )


def test_unknown_sector_is_other() -> None:
    board = Board([BRK])
    read_messages(board, [answer(SNAPSHOT, "BRK.B")], NOON)
    assert (only_quote(board).sector, only_quote(board).industry) == ("Other", "Other")


@pytest.mark.parametrize(
    ("missing", "price", "timestamp"),
    [
        (["latestTrade"], 231.4, "2026-11-19T16:59:59.999000Z"),
        (["latestTrade", "minuteBar"], 231.3, "2026-11-19T17:00:00Z"),
        (["latestTrade", "minuteBar", "dailyBar"], 229.1, "2026-11-18T21:00:00Z"),
    ],
    ids=["trade", "and minute", "and day"],
)
def test_price_is_of_the_newest_part_there_is(missing: list[str], price: float, timestamp: str) -> None:
    """The price comes from the newest part; a bar's close is dated at its end, but not in the future."""
    row = snapshot(dailyBar={"c": 231.3}) | dict.fromkeys(missing)
    quote = quote_after(answer(row))
    assert (quote.price, quote.timestamp) == (price, timestamp)


def test_without_any_price_there_is_no_quote() -> None:
    board = board_with({})
    assert board.quotes() == []
    assert board.statistics() == {"unreadable": 1}


def test_canceled_trade_is_not_the_price() -> None:
    row = snapshot(latestTrade={"p": 999, "u": "canceled"})
    assert quote_after(answer(row)).price == 231.4


def test_without_a_close_before_there_is_no_change() -> None:
    """An unknown change is null, not zero."""
    board = Board([AAPL])
    read_messages(board, [answer(SNAPSHOT)], NOON)
    quote = only_quote(board)
    assert (quote.previous_close, quote.change, quote.change_percent) == (None, None, None)


YESTERDAYS = {
    "dailyBar": {"t": DAY_BEFORE, "c": 229.1},
    "prevDailyBar": {"t": "2026-11-17T05:00:00Z", "c": 220},
}
TRADED_YESTERDAY = {"latestTrade": {"t": "2026-11-18T20:59:59Z", "p": 229.0}}
TRADED_EARLY = {"latestTrade": {"t": "2026-11-19T09:00:00.5Z", "p": 230.0}}


@pytest.mark.parametrize(
    ("now", "row", "previous", "volume"),
    [
        ("2026-11-18T21:00:00-05:00", TRADED_YESTERDAY, 220.0, "812345"),
        ("2026-11-19T03:59:00-05:00", TRADED_YESTERDAY, 220.0, "812345"),
        ("2026-11-19T04:30:00-05:00", TRADED_YESTERDAY, 220.0, "812345"),
        ("2026-11-19T04:30:00-05:00", TRADED_EARLY, 229.1, None),
        ("2026-11-19T09:29:59-05:00", TRADED_YESTERDAY, 220.0, "812345"),
        ("2026-11-19T09:30:00-05:00", TRADED_YESTERDAY, 229.1, None),
        ("2026-11-19T18:00:00-05:00", TRADED_YESTERDAY, 229.1, None),
        ("2026-11-20T03:00:00-05:00", TRADED_YESTERDAY, 229.1, None),
    ],
    ids=["evening", "night", "early, no trade", "early, a trade", "before", "open", "late", "next night"],
)  # fmt: skip
def test_previous_close_before_the_first_bar(
    now: str, row: dict[str, Any], previous: float, volume: str | None
) -> None:
    """The previous close moves on with the stock's new day.

    The day begins with the opening or, for a stock that trades in extended hours, with its first such trade.
    """
    quote = quote_after(answer(snapshot(**YESTERDAYS, **row)), received=at(now))
    assert (quote.previous_close, quote.volume) == (previous, volume)
    assert quote.change == pytest.approx(quote.price - previous)
    assert (quote.open is None, quote.high is None, quote.low is None) == (volume is None,) * 3


@pytest.mark.parametrize(
    ("now", "previous"),
    [
        ("2026-11-21T12:00:00-05:00", 229.1),
        ("2026-11-23T03:59:59-05:00", 229.1),
        ("2026-11-23T09:30:00-05:00", 231.4),
    ],
    ids=["Saturday", "Monday night", "Monday"],
)
def test_weekend_keeps_fridays_change(now: str, previous: float) -> None:
    """A day without a session does not change the previous close."""
    row = snapshot(
        dailyBar={"t": "2026-11-20T05:00:00Z"}, latestTrade={"t": "2026-11-20T20:59:59Z", "p": 231.4}
    )
    assert quote_after(answer(row), received=at(now)).previous_close == previous


def test_holiday_keeps_the_change_of_the_day_before() -> None:
    row = snapshot(
        dailyBar={"t": "2026-11-25T05:00:00Z"}, latestTrade={"t": "2026-11-25T20:59:59Z", "p": 231.4}
    )
    assert quote_after(answer(row), received=at("2026-11-26T12:00:00-05:00")).previous_close == 229.1


def test_daily_bar_is_dated_in_new_york_in_summer_too() -> None:
    """In summer, New York's midnight is 04:00 UTC, not 05:00."""
    row = snapshot(
        dailyBar={"t": "2026-07-15T04:00:00Z"}, latestTrade={"t": "2026-07-15T13:31:00Z", "p": 231.4}
    )
    assert quote_after(answer(row), received=at("2026-07-15T09:31:00-04:00")).previous_close == 229.1


TRADED_LATE = {"latestTrade": {"t": "2026-11-19T22:30:00Z", "p": 235.0}}
CLOSED = {"dailyBar": {"t": "2026-11-19T05:00:00Z", "c": 231.3}}


@pytest.mark.parametrize(
    ("now", "row", "extended"),
    [
        ("2026-11-19T04:30:00-05:00", YESTERDAYS | TRADED_EARLY, ("pre", 230.0, 0.9, 0.3928, 229.1)),
        ("2026-11-19T17:31:00-05:00", CLOSED | TRADED_LATE, ("post", 235.0, 3.7, 1.5997, 231.3)),
        ("2026-11-20T03:00:00-05:00", CLOSED | TRADED_LATE, ("post", 235.0, 3.7, 1.5997, 231.3)),
    ],
    ids=["before", "after", "night"],
)
def test_trade_outside_the_session_stands_beside_the_close(
    now: str, row: dict[str, Any], extended: tuple[str, float, float, float, float]
) -> None:
    """Its change is from the close of the session before it; the other fields are as ever."""
    quote = quote_after(answer(snapshot(**row)), received=at(now))
    assert quote.extended
    assert (quote.extended.price, quote.extended.timestamp) == (quote.price, quote.timestamp)
    named = ("session", "price", "change", "change_percent", "close")
    assert tuple(getattr(quote.extended, name) for name in named) == (
        extended[0],
        *map(pytest.approx, extended[1:]),
    )


@pytest.mark.parametrize(
    ("now", "time"),
    [
        ("2026-11-19T12:00:00-05:00", "2026-11-19T16:59:00Z"),
        ("2026-11-19T17:00:00-05:00", "2026-11-19T21:00:00Z"),
        ("2026-11-27T14:00:00-05:00", "2026-11-27T18:00:00Z"),
    ],
    ids=["within", "at the close", "at the close of a half day"],
)
def test_trade_of_the_session_is_no_extended_one(now: str, time: str) -> None:
    """The last minute of a session ends at its close."""
    row = snapshot(dailyBar={"t": f"{time[:10]}T05:00:00Z"}, latestTrade={"t": time, "p": 231.4})
    assert quote_after(answer(row), received=at(now)).extended is UNSET


def test_the_close_before_a_pre_market_trade_is_that_of_the_day_before_it() -> None:
    """Also on the next morning, when the quote still shows the trade's day."""
    board, morning = Board([AAPL]), at("2026-11-20T04:30:00-05:00")
    bars = [flat_day(date(2026, 11, day), 200.0 + day) for day in (16, 17, 18)]
    board.take_daily_history({"AAPL": DailyHistory(date(2026, 11, 20), bars)}, morning)
    read_messages(board, [answer(snapshot(**YESTERDAYS, **TRADED_EARLY, minuteBar=None))], morning)
    extended = only_quote(board).extended
    assert extended
    assert (extended.session, extended.close) == ("pre", 218.0)


def test_last_trade_of_the_evening_stays_after_the_next_opening() -> None:
    """Until there is a trade of the session, it is the last one."""
    board, opened = Board([AAPL]), at("2026-11-20T09:31:00-05:00")
    bars = [flat_day(date(2026, 11, day), 200.0 + day) for day in (18, 19)]
    board.take_daily_history({"AAPL": DailyHistory(date(2026, 11, 20), bars)}, opened)
    read_messages(board, [answer(snapshot(**CLOSED, **TRADED_LATE, minuteBar=None))], opened)
    extended = only_quote(board).extended
    assert extended
    assert (extended.session, extended.close, extended.price) == ("post", 219.0, 235.0)


def test_free_plan_has_no_change_after_the_close_until_it_has_the_close() -> None:
    """Its snapshots are of one exchange; the daily bar of all exchanges comes 16 minutes later."""
    board = Board([AAPL], consolidated=False)
    evening = at("2026-11-19T17:31:00-05:00")
    board.take_daily_history({"AAPL": history_at(evening)}, evening)
    read_messages(board, [answer(snapshot(**CLOSED, **TRADED_LATE))], evening)
    assert only_quote(board).extended is UNSET


def test_opening_that_did_not_take_place_begins_no_day() -> None:
    board = Board([AAPL])
    board.take_unscheduled(closed_day(), NOON)
    board.take_daily_history({"AAPL": history_at(NOON)}, NOON)
    read_messages(board, [answer(snapshot(**YESTERDAYS, **TRADED_YESTERDAY))], NOON)
    assert only_quote(board).previous_close == 220.0


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ('{"message":"invalid symbol: AB1"}', "AB1"),
        ('{"code":400,"message":"invalid symbol: BRK-B, or so"}', "BRK-B"),
        ("<html>", None),
    ],
)
def test_invalid_symbol_is_found_in_the_refusal(text: str, symbol: str | None) -> None:
    assert wire.invalid_symbol(text) == symbol


@given(st.binary(max_size=200))
def test_bytes_raise_nothing_but_value_errors(raw: bytes) -> None:
    with contextlib.suppress(ValueError):
        wire.decode_frame(raw)
