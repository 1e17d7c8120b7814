"""Writes that no request waits for."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

import structlog

#: The event loop itself keeps no task.
_tasks: Final[set[asyncio.Task[None]]] = set()

log = structlog.get_logger()


def in_background(work: Coroutine[Any, Any, None]) -> None:
    """Starts work; an error of it is logged."""
    task = asyncio.create_task(work)
    _tasks.add(task)
    task.add_done_callback(_end)


def _end(task: asyncio.Task[None]) -> None:
    _tasks.discard(task)
    if not task.cancelled() and (error := task.exception()):
        log.error("background write failed", exc_info=error)
