"""Writes that no request waits for."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

#: The event loop itself keeps no task.
_tasks: Final[set[asyncio.Task[None]]] = set()


def in_background(work: Coroutine[Any, Any, None]) -> None:
    """Starts work that handles its own errors."""
    task = asyncio.create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
