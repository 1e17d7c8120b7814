"""Input that changes a stock's quote, and input that the board rejects."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.alpaca_stream import bar, trade
from quotecast.providers.alpaca.board import Board
from support.made.alpaca import (
    AAPL,
    BRK,
    NOON,
    SNAPSHOT,
    answer,
    at,
    board_with,
    frame,
    history_at,
    only_quote,
    read_messages,
    snapshot,
)

#: Go writes a missing time so.
GO_ZERO = "0001-01-01T00:00:00Z"


def test_trade_moves_price_and_change_alone() -> None:
    board = board_with()
    before = only_quote(board)
    [quote] = read_messages(board, [frame(trade("AAPL", 231.63, "2026-11-19T16:59:59.5Z"))], NOON)
    assert quote == msgspec.structs.replace(
        before, price=231.63, change=2.53, change_percent=1.1043, timestamp="2026-11-19T16:59:59.500000Z"
    )


@pytest.mark.parametrize("condition", ["I", "W", "C", "N", "R", "H", "V", "4", "7", "M", "Q", "Z", "U"])
def test_trade_that_sets_no_last_price_moves_nothing(condition: str) -> None:
    """Odd lots, average prices and late reports do not update the last price."""
    board = board_with()
    assert (
        read_messages(board, [frame(trade("AAPL", 240, "2026-11-19T17:00:00Z", "@", condition))], NOON) == []
    )
    assert board.statistics() == {}


@pytest.mark.parametrize(("tape", "moved"), [("A", False), ("B", False), ("C", True)])
def test_condition_b_means_something_else_on_each_tape(tape: str, *, moved: bool) -> None:
    """Condition B is an average price on tapes A and B, and a bunched trade on tape C."""
    board = board_with()
    quotes = read_messages(board, [frame(trade("AAPL", 240, "2026-11-19T17:00:00Z", "B", z=tape))], NOON)
    assert bool(quotes) == moved


def test_trade_after_hours_moves_the_price() -> None:
    row = snapshot(latestTrade={"t": "2026-11-19T20:59:59Z"})
    evening = at("2026-11-19T17:00:00-05:00")
    board = board_with(row, evening)
    [quote] = read_messages(board, [frame(trade("AAPL", 235, "2026-11-19T21:59:00Z", "@", "T"))], evening)
    assert (quote.price, only_quote(board).previous_close) == (235.0, 229.1)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (trade("AAPL", 0, "2026-11-19T17:00:00Z"), "unreadable"),
        (trade("AAPL", -5, "2026-11-19T17:00:00Z"), "unreadable"),
        (trade("AAPL", "NaN", "2026-11-19T17:00:00Z"), "unreadable"),  # type: ignore[arg-type] # that is the point
        (trade("AAPL", 1e300, "2026-11-19T17:00:00Z"), "unreadable"),
        (trade("AAPL", 240, "yesterday"), "unreadable"),
        (trade("AAPL", 240, GO_ZERO), "unreadable"),
        (bar("AAPL", GO_ZERO, (0, 0, 0, 0), 0), "unreadable"),
        (bar("AAPL", "9999-12-31T23:59:00Z", (231, 231, 231, 231), 5), "unreadable"),
        (trade("AAPL", 2315, "2026-11-19T17:00:00Z"), "absurd"),
        (trade("AAPL", 23, "2026-11-19T17:00:00Z"), "absurd"),
        (trade("AAPL", 240, "2026-11-19T16:59:57Z"), "outdated"),
        (trade("AAPL", {"x": 1}, "2026-11-19T17:00:00Z"), "malformed"),  # type: ignore[arg-type] # invalid on purpose
        (bar("AAPL", "2026-11-19T17:00:00Z", (1, 1, 1, 0), 5), "unreadable"),
        (bar("AAPL", "2026-11-19T18:00:00Z", (231, 231, 231, 231), 5), "unreadable"),
        (bar("AAPL", "2026-11-19T17:00:00Z", (1, 1, 1, 9999), 5), "absurd"),
    ],
)
def test_invalid_message_is_counted_and_does_not_affect_the_others(bad: Any, reason: str) -> None:
    """An invalid message does not affect the valid ones in its frame."""
    board = board_with()
    good = trade("AAPL", 231.5, "2026-11-19T16:59:59Z")
    read_messages(board, [frame({"T": "?", "x": {}}, bad, good)], NOON)
    assert only_quote(board).price == 231.5
    assert board.statistics() == {reason: 1}


def test_trade_in_the_future_is_as_of_now() -> None:
    """A trade from the future gets the current time and keeps its price."""
    board = board_with()
    read_messages(board, [frame(trade("AAPL", 232, "2027-01-01T00:00:00Z"))], NOON)
    assert (only_quote(board).price, only_quote(board).timestamp) == (232.0, "2026-11-19T17:00:00Z")


@pytest.mark.parametrize(
    "raw", [b"", b"[", b"7", b"[NaN]", b'[{"T":"t","S":"AAPL","p":NaN}]', b"[" * 100_000, b"\xff"]
)
def test_malformed_frame_is_counted(raw: bytes) -> None:
    board = board_with()
    assert read_messages(board, [raw], NOON) == []
    assert board.statistics() == {"malformed": 1}


def test_other_stocks_are_ignored() -> None:
    """The board ignores stocks outside its table."""
    board = board_with()
    assert read_messages(board, [frame(bar("ZZZZ", "2026-11-19T17:00:00Z", (1, 2, 1, 2), 5))], NOON) == []
    assert read_messages(board, [answer(SNAPSHOT, "ZZZZ")], NOON) == []


def test_stock_without_a_snapshot_has_no_quote() -> None:
    """A quote is complete or absent."""
    assert read_messages(board_with(), [frame(trade("BRK.B", 480, "2026-11-19T17:00:00Z"))], NOON) == []


@pytest.mark.parametrize("bad", [0, -1, 9_999_999, "NaN", "x", 1e308])
@pytest.mark.parametrize(
    ("part", "name", "field"),
    [
        ("dailyBar", "o", "open"),
        ("dailyBar", "h", "high"),
        ("dailyBar", "l", "low"),
        ("latestTrade", "p", "price"),
    ],
)
def test_last_good_value_remains(bad: Any, part: str, name: str, field: str) -> None:
    """The board counts an invalid field, keeps its last good value and updates the other fields."""
    board = board_with()
    before = only_quote(board)
    read_messages(board, [answer(snapshot(**{part: {name: bad}}))], NOON + 15)
    assert getattr(only_quote(board), field) == getattr(before, field)
    assert sum(board.statistics().values()) == 1
    read_messages(board, [answer(snapshot(latestTrade={"p": 231.45}, dailyBar={"v": 812400}))], NOON + 30)
    assert (only_quote(board).price, only_quote(board).volume) == (231.45, "812400")


def test_missing_part_keeps_what_was_known() -> None:
    board = board_with()
    before = only_quote(board)
    read_messages(board, [answer(snapshot(dailyBar=None, prevDailyBar=None, minuteBar=None))], NOON + 15)
    assert only_quote(board) == before


def test_malformed_row_does_not_affect_the_others() -> None:
    board = Board([AAPL, BRK])
    raw = msgspec.json.encode({"BRK.B": {"latestTrade": 7}, "AAPL": SNAPSHOT, "ZZZQ": None})
    assert [quote.key for quote in read_messages(board, [raw], NOON)] == ["AAPL"]
    assert board.statistics() == {"malformed": 1}


@pytest.mark.parametrize(
    "row",
    [
        {"dailyBar": {"t": GO_ZERO, "o": 0, "h": 0, "l": 0, "c": 0, "v": 0}},
        snapshot(dailyBar={"t": GO_ZERO, "o": 0, "h": 0, "l": 0, "c": 0, "v": 0}),
        snapshot(latestTrade={"t": GO_ZERO}),
    ],
)
def test_snapshot_with_gos_zero_time_spoils_no_other_stock(row: Any) -> None:
    """The service counts it as unreadable; the stock keeps its last good values, and others go on."""
    board = board_with()
    before = only_quote(board)
    rows = msgspec.json.encode({"AAPL": row, "BRK.B": SNAPSHOT})
    assert "BRK.B" in [quote.ticker for quote in read_messages(board, [rows], NOON + 15)]
    [kept] = [quote for quote in board.quotes() if quote.ticker == "AAPL"]
    assert (kept.price, kept.open, kept.volume) == (before.price, before.open, before.volume)
    assert board.statistics().keys() == {"unreadable"}


def test_day_in_the_future_is_refused() -> None:
    board = board_with()
    read_messages(board, [answer(snapshot(dailyBar={"t": "2026-11-20T05:00:00Z", "o": 230}))], NOON + 15)
    assert only_quote(board).open == 229.0
    assert board.statistics() == {"unreadable": 1}


def test_new_day_replaces_the_old_one_wholly() -> None:
    """A new daily bar takes no values from the preceding day."""
    board = board_with()
    friday = {"t": "2026-11-20T05:00:00Z", "o": 230, "h": None, "l": 229, "c": 230, "v": 5}
    trade_of_friday = {"t": "2026-11-20T15:00:00Z", "p": 230}
    now = at("2026-11-20T10:00:01-05:00")
    board.take_daily_history({"AAPL": history_at(now)}, now)
    read_messages(board, [answer(snapshot(dailyBar=friday, latestTrade=trade_of_friday))], now)
    quote = only_quote(board)
    assert (quote.open, quote.high, quote.previous_close, quote.volume) == (230.0, None, 229.1, "5")


def test_previous_close_is_not_the_snapshots_previous_bar() -> None:
    """The previous close never comes from the snapshot's previous daily bar, which is unadjusted."""
    quote = only_quote(board_with(snapshot(prevDailyBar={"c": 916.4})))
    assert (quote.previous_close, quote.change) == (229.1, 2.3)


