"""Locks that last as long as `up` or a server that it started.

A lock of flock(2) belongs to an open file, not to a process. `up` opens one lock file for each server, and
the server inherits it: the lock is free exactly when both have ended, by any cause. A process that has
meanwhile got the same process id is not mistaken for a leftover.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
from collections.abc import Callable
from pathlib import Path

from quotecast.errors import SettingsError


def take(path: Path) -> int | None:
    """Returns the descriptor of the open, locked file; None if another process holds the lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


async def claim(
    path: Path,
    *,
    pid_file: Path | None = None,
    seconds: float = 10.0,
    kill_children: Callable[[], None] = lambda: None,
) -> int:
    """Returns the descriptor of a server's locked file, after the end of an earlier run's leftover server.

    A leftover with a `pid_file` gets SIGINT, then SIGKILL with its children; one without ends by itself,
    because its parent has ended. Raises SettingsError if it still runs after `seconds`.
    """
    descriptor = take(path)
    for number in (signal.SIGINT, signal.SIGKILL):
        if descriptor is None:
            _signal(pid_file, number)
            if number is signal.SIGKILL:
                kill_children()
            descriptor = await _take_within(seconds / 2, path)
    if descriptor is None:
        raise SettingsError(f"{path}: a process that an earlier `quotecast up` started does not end")
    # The process id in the file is unused now, or another process's, which PostgreSQL would take for a
    # server.
    _remove(pid_file)
    return descriptor


async def _take_within(seconds: float, path: Path) -> int | None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (descriptor := take(path)) is None:  # noqa: ASYNC110 - no event reports a free lock
                await asyncio.sleep(0.05)
            return descriptor
    return None


def _signal(pid_file: Path | None, number: signal.Signals) -> None:
    if pid_file:
        with contextlib.suppress(OSError, ValueError, IndexError):
            os.kill(int(pid_file.read_text().split()[0]), number)


def _remove(pid_file: Path | None) -> None:
    if pid_file:
        pid_file.unlink(missing_ok=True)
