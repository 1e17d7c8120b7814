"""Caches of several workers on one Redis, with a shared clock and a fake upstream."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from quotecast.cache.base import Policy
from quotecast.cache.redis import RedisCache
from support.runs.deadlines import scaled

KEY = "upstream:metrics:AAPL"
#: Redis keys of KEY's lock and entry.
LOCK = f"t:cache:{{{KEY}}}:lock"
ENTRY = f"t:cache:{{{KEY}}}:entry"
POLICY = Policy(fresh_seconds=100, stale_seconds=1000, missing_seconds=50, not_offered_seconds=50)


class Clock:
    """Unix time that only the test advances, from a Friday, 10:30 in New York."""

    def __init__(self) -> None:
        self.now = 1_795_188_600.0

    def __call__(self) -> float:
        return self.now


class CountingUpstream:
    """An upstream that answers with the number of the call, raises the test's error, or waits."""

    def __init__(self) -> None:
        self.calls = 0
        self.running = 0
        self.most = 0
        self.error: Exception | None = None
        self.called = asyncio.Event()
        self.answering = asyncio.Event()
        self.answering.set()

    async def __call__(self) -> bytes:
        self.calls += 1
        self.running += 1
        self.most = max(self.most, self.running)
        self.called.set()
        try:
            await self.answering.wait()
        finally:
            self.running -= 1
        if self.error:
            raise self.error
        return b"%d" % self.calls


@contextlib.asynccontextmanager
async def workers(
    url: str, clock: Clock, count: int = 2, **other: Any
) -> AsyncIterator[tuple[RedisCache, ...]]:
    async with contextlib.AsyncExitStack() as stack:
        # A slow machine must not look like a Redis outage, unless a test wants one.
        caches = [RedisCache(url, "t", clock=clock, **({"budget": scaled(5)} | other)) for _ in range(count)]
        for cache in caches:
            await stack.enter_async_context(cache)
        yield tuple(caches)
