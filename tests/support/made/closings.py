"""Closings made for tests of stored bars, and how they reach Redis and come back from PostgreSQL."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from quotecast.bus.base import FeedInfo, NumberedClosing, Snapshot
from quotecast.bus.redis import RedisBus
from quotecast.database.database import Database
from quotecast.history.partitions import TABLES
from quotecast.history.writer import POLL_SECONDS, BarWriter
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, LiveInterval, OwnBar
from support.oracles.transactions import query_server
from support.runs.deadlines import scaled

#: The end of the first minute: 13:31 of a Tuesday.
FIRST: Final = int(datetime(2026, 3, 10, 13, 31, tzinfo=UTC).timestamp())
SYMBOLS: Final = ("AAPL", "MSFT", "ÅÄ/X")
RETENTION: Final[dict[LiveInterval, int]] = dict.fromkeys(TABLES, 36_500)
_LENGTHS: Final[dict[LiveInterval, int]] = {"1m": 60, "5m": 300, "15m": 900, "1h": 3600, "D": 86_400}

#: Feed, symbol, opened; open, high, low, close, volume, updates.
Row = tuple[str, str, int, float, float, float, float, float | None, int]


def made_closing(through: int, symbols: Sequence[str] = SYMBOLS, *, volume: float | None = 0.1) -> Closing:
    """Returns the bars of every interval that ends at `through`, with numbers that differ from all others."""
    bars = {
        interval: {symbol: _bar(through - length, number, volume) for number, symbol in enumerate(symbols)}
        for interval, length in _LENGTHS.items()
        if through % length == 0
    }
    return Closing(through, bars, {})


def made_closings(count: int, first: int = FIRST) -> list[Closing]:
    """Returns closings of consecutive minutes."""
    return [made_closing(first + 60 * number) for number in range(count)]


async def put(bus: RedisBus, closings: Iterable[Closing], feed: Feed = Feed.STOCKS) -> None:
    """Adds closings to Redis as a new epoch does."""
    numbered = [NumberedClosing("e", 1, closing) for closing in closings]
    assert await bus.hold(feed, "test", 60_000)
    assert await bus.begin("test", Snapshot(feed, "e", 1, FeedInfo(provider="p"), {}, {}, numbered))


def writer_of(bus: RedisBus, database: Database, **more: Any) -> BarWriter:
    feed = more.pop("feed", Feed.STOCKS)
    return BarWriter(feed, bus, database, more.pop("days", RETENTION), **more)


async def write_all(writer: BarWriter) -> list[int | None]:
    """Steps until nothing is left; returns the time up to which all is written after each step."""
    reached = []
    async with asyncio.timeout(scaled(20)):
        while await writer.step() != POLL_SECONDS:
            reached.append(writer._through)
    return [*reached, writer._through]


def rows_of(closings: Iterable[Closing], interval: LiveInterval = "1m", feed: str = Feed.STOCKS) -> list[Row]:
    """Returns the rows that the closings make, in order."""
    return sorted(
        (str(feed), symbol, bar.opened, bar.open, bar.high, bar.low, bar.close, bar.volume, bar.updates)
        for closing in closings
        for symbol, bar in closing.bars.get(interval, {}).items()
    )


async def stored_rows(url: str, interval: LiveInterval = "1m") -> list[Row]:
    """Returns all rows of an interval, in order."""
    rows: list[Any] = await query_server(
        url,
        "SELECT feed, symbol, extract(epoch FROM opened)::bigint, open, high, low, close, volume, updates"  # noqa: S608 - a name of ours
        f" FROM {TABLES[interval]}",
    )
    return sorted(tuple(row) for row in rows)


def _bar(opened: int, number: int, volume: float | None) -> OwnBar:
    price = 100.1 + opened % 86_400 / 7 + number
    return OwnBar(opened, price, price + 0.3, price - 0.2, price + 0.1, volume, 1 + opened % 100)