def test_only_changed_quotes_are_returned() -> None:
    board = board_with()
    assert read_messages(board, [answer(SNAPSHOT)], NOON + 15) == []


def test_forgotten_stock_comes_back_with_a_snapshot() -> None:
    board = board_with()
    board.keep_only(["BRK.B"])
    assert board.quotes() == []
    assert len(read_messages(board, [answer(snapshot(latestTrade={"p": 9}))], NOON)) == 1


values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8), st.just("231.5")
)
parts = st.dictionaries(st.sampled_from(["t", "p", "o", "h", "l", "c", "v", "u"]), values)
rows = st.one_of(
    values,
    st.dictionaries(
        st.sampled_from(["latestTrade", "minuteBar", "dailyBar", "prevDailyBar"]),
        st.one_of(values, parts, parts.map(lambda part: SNAPSHOT["dailyBar"] | part)),
    ),
)
messages = st.builds(
    lambda kind, part: {"T": kind, "S": "AAPL", "t": "2026-11-19T17:00:00Z"} | part,
    st.sampled_from("tb"),
    parts,
)


@given(st.lists(st.one_of(rows.map(answer), st.lists(messages).map(lambda some: frame(*some))), max_size=8))
def test_any_input_yields_plausible_quotes(raw: list[bytes]) -> None:
    """For any input, prices are positive, finite and within a factor of ten, and volumes are digits."""
    board = board_with()
    for message in raw:
        read_messages(board, [message], NOON)
    quote = only_quote(board)
    for price in (quote.open, quote.high, quote.low, quote.previous_close):
        assert (
            price is None
            or quote.price / 10.01 <= price <= quote.price * 10.01
            or price in {229, 232, 228.5, 229.1}
        )
    assert 0 < quote.price < 1e18
    assert quote.volume is None or quote.volume.isdecimal()


