"""`python -m benchmarks.bars`: what bars cost: CPU time of their making and writing, and disk space of a day.

500 stocks trade from 9:30 to 16:00 in New York; 72 pairs and 138 currencies change all day.
"""

import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import asyncpg
from msgspec import structs

from benchmarks.processes import cpu_seconds, family
from quotecast.bus import wire
from quotecast.bus.base import Batch, FeedInfo, Snapshot
from quotecast.bus.redis import RedisBus
from quotecast.database import migrations
from quotecast.database.database import Database
from quotecast.history.partitions import TABLES
from quotecast.history.reader import StoredBars
from quotecast.history.recall import recall
from quotecast.history.writer import BarWriter
from quotecast.local import folder, postgres, servers
from quotecast.market.bar_making import BarMaker
from quotecast.market.bars import bar_time
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS, Closing
from quotecast.market.quotes import DovizQuote, Quote, StockQuote
from quotecast.providers.simulator.client import SimulatorProvider

#: A Tuesday.
DAY_BEGINS: Final = int(datetime(2026, 3, 10, tzinfo=UTC).timestamp())
DAY: Final = 86_400
#: Updates of each symbol a second.
RATE: Final = 4
#: Seconds that the making of bars is measured for, while New York trades.
MADE_SECONDS: Final = 120
MADE_FROM: Final = DAY_BEGINS + 15 * 3600
#: Minutes between two checkpoints of PostgreSQL by default; after each it logs whole pages.
CHECKPOINT_MINUTES: Final = 5
OWNER: Final = "benchmark"
_LOGGED: Final = "SELECT pg_current_wal_insert_lsn()"
_SIZE: Final = (
    "SELECT sum(pg_total_relation_size(inhrelid))::bigint"
    " FROM pg_inherits WHERE inhparent = $1::text::regclass"
)


class Market:
    """The symbols of one feed, whose prices take random steps."""

    def __init__(self, feed: Feed, quotes: list[Quote]) -> None:
        self.feed = feed
        self.quotes = quotes
        self.maker = BarMaker(feed.spec.calendar)
        self._random = random.Random(1)

    def updates(self, now: float) -> Iterator[tuple[Quote, Quote]]:
        """Yields an update of each symbol, and its quote before."""
        time_text = bar_time(datetime.fromtimestamp(now, UTC))
        for number, before in enumerate(self.quotes):
            fields: dict[str, Any] = {
                "price": round(before.price * (1 + self._random.gauss(0, 0.0002)), 4),
                "timestamp": time_text,
            }
            if not isinstance(before, DovizQuote):
                volume = float(before.volume or 0) + self._random.randrange(1, 500)
                fields["volume"] = str(int(volume)) if isinstance(before, StockQuote) else volume
            self.quotes[number] = structs.replace(before, **fields)
            yield self.quotes[number], before


async def _markets() -> list[Market]:
    markets = []
    for feed in Feed:
        provider = SimulatorProvider(feed, seed=1, rate=1.0, speed=1.0, always_open=True)
        async with contextlib.aclosing(provider.updates()) as updates:
            markets.append(Market(feed, list((await anext(updates)).quotes)))
    return markets


def _making(markets: list[Market]) -> float:
    """Returns the share of a core that making and encoding bars takes at RATE."""
    used = 0.0
    for second in range(MADE_FROM, MADE_FROM + MADE_SECONDS):
        for market in markets:
            for _ in range(RATE):
                pairs = list(market.updates(second))
                began = time.process_time()
                _take(market.maker, pairs, second)
                used += time.process_time() - began
    return used / MADE_SECONDS


def _take(maker: BarMaker, pairs: list[tuple[Quote, Quote]], now: int) -> None:
    """Does what the ledger and the bus do for bars: each is encoded in a change, and in a stored quote."""
    for closing in maker.close(now):
        wire.encode(closing)
    for quote, before in pairs:
        maker.add(quote, before, now)
        progress = maker.progress_of(quote.key)
        wire.encode(progress)
        wire.encode(progress)


@contextlib.asynccontextmanager
async def _servers() -> AsyncIterator[tuple[str, str, int]]:
    """Gives the URLs of a PostgreSQL and a Valkey, and the pid of the former."""
    with (
        tempfile.TemporaryDirectory(prefix="quotecast-bench-") as name,
        folder.hold_folder(Path(name)) as data,
        folder.socket_folder(data) as sockets,
    ):
        async with servers.database("", data, sockets) as database, servers.cache("", data, sockets) as cache:
            pid = int(postgres.pid_file(data / "postgres").read_text().split()[0])
            yield database, cache, pid


