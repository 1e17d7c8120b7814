"""The clocks and the entropy of a world: what `time`, `os.urandom` and `random` answer its processes.

`install` comes before every import of the service, whose default arguments hold the functions of `time`.
"""

import os
import random
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

#: The process whose code runs; see `loop.Process`.
PROCESS: Final[ContextVar[Any]] = ContextVar("process")
#: Unix time at which a world begins: a Monday, 9:59:45 in New York. Its monotonic clock begins at 1000.
WALL: Final = 1_795_445_985.0
MONOTONIC: Final = 1000.0
_NANOSECONDS: Final = 1_000_000_000

#: Returns the seconds since the world began; None while no world runs.
_elapsed: Callable[[], float] | None = None


def install() -> None:
    """Makes the clocks of this process those of the world that runs in it."""
    real = {name: getattr(time, name) for name in ("time", "monotonic", "perf_counter")}

    def wall() -> float:
        return real["time"]() if _elapsed is None else WALL + _on_host() + _offset()

    def monotonic() -> float:
        return real["monotonic"]() if _elapsed is None else MONOTONIC + _on_host()

    time.time = wall
    time.monotonic = time.perf_counter = monotonic
    time.time_ns = lambda: int(wall() * _NANOSECONDS)
    time.monotonic_ns = time.perf_counter_ns = lambda: int(monotonic() * _NANOSECONDS)


def begin(elapsed: Callable[[], float], entropy: random.Random) -> None:
    """Starts the clocks of a world, draws all entropy from its seed, and gives its processes one id."""
    global _elapsed  # noqa: PLW0603 - one world runs in a process
    _elapsed = elapsed
    os.urandom = random._urandom = entropy.randbytes  # type: ignore[attr-defined]
    random.seed(entropy.randbytes(16))
    # Names of processes have it, and a longer name is a longer message.
    os.getpid = lambda: 1


def wall_time() -> float:
    """Returns the Unix time of a clock that nobody steps, and that does not drift."""
    assert _elapsed is not None
    return WALL + _elapsed()


def _on_host() -> float:
    """Returns the seconds since the world began, by the clock of the present process's host."""
    assert _elapsed is not None
    process = PROCESS.get(None)
    elapsed: float = _elapsed() if process is None else process.host.seconds_at(_elapsed())
    return elapsed


def _offset() -> float:
    process = PROCESS.get(None)
    return 0.0 if process is None else process.host.clock_offset
