"""Leaves a Redis alone that does not answer, so that no request waits for it again and again."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeVar

from quotecast.observe.outages import OutageLog

#: Failures in a row after which Redis is left alone.
_PATIENCE: Final = 3
#: Seconds for connecting anew, which no request waits for.
_RECONNECT_BUDGET: Final = 1.0

T = TypeVar("T")


class Away(Exception):
    """Redis did not answer in time, or is left alone."""


class Breaker:
    """Lets commands pass, each for at most `budget` seconds.

    After three failures in a row none passes until `probe`, repeated every `pause` seconds, was answered.
    `measure` is entered around each command.
    """

    def __init__(
        self,
        probe: Callable[[], Awaitable[object]],
        measure: Callable[[], AbstractAsyncContextManager[None]],
        *,
        budget: float,
        pause: float,
    ) -> None:
        self._probe = probe
        self._measure = measure
        self._budget = budget
        self._pause = pause
        self._failures_in_a_row = 0
        self._recovering: asyncio.Task[None] | None = None
        self._outage = OutageLog()
        #: Times that Redis was given up.
        self.openings = 0

    async def call(self, command: Callable[[], Awaitable[T]]) -> T:
        """What the command answers. Raises Away."""
        if self._recovering:
            raise Away
        try:
            async with self._measure(), asyncio.timeout(self._budget):
                answer = await command()
        except Exception as error:
            # Whatever a broken connection raises: the reader is answered without Redis.
            self._failed(error)
            raise Away from error
        self._failures_in_a_row = 0
        self._outage.ended("all workers cache together again")
        return answer

    async def close(self) -> None:
        """Stops probing."""
        if self._recovering:
            self._recovering.cancel()
            await asyncio.gather(self._recovering, return_exceptions=True)

    def _failed(self, error: Exception) -> None:
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= _PATIENCE and self._recovering is None:
            self._outage.failed("each worker caches alone", error=repr(error))
            self.openings += 1
            self._recovering = asyncio.get_running_loop().create_task(self._recover())

    async def _recover(self) -> None:
        answered = False
        while not answered:
            await asyncio.sleep(self._pause)
            with contextlib.suppress(Exception):
                async with asyncio.timeout(_RECONNECT_BUDGET):
                    await self._probe()
                answered = True
        self._failures_in_a_row = 0
        self._recovering = None
