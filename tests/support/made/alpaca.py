"""Factories of Alpaca's snapshots and messages, and of boards that have read them."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import takewhile
from typing import Any

import msgspec

from quotecast.market.quotes import StockQuote
from quotecast.market.reference import Stock
from quotecast.market.sessions import TradingDay, Unscheduled, trading_days_from
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.board import Board
from quotecast.providers.alpaca.day_bar import DailyHistory, DayBar
from quotecast.providers.alpaca.stock_state import latest_session, to_utc

AAPL = Stock("AAPL", "Apple Inc.", "NASDAQ", "Information Technology", "Hardware", 14_840_000_000, 270.0)
BRK = Stock("BRK.B", "Berkshire", "NYSE", "", "", 1_000_000, 480.0)

#: Thursday the 19th is a trading day like those around it; the 26th is Thanksgiving, the 27th a half day.
DAY = "2026-11-19T05:00:00Z"
DAY_BEFORE = "2026-11-18T05:00:00Z"


def trading_days_between(first: date, last: date) -> Iterator[TradingDay]:
    """Yields the exchange's trading days from the first date to the last, both included."""
    return takewhile(lambda each: each.date <= last, trading_days_from(first))


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


NOON = at("2026-11-19T12:00:00-05:00")

SNAPSHOT: dict[str, Any] = {
    "latestTrade": {"t": "2026-11-19T16:59:58.123456789Z", "x": "V", "p": 231.4, "c": ["@"], "z": "C"},
    "latestQuote": {"t": "2026-11-19T16:59:59Z", "ap": 231.5, "bp": 231.3},
    "minuteBar": {"t": "2026-11-19T16:59:00Z", "o": 231.2, "h": 231.5, "l": 231.1, "c": 231.4, "v": 900},
    "dailyBar": {"t": DAY, "o": 229, "h": 232.0, "l": 228.5, "c": 231.4, "v": 812345, "n": 9012, "vw": 230.4},
    "prevDailyBar": {"t": DAY_BEFORE, "o": 228.0, "h": 230.0, "l": 227.0, "c": 229.1, "v": 790000},
}  # fmt: skip


def snapshot(**changes: Any) -> dict[str, Any]:
    """Returns the snapshot with changed parts, or with parts replaced by None."""
    return SNAPSHOT | {
        part: None if change is None else SNAPSHOT[part] | change for part, change in changes.items()
    }


def answer(row: Any, ticker: str = "AAPL") -> bytes:
    return msgspec.json.encode({ticker: row})


def frame(*messages: Any) -> bytes:
    return msgspec.json.encode(messages)


#: Closes on the consolidated tape by date; 229.1 on every other date.
CLOSES: Mapping[str, float] = {"2026-11-17": 220, "2026-11-20": 231.4}


def closed_day() -> Unscheduled:
    """Returns an unscheduled closure on Thursday the 19th."""
    return Unscheduled(
        date=date(2026, 11, 19),
        is_open=False,
        next_open=datetime(2026, 11, 20, 14, 30, tzinfo=UTC),
        next_close=datetime(2026, 11, 20, 21, tzinfo=UTC),
    )


def history_at(received: float) -> DailyHistory:
    """Returns a history without splits of the days before the session at a Unix time."""
    session = latest_session(to_utc(received)).day.date
    days = trading_days_between(session - timedelta(days=7), session - timedelta(days=1))
    return DailyHistory(session, [flat_day(day.date, CLOSES.get(f"{day.date}", 229.1)) for day in days])


def flat_day(day: date, close: float, volume: int = 812_345) -> DayBar:
    price = Decimal(str(close))
    return DayBar(day, price, price, price, price, Decimal(volume), None, None)


def read_messages(board: Board, messages: Iterable[bytes], received: float) -> list[StockQuote]:
    """Returns the quotes changed by stream frames and snapshot responses received at one Unix time."""
    changed: dict[str, StockQuote] = {}
    for raw in messages:
        if raw.startswith(b"{"):
            rows = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
            quotes = board.take_snapshots(rows, received, received)
        else:
            quotes = board.take_messages(wire.market_data(board.decode(raw)), received)
        changed |= {quote.key: quote for quote in quotes}
    return list(changed.values())


def quote_after(*messages: bytes, received: float = NOON) -> StockQuote:
    """Returns the quote of AAPL after the messages."""
    board = Board([AAPL])
    board.take_daily_history({"AAPL": history_at(received)}, received)
    read_messages(board, messages, received)
    [quote] = board.quotes()
    return quote


def board_with(row: Any = SNAPSHOT, received: float = NOON) -> Board:
    board = Board([AAPL, BRK])
    board.take_daily_history({"AAPL": history_at(received)}, received)
    read_messages(board, [answer(row)], received)
    return board


def only_quote(board: Board) -> StockQuote:
    [quote] = board.quotes()
    return quote
