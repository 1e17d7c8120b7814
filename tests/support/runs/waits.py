"""Waits for what notifies nobody: the state of a server, a file, an attribute of a task.

A question is repeated until its answer is true, and that answer is returned. An error of `ignoring` means no.
Deadlines are those of a quick machine, and scaled.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from support.runs.deadlines import scaled

PATIENCE_SECONDS: Final = 15.0
_PAUSE: Final = 0.05
#: Between questions to objects of the test's own process.
_SHORT_PAUSE: Final = 0.005

Answer = TypeVar("Answer")


def wait_until(
    question: Callable[[], Answer | None],
    trouble: str | Callable[[], str] = "it never held",
    *,
    seconds: float = PATIENCE_SECONDS,
    pause: float = _PAUSE,
    ignoring: tuple[type[Exception], ...] = (),
) -> Answer:
    """Waits in a thread; fails with `trouble`. A longer `pause` keeps requests below their limits."""
    deadline = time.monotonic() + scaled(seconds)
    while True:
        with contextlib.suppress(*ignoring):
            if answer := question():
                return answer
        assert time.monotonic() < deadline, trouble if isinstance(trouble, str) else trouble()
        time.sleep(pause)


async def until(question: Callable[[], Answer | None], *, seconds: float = PATIENCE_SECONDS) -> Answer:
    """Waits while the other tasks go on."""
    async with asyncio.timeout(scaled(seconds)):
        while not (answer := question()):  # noqa: ASYNC110 - nothing tells that the answer changes
            await asyncio.sleep(_SHORT_PAUSE)
    return answer


async def until_answered(
    question: Callable[[], Awaitable[Answer | None]],
    *,
    seconds: float = PATIENCE_SECONDS,
    ignoring: tuple[type[Exception], ...] = (),
) -> Answer:
    """Waits for the answer of what itself waits: a request, a query, a call of Redis."""
    async with asyncio.timeout(scaled(seconds)):
        while True:
            with contextlib.suppress(*ignoring):
                if answer := await question():
                    return answer
            await asyncio.sleep(_SHORT_PAUSE)
