"""Locks that outlive a killed `up` as long as what it started lives, and no longer.

A lock of flock(2) belongs to an open file, not to a process. `up` opens one lock file for each server and
lets the server inherit it: the lock is then free exactly when both have ended, whatever ended them, and a
process that was given the same number since cannot be mistaken for a leftover.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
from pathlib import Path

from quotecast.errors import SettingsError


def take(path: Path) -> int | None:
    """The open, locked file; None if someone else has the lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


async def claim(path: Path, *, pid_file: Path | None = None, seconds: float = 10.0) -> int:
    """The open, locked file of a server, after what an earlier run left behind has ended.

    A leftover that `pid_file` names is told to end, then killed; one without a file ends by itself, for
    its parent is gone. Raises SettingsError if it lives on after `seconds`.
    """
    descriptor = take(path)
    for number in (signal.SIGINT, signal.SIGKILL):
        if descriptor is None:
            _signal(pid_file, number)
            descriptor = await _take_within(seconds / 2, path)
    if descriptor is None:
        raise SettingsError(f"{path}: a process that an earlier `quotecast up` started does not end")
    # By now the number in it is nobody's, or a stranger's whom PostgreSQL would take for its like.
    _remove(pid_file)
    return descriptor


async def _take_within(seconds: float, path: Path) -> int | None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (descriptor := take(path)) is None:  # noqa: ASYNC110 - nothing tells when a lock is free
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
