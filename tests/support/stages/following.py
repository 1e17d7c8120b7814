"""An ingest and workers on one bus in one process; the test sends the upstream's updates."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

from quotecast.bus.redis import RedisBus
from quotecast.errors import UpstreamError
from quotecast.feed.mirror import Mirror
from quotecast.ingest import lease
from quotecast.ingest.publish import FeedPublisher
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from support.made.memory_bus import MemoryBus

Bus = MemoryBus | RedisBus


class ScriptedProvider:
    """A provider of quotes whose updates come from the test."""

    name = "test"
    feed = Feed.STOCKS
    simulated = False
    delay_seconds = 0.0
    #: Longer than the time between beats, so that a beat shows the result.
    silence_seconds = 1.5
    always_open = True

    def __init__(self) -> None:
        self.connections = 0
        self._queue: asyncio.Queue[Update | UpstreamError] = asyncio.Queue()

    def send(self, *quotes: Quote) -> None:
        self._queue.put_nowait(Update(quotes))

    def fail(self) -> None:
        self._queue.put_nowait(UpstreamError("broken"))

    async def updates(self) -> AsyncGenerator[Update, None]:
        self.connections += 1
        while True:
            item = await self._queue.get()
            if isinstance(item, UpstreamError):
                raise item
            yield item


@contextlib.asynccontextmanager
async def running(*coroutines: object) -> AsyncIterator[None]:
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]  # type: ignore[call-overload]  # coroutines
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def lead(bus: Bus, upstream: ScriptedProvider, owner: str) -> None:
    while True:
        await lease.acquire(bus, upstream.feed, owner)
        await FeedPublisher(upstream, bus, owner).run()


def price(mirror: Mirror, ticker: str) -> float | None:
    entry = mirror.find(ticker)
    return entry.quote.price if entry and entry.quote else None
