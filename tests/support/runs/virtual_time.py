"""Event loops whose time passes at once, jumps, or stands still."""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, Final, TypeVar, TypeVarTuple

import pytest

_Made = TypeVar("_Made")
_Given = TypeVarTuple("_Given")

#: Longer than a message takes between two sockets of one process.
_MOMENT_SECONDS: Final = 0.005
#: Fixtures of other processes.
_SERVERS: Final = frozenset(
    {"redis_url", "own_valkey", "database_url", "accounts_url", "own_accounts_url", "own_postgres"}
)


class _Selector(selectors.DefaultSelector):
    """Adds a wait to `waited` instead of waiting."""

    waited = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing will ever happen"
            self.waited += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its clock begins at zero and shows only the seconds that callers sleep."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.waited


def run(main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main)


class JumpingLoop(asyncio.SelectorEventLoop):
    """Runs in real time, with real sockets, until `jump` puts its clock forward."""

    def __init__(self) -> None:
        self._ahead = 0.0
        super().__init__()

    def time(self) -> float:
        return super().time() + self._ahead

    def jump(self, seconds: float) -> None:
        self._ahead += seconds


class _WaitingSelector(selectors.DefaultSelector):
    """Adds up the seconds that it waits."""

    waited = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        began = time.monotonic()
        ready = super().select(timeout)
        elapsed = time.monotonic() - began
        self.waited += elapsed if timeout is None else min(elapsed, max(0.0, timeout))
        return ready


class WaitingLoop(asyncio.SelectorEventLoop):
    """Its clock stands still while the process computes: a busy machine passes no deadline of a client.

    For clients in one loop with servers that compute what they answer.
    """

    def __init__(self) -> None:
        self._waiting = _WaitingSelector()
        super().__init__(self._waiting)

    def time(self) -> float:
        return self._waiting.waited


class _SkippingSelector(selectors.DefaultSelector):
    """Waits for a moment only, and adds the rest of the wait to `skipped` if nothing happens in it."""

    skipped = 0.0
    jobs = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= _MOMENT_SECONDS or self.jobs:
            return super().select(timeout)
        ready = super().select(_MOMENT_SECONDS)
        if not ready:
            self.skipped += timeout - _MOMENT_SECONDS
        return ready


class SkippingLoop(asyncio.SelectorEventLoop):
    """Skips the time in which nothing happens, for clients and servers in one loop, with real sockets.

    What one side sends the other has at once, so a moment of silence means that all wait for a timer. Other
    processes would answer after every deadline. The loop waits for jobs of threads.
    """

    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        return super().time() + self._skipping.skipped

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Given], _Made], *args: *_Given
    ) -> asyncio.Future[_Made]:
        job = super().run_in_executor(executor, func, *args)
        self._skipping.jobs += 1
        job.add_done_callback(self._end_job)
        return job

    def _end_job(self, _: object) -> None:
        self._skipping.jobs -= 1


def loop_of(item: pytest.Item) -> type[asyncio.AbstractEventLoop]:
    """Returns the loop of a test: one that skips, unless the test uses servers or is marked `real_time`."""
    fixtures = set(getattr(item, "fixturenames", ()))
    is_real = fixtures & _SERVERS or item.get_closest_marker("real_time")
    return asyncio.SelectorEventLoop if is_real else SkippingLoop
