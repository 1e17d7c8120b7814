"""Work beside other work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any


@contextlib.asynccontextmanager
async def run_beside(*works: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """Runs endless work inside `async with`, and ends it there; its failure does not end the body."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