@pytest.mark.parametrize(
    ("traded", "now", "expected"),
    [
        pytest.param(
            "2026-11-16T12:00:00-05:00", "2026-11-18T12:00:00-05:00", (220.0, 0.0, 220.0), id="opened"
        ),
        pytest.param(
            "2026-11-17T12:00:00-05:00", "2026-11-18T12:00:00-05:00", (220.0, 0.0, 220.0), id="same day"
        ),
        pytest.param(
            "2026-11-17T17:00:00-05:00", "2026-11-18T12:00:00-05:00", (231.4, 11.4, 220.0), id="after it"
        ),
        pytest.param(
            "2026-11-16T12:00:00-05:00", "2026-11-18T03:00:00-05:00", (229.1, 0.0, 229.1), id="night"
        ),
        pytest.param(
            "2026-08-03T12:00:00-04:00", "2026-11-18T12:00:00-05:00", (220.0, 0.0, 220.0), id="months"
        ),
    ],
)
def test_no_price_is_older_than_the_close_that_it_is_compared_with(
    traded: str, now: str, expected: tuple[float, float, float]
) -> None:
    """The free plan's trades are of IEX: the tape's close of Tuesday is newer than a trade of Monday."""
    row = snapshot(latestTrade={"t": traded}, dailyBar=None, minuteBar=None)
    quote = only_quote(board_with(row, at(now)))
    assert quote.change is not None
    assert (quote.price, round(quote.change, 4), quote.previous_close) == expected


