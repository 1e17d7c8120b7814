"""Supervision of child processes: restarts after a crash, and one-off commands."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from random import Random
from typing import Final

from msgspec import Struct

from quotecast.backoff import Backoff
from quotecast.errors import QuotecastError
from quotecast.local import console
from quotecast.local.child import Child, ProcessSpec

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]

_TRIES: Final = 5
#: Seconds of life after which earlier deaths no longer count.
_HEALTHY_SECONDS: Final = 10.0
_FIRST_DELAY: Final = 0.2
_LONGEST_DELAY: Final = 5.0


class ProcessFailed(QuotecastError):
    """A process of the service cannot run; the message ends with its last lines of output."""


class _Run(Struct, frozen=True, kw_only=True):
    """The outcome of one run: `end` is an exit code, a signal, or the reason why the start failed."""

    served: bool
    end: str
    last_lines: Iterable[str] = ()


class Deaths:
    """Counts a part's deaths in a row and says how long to wait before its next start."""

    def __init__(self, random: Random) -> None:
        self._backoff = Backoff(_FIRST_DELAY, _LONGEST_DELAY, chance=random.random)
        self._ever_served = False

    def add(self, *, served: bool, seconds: float) -> float | None:
        """Returns the delay before the next start, in seconds; None if it died too often and never served.

        A process that has served once is restarted indefinitely: its dependency may return, and the others
        run without it.
        """
        if served and seconds >= _HEALTHY_SECONDS:
            self._backoff.reset()
        self._ever_served = self._ever_served or served
        delay = self._backoff.delay()
        return delay if self._ever_served or self._backoff.tries < _TRIES else None


@contextlib.asynccontextmanager
async def keep_running(
    *parts: ProcessSpec, waits: bool = True, sleep: Sleep = asyncio.sleep, clock: Clock = time.monotonic
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Runs processes, restarts each after a crash, and stops them after the body.

    Enters the body when all serve, or at once unless it `waits`; yields the function that waits for that. A
    process that crashes five times before it ever serves cancels the body and raises ProcessFailed.
    """
    try:
        async with asyncio.TaskGroup() as group:
            serving = [asyncio.Event() for _ in parts]
            tasks = [
                group.create_task(_supervise(part, event, sleep, clock))
                for part, event in zip(parts, serving, strict=True)
            ]

            async def all_serve() -> None:
                for event in serving:
                    await event.wait()

            if waits:
                await all_serve()
            yield all_serve
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as errors:
        # One of several is enough to say what happened.
        raise errors.exceptions[0] from None


async def run_to_end(part: ProcessSpec) -> float:
    """Runs a process to its end; returns its seconds. Raises ProcessFailed unless it exits with 0."""
    began = time.monotonic()
    child = await Child.start(part)
    try:
        end = await child.wait_end()
    finally:
        await child.stop()
    if end != "exit code 0":
        raise _failure(part, end, child.last_lines)
    return time.monotonic() - began


async def _supervise(part: ProcessSpec, serving: asyncio.Event, sleep: Sleep, clock: Clock) -> None:
    deaths = Deaths(Random())  # noqa: S311 - jitter is not a secret
    while True:
        began = clock()
        life = await _run_once(part, serving)
        delay = deaths.add(served=life.served, seconds=clock() - began)
        if delay is None:
            raise _failure(part, life.end, life.last_lines)
        console.pass_on(part.name, f"ended with {life.end}; starts again in {delay:.1f} s")
        await sleep(delay)


async def _run_once(part: ProcessSpec, serving: asyncio.Event) -> _Run:
    """Runs a process until it ends; sets `serving` when it serves."""
    began = time.monotonic()
    try:
        child = await Child.start(part)
    except QuotecastError as error:
        if not serving.is_set():
            raise
        # The system lacks memory or process ids at the moment.
        return _Run(served=False, end=str(error))
    try:
        line = await child.wait_ready()
        if line is not None:
            console.say(f"{part.name:<9} pid {child.pid:<7} {line}, {time.monotonic() - began:.1f} s")
            serving.set()
            await child.wait_or_kill()
    finally:
        await child.stop()
    return _Run(served=line is not None, end=await child.wait_end(), last_lines=child.last_lines)


def _failure(part: ProcessSpec, end: str, last_lines: Iterable[str]) -> ProcessFailed:
    return ProcessFailed("\n  ".join([f"{part.name} cannot run: {end}", *last_lines]))
