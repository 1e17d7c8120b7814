"""Publishes a busy market to the bus as an ingest does: `python -m benchmarks.busy_market URL SYMBOLS`.

Each symbol changes four times a second, and a batch goes out every 20 ms, with bars in progress and stored
quotes, by the script of the bus. Batches are prepared and repeat each second, so that this process takes
little of its core. Runs until killed.
"""

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import uvloop
from msgspec import Raw, structs

from benchmarks.prepared import LEASE_MILLISECONDS, quote
from quotecast.bus import wire
from quotecast.bus.base import Batch, FeedInfo, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.ingest.ledger import Ledger, new_epoch
from quotecast.ingest.publish import SPACING_SECONDS
from quotecast.market.feeds import Feed
from quotecast.providers.base import Update

#: Updates of each symbol a second.
RATE: Final = 4
BATCHES_PER_SECOND: Final = round(1 / SPACING_SECONDS)
#: Unix time of the prepared second: New York trades.
OPEN_AT: Final = 1_773_154_800.0
OWNER: Final = "busy"

Prepared = tuple[Batch, Mapping[str, StoredQuote]]


def batch_size(symbols: int) -> int:
    """Returns the changes of a batch."""
    return symbols * RATE // BATCHES_PER_SECOND


def prepared(ledger: Ledger, symbols: int) -> Iterator[Prepared]:
    """Yields the batches of one second, whose quotes are already encoded."""
    size = batch_size(symbols)
    for number in range(BATCHES_PER_SECOND):
        turn, first = divmod(number * size, symbols)
        moved = [quote((first + offset) % symbols, turn + 1) for offset in range(size)]
        ledger.take(Update(moved), OPEN_AT + number * SPACING_SECONDS)
        batch, entries, _ = ledger.next_batch(0.0)
        changes: Any = Raw(wire.encode(batch.changes))
        encoded: Any = {key: Raw(wire.encode(stored)) for key, stored in entries.items()}
        yield structs.replace(batch, changes=changes), encoded


async def publish(url: str, symbols: int) -> None:
    """Publishes until killed; when Redis is late, the batches after that are too."""
    bus, ledger = RedisBus(url, "quotecast"), Ledger(Feed.STOCKS)
    ledger.take(Update([quote(number, 0) for number in range(symbols)]), OPEN_AT)
    snapshot = ledger.begin(new_epoch(time.time()), FeedInfo(provider=OWNER))
    batches = list(prepared(ledger, symbols))
    await bus.hold(Feed.STOCKS, OWNER, LEASE_MILLISECONDS)
    await bus.begin(OWNER, snapshot)
    began, seq = time.monotonic(), snapshot.seq
    while True:
        batch, entries = batches[seq % len(batches)]
        seq += 1
        if not await bus.publish(OWNER, structs.replace(batch, seq=seq, sent_at=time.time()), entries):
            raise RuntimeError("another ingest publishes")
        due = began + (seq - snapshot.seq) * SPACING_SECONDS
        await asyncio.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    uvloop.run(publish(sys.argv[1], int(sys.argv[2])))
