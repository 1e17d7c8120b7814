"""Threads that read segments: their own, because a slow disk or bucket must not take those of other work."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class ReaderThreads:
    """At most `count` threads, started when they are needed."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="history")

    async def run(self, work: Callable[[], T]) -> T:
        """Returns the result of a function that reads segments."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
