"""Publishers of invented stocks to the bus, which cost less than a simulated market.

As a program, `python -m benchmarks.prepared URL SHAPE` publishes until killed. The shape is `flood`, which
sends prepared batches as fast as the workers read them, or `steady` or `bursts`: both give a real ingest
2,000 updates a second, one by one or 200 at a time. The timestamp of a quote is the time of its update.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from datetime import UTC, datetime
from itertools import cycle, islice
from typing import Any, Final

import redis.asyncio
import uvloop
from msgspec import Raw, structs

from quotecast.bus import wire
from quotecast.bus.base import Batch, FeedInfo, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.ingest.ledger import Ledger, new_epoch
from quotecast.ingest.publish import FeedPublisher
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote
from quotecast.providers.base import Update

STOCKS: Final = 5_000
#: Changes of a batch: what 25,000 updates a second are in 20 ms.
BATCH: Final = 500
RATE: Final = 2_000
BURST: Final = 200
LEASE_MILLISECONDS: Final = 3_600_000
#: Bytes that wait in Redis for a worker, above which the flood pauses.
BACKLOG: Final = 1_000_000


class Upstream:
    """A QuoteProvider of `RATE` updates a second, `size` at a time."""

    name = "prepared"
    feed = Feed.STOCKS
    simulated = True
    delay_seconds = 0.0
    silence_seconds = 60.0
    always_open = True

    def __init__(self, size: int) -> None:
        self._size = size
        self._moves = cycle([quote(number, turn) for turn in (1, 2) for number in range(STOCKS)])

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Yields all quotes, then those that move."""
        yield Update([quote(number, 0) for number in range(STOCKS)], complete=True)
        began, sent = time.monotonic(), 0
        while True:
            while time.monotonic() >= began + (sent + self._size) / RATE:
                now, moves = f"{datetime.now(UTC):%FT%T.%fZ}", islice(self._moves, self._size)
                yield Update([structs.replace(move, timestamp=now) for move in moves])
                sent += self._size
            await asyncio.sleep(self._size / RATE / 4)


def quote(number: int, turn: int) -> StockQuote:
    """Returns a stock's quote, whose price depends on the turn."""
    opened = 20 + number * 7919 % 48_000 / 100
    price = round(opened * (1 + (number * 31 + turn * 17) % 997 / 20_000 - 0.025), 2)
    change = round(price - opened * 0.99, 2)
    return StockQuote(
        ticker=f"S{number:04}",
        name="Example Industries, Inc.",
        price=price,
        change=change,
        change_percent=round(change / opened * 100, 4),
        open=opened,
        high=round(opened * 1.03, 2),
        low=round(opened * 0.97, 2),
        previous_close=round(opened * 0.99, 2),
        volume=str(1_000_000 + turn),
        sector="Information Technology",
        industry="Semiconductors",
        timestamp="2026-11-20T15:30:00.000Z",
    )


async def flood(url: str) -> None:
    """Publishes prepared batches by the script that ingest calls; pauses while a worker lags behind."""
    bus, client = RedisBus(url, "quotecast"), redis.asyncio.Redis.from_url(url)
    ledger = Ledger(Feed.STOCKS)
    ledger.take(Update([quote(number, 0) for number in range(STOCKS)]), 0.0)
    snapshot = ledger.begin(new_epoch(time.time()), FeedInfo(provider="prepared"))
    await bus.hold(Feed.STOCKS, "prepared", LEASE_MILLISECONDS)
    await bus.begin("prepared", snapshot)
    for seq, (batch, entries) in enumerate(cycle(list(_prepared(ledger))), 2):
        while await _backlog(client) > BACKLOG:  # noqa: ASYNC110 - Redis tells nobody
            await asyncio.sleep(0.001)
        if not await bus.publish("prepared", structs.replace(batch, seq=seq, sent_at=time.time()), entries):
            raise RuntimeError("another ingest publishes")


def _prepared(ledger: Ledger) -> Iterator[tuple[Batch, Mapping[str, StoredQuote]]]:
    """Yields batches with two prices of each stock; their quotes are already encoded."""
    for turn in (1, 2):
        for first in range(0, STOCKS, BATCH):
            ledger.take(Update([quote(number, turn) for number in range(first, first + BATCH)]), 0.0)
            batch, entries, _ = ledger.next_batch(0.0)
            changes: Any = Raw(wire.encode(batch.changes))
            encoded: Any = {key: Raw(wire.encode(stored)) for key, stored in entries.items()}
            yield structs.replace(batch, changes=changes), encoded


async def _backlog(client: redis.asyncio.Redis) -> int:
    clients = await client.client_list(_type="pubsub")
    return max((int(each["omem"]) for each in clients), default=0)


async def steady(url: str) -> None:
    """Publishes updates one by one."""
    await _lead(url, 1)


async def bursts(url: str) -> None:
    """Publishes updates in bursts, as a polled upstream gives them."""
    await _lead(url, BURST)


async def _lead(url: str, size: int) -> None:
    bus = RedisBus(url, "quotecast")
    await bus.hold(Feed.STOCKS, "prepared", LEASE_MILLISECONDS)
    await FeedPublisher(Upstream(size), bus, "prepared").run()


if __name__ == "__main__":
    publish = {"flood": flood, "steady": steady, "bursts": bursts}[sys.argv[2]]
    uvloop.run(publish(sys.argv[1]))
