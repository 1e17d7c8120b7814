"""Supervision: groups of parts that are kept running, and one-off commands."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from random import Random
from typing import Final

from quotecast.errors import QuotecastError
from quotecast.local import terminal
from quotecast.local.child import Child, Part

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]

_TRIES: Final = 5
#: Seconds of life after which earlier deaths no longer count.
_HEALTHY_SECONDS: Final = 10.0
_LONGEST_DELAY: Final = 5.0


class PartFailed(QuotecastError):
    """A part of the service cannot live; the message ends with what it last said."""

    code = "part_failed"


class Deaths:
    """Counts a part's deaths in a row and says how long to wait before its next start."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._in_a_row = 0
        self._without_serving = 0

    def add(self, *, served: bool, seconds: float) -> float | None:
        """The delay before the next start, in seconds; None if it died too often without serving."""
        if served and seconds >= _HEALTHY_SECONDS:
            self._in_a_row = 0
        self._in_a_row += 1
        self._without_serving = 0 if served else self._without_serving + 1
        if self._without_serving >= _TRIES:
            return None
        longest = min(_LONGEST_DELAY, 0.1 * 2.0 ** min(self._in_a_row, 16))
        return longest * self._random.uniform(0.5, 1.0)


@contextlib.asynccontextmanager
async def running(
    *parts: Part, sleep: Sleep = asyncio.sleep, clock: Clock = time.monotonic
) -> AsyncIterator[None]:
    """Keeps the parts running; entered once all serve, left once all have ended.

    A part that dies is started again. One that cannot live cancels the body and raises PartFailed.
    """
    try:
        async with asyncio.TaskGroup() as group:
            serving = [asyncio.Event() for _ in parts]
            tasks = [
                group.create_task(_keep(part, event, sleep, clock))
                for part, event in zip(parts, serving, strict=True)
            ]
            for event in serving:
                await event.wait()
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as errors:
        # One of several is enough to say what happened.
        raise errors.exceptions[0] from None


async def complete(part: Part) -> None:
    """Runs a part to its end. Raises PartFailed if it fails."""
    child = await Child.start(part)
    try:
        how = await child.ended()
    finally:
        await child.stop()
    if how != "exit code 0":
        raise _failure(part, child, how)


async def _keep(part: Part, serving: asyncio.Event, sleep: Sleep, clock: Clock) -> None:
    deaths = Deaths(Random())  # noqa: S311 - jitter is no secret
    while True:
        began = clock()
        child = await Child.start(part)
        try:
            line = await child.ready()
            if line is not None:
                terminal.say(f"{part.name:<9} pid {child.pid:<7} {line}")
                serving.set()
                await child.ended_or_killed()
        finally:
            await child.stop()
        how = await child.ended()
        delay = deaths.add(served=line is not None, seconds=clock() - began)
        if delay is None:
            raise _failure(part, child, how)
        terminal.pass_on(part.name, f"ended with {how}; starts again in {delay:.1f} s")
        await sleep(delay)


def _failure(part: Part, child: Child, how: str) -> PartFailed:
    return PartFailed("\n  ".join([f"{part.name} cannot run: {how}", *child.last_lines]))
