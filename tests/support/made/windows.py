"""Rate-limit windows in tests."""

import asyncio
from typing import Final

from quotecast.limits.window import Window
from support.runs.deadlines import scaled

#: Seconds for Redis where a test counts requests. After a late answer the worker decides alone, and Redis
#: counts that request too.
PATIENCE: Final = 10.0


async def until_shared(window: Window) -> None:
    """Waits until the worker decides with Redis again."""
    async with asyncio.timeout(scaled(30)):
        alone = -1
        while alone != window.statistics().fallbacks:
            alone = window.statistics().fallbacks
            await window.check("anything", 10**9)
            await asyncio.sleep(0)


async def admitted(window: Window, key: str, limit: int, times: int) -> int:
    """Returns how many of several concurrent checks the window admits."""
    decisions = await asyncio.gather(*(window.check(key, limit) for _ in range(times)))
    return sum(decision.admitted for decision in decisions)