PRE_OPEN = at("2026-11-19T04:00:00-05:00")


def trade_at(seconds: int, price: float) -> bytes:
    time = datetime.fromtimestamp(PRE_OPEN + seconds, UTC).isoformat()
    return frame(trade("AAPL", price, time))


def board_of_the_night() -> Board:
    """Returns a board whose last price is of the evening before; the session's bars are not read yet."""
    row = snapshot(latestTrade={"t": "2026-11-18T20:00:00Z"}, dailyBar=None, minuteBar=None)
    return board_with(row, PRE_OPEN - 15)


def test_a_new_level_is_believed_when_trades_of_a_new_session_repeat_it() -> None:
    """As after a split of 20:1 while the daily bars cannot be read."""
    board = board_of_the_night()
    for seconds, price in ((1, 11.5), (2, 11.6), (2, 11.6)):
        read_messages(board, [trade_at(seconds, price)], PRE_OPEN + seconds)
        assert only_quote(board).price == 231.4
    read_messages(board, [trade_at(3, 11.55)], PRE_OPEN + 3)
    quote = only_quote(board)
    assert (quote.price, quote.change, quote.previous_close) == (11.55, None, None)
    assert board.statistics() == {"absurd": 3}


def test_slips_of_two_sessions_do_not_add_up() -> None:
    board = board_of_the_night()
    day = 86_400
    for seconds in (1, 2):
        read_messages(board, [trade_at(seconds, 11.5)], PRE_OPEN + seconds)
    evening = snapshot(latestTrade={"t": "2026-11-18T20:00:00Z"}, dailyBar=None, minuteBar=None)
    read_messages(board, [answer(evening)], PRE_OPEN + day - 15)
    read_messages(board, [trade_at(day + 1, 11.5)], PRE_OPEN + day + 1)
    assert board.statistics() == {"absurd": 3}


def test_within_a_session_repeated_slips_stay_absurd() -> None:
    board = board_of_the_night()
    read_messages(board, [trade_at(1, 230.0)], PRE_OPEN + 1)
    for seconds in range(2, 8):
        read_messages(board, [trade_at(seconds, 11.5)], PRE_OPEN + seconds)
    assert only_quote(board).price == 230.0


@pytest.mark.parametrize(("price", "is_split"), [(115.0, True), (57.0, True), (480.0, True), (160.0, False)])
def test_a_change_like_a_split_waits_for_the_bars_to_be_read_again(price: float, *, is_split: bool) -> None:
    """The bars of that morning may not know the split yet."""
    board = board_of_the_night()
    board.take_daily_history({"AAPL": history_at(PRE_OPEN)}, PRE_OPEN)
    read_messages(board, [trade_at(1, price)], PRE_OPEN + 1)
    quote = only_quote(board)
    assert (quote.price, quote.change is None, quote.previous_close is None) == (price, is_split, is_split)
    [again] = board.take_daily_history({"AAPL": history_at(PRE_OPEN)}, PRE_OPEN + 900) or [quote]
    assert again.change == pytest.approx(price - 229.1)


def test_long_after_the_opening_a_halved_price_is_a_change() -> None:
    """No reading of the bars follows on that day."""
    board = board_with(snapshot(), NOON)
    read_messages(board, [frame(trade("AAPL", 115.0, "2026-11-19T17:00:30Z"))], NOON + 31)
    assert only_quote(board).change == pytest.approx(115.0 - 229.1)
