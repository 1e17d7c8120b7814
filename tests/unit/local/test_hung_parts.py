"""Hung processes: they send no heartbeats, and `up` replaces them."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from quotecast import parent
from quotecast.local.child import Child, ProcessSpec
from support.runs import virtual_time
from support.runs.deadlines import scaled

ANNOUNCE = "import os, signal; os.write(int(os.environ['_QUOTECAST_PARENT']), b'serves\\n')"
SILENT = f"{ANNOUNCE}; signal.pause()"


@contextlib.asynccontextmanager
async def serving(silence_seconds: float) -> AsyncIterator[Child]:
    """Yields a process that sends no heartbeats."""
    command = [sys.executable, "-I", "-S", "-c", SILENT]
    child = await Child.start(ProcessSpec(name="api 1", command=command, silence_seconds=silence_seconds))
    try:
        assert await child.wait_ready() == "serves"
        yield child
    finally:
        await child.stop()


async def test_a_silent_part_hangs(capsys: pytest.CaptureFixture[str]) -> None:
    """SIGKILL ends it: a hung process does not handle SIGTERM."""
    async with serving(0.1) as child:
        await asyncio.wait_for(child.wait_or_kill(), scaled(10))
        assert await child.wait_end() == "SIGKILL"
    assert "hangs" in capsys.readouterr().err


class Process:
    """A process that runs until it is killed."""

    def __init__(self) -> None:
        self._ended = asyncio.Event()

    async def wait(self) -> int:
        await self._ended.wait()
        return -signal.SIGKILL

    def kill(self) -> None:
        self._ended.set()


def test_a_part_that_beats_does_not_hang(capsys: pytest.CaptureFixture[str]) -> None:
    """A process with heartbeats runs for any time; after two silent periods it is killed."""

    async def play() -> None:
        process: Any = Process()
        link, output, writer = asyncio.StreamReader(), asyncio.StreamReader(), cast("Any", None)
        child = Child(
            ProcessSpec(name="api 1", command=[], silence_seconds=5),
            process,
            (link, writer),
            (output, writer),
        )
        waiting = asyncio.create_task(child.wait_or_kill())
        for pause in 20 * (4.9, 9.9):
            await asyncio.sleep(pause)
            link.feed_data(b"\n")
        assert "hangs" not in capsys.readouterr().err
        beat_at = asyncio.get_running_loop().time()
        await waiting
        assert asyncio.get_running_loop().time() - beat_at == pytest.approx(10)
        assert "hangs" in capsys.readouterr().err

    virtual_time.run(play())


async def test_a_part_that_ends_does_not_hang(capsys: pytest.CaptureFixture[str]) -> None:
    """`wait_end` returns how it ended."""
    async with serving(scaled(10)) as child:
        os.kill(child.pid, signal.SIGKILL)
        await child.wait_or_kill()
        assert await child.wait_end() == "SIGKILL"
    assert "hangs" not in capsys.readouterr().err


async def test_beats_reach_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heartbeats go on until the parent ends."""
    monkeypatch.setattr(parent, "BEAT_SECONDS", 0.01)
    ours, theirs = socket.socketpair()
    with theirs:
        monkeypatch.setenv(parent.VARIABLE, str(theirs.fileno()))
        beating = asyncio.create_task(parent.beat())
        with ours:
            ours.setblocking(False)
            for _ in range(3):
                assert (
                    await asyncio.wait_for(asyncio.get_running_loop().sock_recv(ours, 1), scaled(5)) == b"\n"
                )
        await asyncio.wait_for(beating, scaled(5))
