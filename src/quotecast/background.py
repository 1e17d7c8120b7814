"""Work beside other work: endless tasks, writes for which no request waits, and reads that take turns."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

import structlog

T = TypeVar("T")
R = TypeVar("R")

#: Reads of one request at a time: the upstream's other readers have to get a turn.
READS_AT_ONCE: Final = 4
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


def take_turns(read: Callable[[T], Awaitable[R]]) -> Callable[[T], Awaitable[R]]:
    """Returns the read of one item; at most READS_AT_ONCE calls of it run at a time."""
    turns = asyncio.Semaphore(READS_AT_ONCE)

    async def read_in_turn(item: T) -> R:
        async with turns:
            return await read(item)

    return read_in_turn


def in_background(write: Coroutine[Any, Any, None]) -> None:
    """Starts a write for which no request waits; an error of it is logged."""
    task = asyncio.create_task(write)
    _writes.add(task)
    task.add_done_callback(_end)


def _end(task: asyncio.Task[None]) -> None:
    _writes.discard(task)
    if not task.cancelled() and (error := task.exception()):
        log.error("background write failed", exc_info=error)
