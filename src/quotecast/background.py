"""Work beside other work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Final

import structlog

#: The event loop itself keeps no task.
_writes: Final[set[asyncio.Task[None]]] = set()

log = structlog.get_logger()


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


def in_background(write: Coroutine[Any, Any, None]) -> None:
    """Starts a write for which no request waits; an error of it is logged."""
    task = asyncio.create_task(write)
    _writes.add(task)
    task.add_done_callback(_end)


def _end(task: asyncio.Task[None]) -> None:
    _writes.discard(task)
    if not task.cancelled() and (error := task.exception()):
        log.error("background write failed", exc_info=error)