class Day:
    """A day of three feeds, written minute by minute as an ingest does."""

    def __init__(self, bus: RedisBus, database: Database, markets: list[Market]) -> None:
        self.writer_seconds = 0.0
        self.bars = dict.fromkeys(LIVE_INTERVALS, 0)
        self._bus = bus
        self._markets = markets
        self._seq = 1
        days = dict.fromkeys(LIVE_INTERVALS, 36_500)
        self._writers = {feed: BarWriter(feed, bus, database, days) for feed in Feed}

    async def begin(self) -> None:
        """Begins an epoch of each feed."""
        for feed in Feed:
            assert await self._bus.hold(feed, OWNER, 10 * DAY * 1000)
            assert await self._bus.begin(OWNER, Snapshot(feed, "e", 1, FeedInfo(provider="p"), {}))

    def symbols(self, feed: Feed) -> list[str]:
        """Returns the symbols of a feed."""
        return [quote.key for market in self._markets if market.feed is feed for quote in market.quotes]

    async def write_minute(self, end: int) -> None:
        """Closes and writes the minute that ends at `end`."""
        self._seq += 1
        for market in self._markets:
            for quote, before in market.updates(end - 30):
                market.maker.add(quote, before, end - 30)
            closings = market.maker.close(end + 2)
            await self._publish(market.feed, closings)
            began = time.process_time()
            await self._writers[market.feed].step()
            self.writer_seconds += time.process_time() - began
            for closing in closings:
                for interval, bars in closing.bars.items():
                    self.bars[interval] += len(bars)

    async def _publish(self, feed: Feed, closings: list[Closing]) -> None:
        batch = Batch(feed=feed, epoch="e", seq=self._seq, closings=closings)
        assert await self._bus.publish(OWNER, batch, {})


async def _write_day() -> Iterator[str]:
    async with _servers() as (url, redis_url, pid):
        await migrations.apply(url)
        bus = RedisBus(redis_url, "benchmark")
        connection = await asyncpg.connect(url)
        async with Database(url, pool_size=3, statement_cache=0, deadline_seconds=30) as database:
            day = Day(bus, database, await _markets())
            await day.begin()
            logged = -await connection.fetchval(_LOGGED)
            used = cpu_seconds(family(pid))
            for minute in range(1, DAY // 60 + 1):
                await day.write_minute(DAY_BEGINS + 60 * minute)
                if minute % CHECKPOINT_MINUTES == 0:
                    await connection.execute("CHECKPOINT")
            used = cpu_seconds(family(pid)) - used
            reads = await _read_seconds(database, day)
        logged += await connection.fetchval(_LOGGED)
        sizes = {interval: await connection.fetchval(_SIZE, table) for interval, table in TABLES.items()}
        await connection.close()
        await bus.close()
    return _lines(day, sizes, used, logged, reads)


async def _read_seconds(database: Database, day: Day) -> dict[str, float]:
    """Returns the seconds of the largest reads."""
    end = DAY_BEGINS + DAY
    span = (datetime.fromtimestamp(DAY_BEGINS, UTC), datetime.fromtimestamp(end, UTC))
    stocks, bars = day.symbols(Feed.STOCKS), StoredBars(database)
    reads = {
        "a day of one stock, 1m": bars.read(Feed.STOCKS, stocks[:1], "1m", *span),
        "a day of all stocks, 15m": bars.read(Feed.STOCKS, stocks, "15m", *span),
        "the bars in progress of all stocks": recall(
            database, series=Feed.STOCKS, calendar=Feed.STOCKS.spec.calendar, now=end
        ),
    }
    seconds = {}
    for what, read in reads.items():
        began = time.perf_counter()
        await read
        seconds[what] = time.perf_counter() - began
    return seconds


def _lines(
    day: Day, sizes: Mapping[Any, int], used: float, logged: int, reads: Mapping[str, float]
) -> Iterator[str]:
    yield f"writing, in ingest: {100 * day.writer_seconds / DAY:.2f} % of a core"
    yield f"writing, in PostgreSQL: {100 * used / DAY:.2f} % of a core, checkpoints included"
    yield ""
    yield "| interval | bars | MB | bytes of a bar |"
    yield "|---|---|---|---|"
    for interval, size in sizes.items():
        yield f"| {interval} | {day.bars[interval]:,} | {size / 1e6:.1f} | {size / day.bars[interval]:.0f} |"
    yield f"| a day | {sum(day.bars.values()):,} | {sum(sizes.values()) / 1e6:.1f} | |"
    yield ""
    yield f"write-ahead log: {logged / 1e6:,.0f} MB"
    for what, seconds in reads.items():
        yield f"read of {what}: {seconds * 1000:.0f} ms"


def main() -> None:
    """Measures and prints."""
    markets = asyncio.run(_markets())
    symbols = ", ".join(f"{len(market.quotes)} {market.feed}" for market in markets)
    updates = RATE * sum(len(market.quotes) for market in markets)
    sys.stdout.write(f"{symbols}; {updates:,} updates a second\n")
    sys.stdout.write(f"making, in ingest: {100 * _making(markets):.2f} % of a core\n")
    sys.stdout.write("\n".join(asyncio.run(_write_day())) + "\n")


if __name__ == "__main__":
    main()
