"""Rate-limit windows in tests."""

import asyncio

from quotecast.limits.window import Window


async def until_shared(window: Window) -> None:
    """Waits until the worker decides with Redis again."""
    async with asyncio.timeout(30):
        alone = -1
        while alone != window.statistics().fallbacks:
            alone = window.statistics().fallbacks
            await window.check("anything", 10**9)
            await asyncio.sleep(0)
