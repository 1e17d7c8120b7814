"""Minute bars and the daily bar they extend."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from fakes.alpaca_stream import bar, trade
from quotecast.market.bar_making import BarMaker
from quotecast.market.calendars import EXCHANGE
from quotecast.market.own_bars import OwnBar
from quotecast.providers.alpaca.board import SETTLING_SECONDS
from quotecast.providers.alpaca.day_bar import DayBar, MinuteBar
from support.made.alpaca import (
    NOON,
    SNAPSHOT,
    answer,
    at,
    board_with,
    frame,
    only_quote,
    quote_after,
    read_messages,
)


def minute(start: str, prices: Sequence[float], volume: int) -> bytes:
    opened, high, low, close = prices
    return frame(bar("AAPL", start, (opened, high, low, close), volume))


LATER = NOON + 120


def test_minute_bar_extends_the_day() -> None:
    quote = quote_after(
        answer(SNAPSHOT), minute("2026-11-19T17:00:00Z", (231, 233, 228, 232.5), 100), received=LATER
    )
    assert (quote.price, quote.high, quote.low, quote.open) == (232.5, 233.0, 228.0, 229.0)
    assert (quote.volume, quote.timestamp) == ("812445", "2026-11-19T17:00:59.999000Z")


def test_minute_bar_opens_no_bar_of_the_next_minute() -> None:
    """It arrives after its end; a minute without a trade has no bar."""
    board, maker, now = board_with(), BarMaker(EXCHANGE), NOON + 60.2
    before = only_quote(board)
    message = minute("2026-11-19T17:00:00Z", (231, 233, 228, 232.5), 100)
    [quote] = read_messages(board, [message], now)
    maker.close(int(now))
    maker.add(quote, before, int(now))
    for each in board.take_bars():
        maker.take(each, int(now))
    bars = [list(closing.bars["1m"].values()) for closing in maker.close(int(now) + 120)]
    assert bars == [[OwnBar(int(NOON), 231.0, 233.0, 228.0, 232.5, 100.0, 1)]]


def test_minute_that_the_snapshot_has_in_part_adds_the_rest() -> None:
    """A minute bar adds only the volume that the snapshot does not yet include."""
    quote = quote_after(
        answer(SNAPSHOT), minute("2026-11-19T16:59:00Z", (231, 231, 231, 231), 1000), received=LATER
    )
    assert quote.volume == "812445"


def test_minute_is_counted_once() -> None:
    again = minute("2026-11-19T17:00:00Z", (231, 233, 228, 232.5), 100)
    old = minute("2026-11-19T16:58:00Z", (231, 240, 220, 231), 5000)
    quote = quote_after(answer(SNAPSHOT), again, again, old, received=LATER)
    assert (quote.volume, quote.high, quote.low) == ("812445", 233.0, 228.0)


def test_minute_after_hours_adds_volume_and_no_extremes() -> None:
    """Extended-hours trades add volume and do not change high or low."""
    start = "2026-11-19T21:30:00Z"
    quote = quote_after(answer(SNAPSHOT), minute(start, (250, 260, 220, 250), 100), received=at(start) + 61)
    assert (quote.price, quote.high, quote.low, quote.volume) == (250.0, 232.0, 228.5, "812445")


def test_minute_older_than_the_trade_moves_no_price() -> None:
    newer = frame(trade("AAPL", 231.9, "2026-11-19T17:01:05Z"))
    late = minute("2026-11-19T17:00:00Z", (231, 231, 231, 231), 100)
    assert quote_after(answer(SNAPSHOT), newer, late, received=LATER).price == 231.9


def test_absurd_extreme_of_a_minute_is_left_out() -> None:
    quote = quote_after(
        answer(SNAPSHOT), minute("2026-11-19T17:00:00Z", (231, 9999, 0, 231), 1), received=LATER
    )
    assert (quote.high, quote.low) == (232.0, 228.5)


def test_answer_older_than_the_stream_changes_nothing_back() -> None:
    """A lagging snapshot reverts neither the price nor the daily bar."""
    board = board_with()
    moved = [minute("2026-11-19T17:00:00Z", (231, 233, 228, 232.5), 100)]
    read_messages(board, [*moved, frame(trade("AAPL", 232.7, "2026-11-19T17:01:01Z"))], LATER)
    before = only_quote(board)
    assert read_messages(board, [answer(SNAPSHOT)], LATER + 1) == []
    assert only_quote(board) == before


def test_answer_long_after_the_stream_corrects_it() -> None:
    """A snapshot requested after the settling time removes a canceled trade."""
    board = board_with()
    read_messages(board, [frame(trade("AAPL", 250, "2026-11-19T16:59:59.9Z"))], NOON)
    [quote] = read_messages(board, [answer(SNAPSHOT)], NOON + SETTLING_SECONDS)
    assert quote.price == 231.4


OPENING = datetime(2026, 11, 19, 14, 30, tzinfo=UTC)
minute_bars = st.lists(
    st.builds(
        lambda number, high, low, volume: MinuteBar(
            OPENING + timedelta(minutes=number), Decimal(high), Decimal(low), Decimal(low), Decimal(volume)
        ),
        st.integers(0, 389),
        st.integers(100, 200),
        st.integers(50, 100),
        st.integers(0, 10**9),
    ),
    unique_by=lambda minute: minute.start,
)


@given(minute_bars)
def test_day_is_the_sum_of_its_minutes(minutes: list[MinuteBar]) -> None:
    """Volumes add up, and high and low are the extremes, however often a minute bar arrives."""
    day = DayBar(
        OPENING.date(), Decimal(100), None, None, None, Decimal(7), OPENING - timedelta(minutes=1), None
    )
    ordered = sorted(minutes, key=lambda each: each.start)
    for each in ordered:
        day = day.with_minute(each).with_minute(each)
    assert day.volume == 7 + sum(each.volume or 0 for each in ordered)
    assert day.high == max((each.high for each in ordered if each.high), default=None)
    assert day.low == min((each.low for each in ordered if each.low), default=None)
