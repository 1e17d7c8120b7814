"""Work beside other work: endless tasks, writes for which no request waits, and reads that take turns."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
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
    """Runs endless work inside `async with`, and ends it there; its failure is logged, and ends nothing."""
    tasks = [asyncio.create_task(work) for work in works]
    for task in tasks:
        task.add_done_callback(_log_failure)
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
    _log_failure(task)


def _log_failure(task: asyncio.Task[Any]) -> None:
    if task.cancelled():
        if not task.cancelling():
            log.error("background work ended: a task that it waited for was cancelled", task=repr(task))
    elif error := task.exception():
        log.error("background work failed", exc_info=error)


def is_cancelled() -> bool:
    """Returns whether somebody has cancelled this task; else a CancelledError is of one that it waits for."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


@contextlib.contextmanager
def fail_with_awaited_tasks() -> Iterator[None]:
    """Raises RuntimeError if a task that the body waits for was cancelled.

    Its CancelledError would end this task too, and a TaskGroup takes no notice of such an end.
    """
    try:
        yield
    except asyncio.CancelledError as error:
        if is_cancelled():
            raise
        raise RuntimeError("a task that this one waited for was cancelled") from error
