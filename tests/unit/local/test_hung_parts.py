"""Hung processes: they send no heartbeats, and `up` replaces them."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator

import pytest

from quotecast import parent
from quotecast.local.child import Child, ProcessSpec

SILENCE_SECONDS = 0.2
ANNOUNCE = (
    "import os, signal, time; link = int(os.environ['_QUOTECAST_PARENT']); os.write(link, b'serves\\n')"
)
SILENT = f"{ANNOUNCE}; signal.pause()"
BEATING = f"{ANNOUNCE}\nwhile True: os.write(link, b'\\n'); time.sleep(0.02)"


@contextlib.asynccontextmanager
async def serving(program: str) -> AsyncIterator[Child]:
    command = [sys.executable, "-I", "-S", "-c", program]
    child = await Child.start(ProcessSpec(name="api 1", command=command, silence_seconds=SILENCE_SECONDS))
    try:
        assert await child.wait_ready() == "serves"
        yield child
    finally:
        await child.stop()


async def test_a_silent_part_hangs(capsys: pytest.CaptureFixture[str]) -> None:
    """SIGKILL ends it: a hung process does not handle SIGTERM."""
    async with serving(SILENT) as child:
        await asyncio.wait_for(child.wait_or_kill(), 10)
        assert await child.wait_end() == "SIGKILL"
    assert "hangs" in capsys.readouterr().err


async def test_a_part_that_beats_does_not_hang(capsys: pytest.CaptureFixture[str]) -> None:
    """A process with heartbeats runs for any time; without them it is killed."""
    async with serving(BEATING) as child:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(child.wait_or_kill(), 5 * SILENCE_SECONDS)
        assert "hangs" not in capsys.readouterr().err
        os.kill(child.pid, signal.SIGSTOP)
        await asyncio.wait_for(child.wait_or_kill(), 10)


async def test_a_part_that_ends_does_not_hang(capsys: pytest.CaptureFixture[str]) -> None:
    """`wait_end` returns how it ended."""
    async with serving(f"{ANNOUNCE}; signal.pause()") as child:
        os.kill(child.pid, signal.SIGKILL)
        await asyncio.wait_for(child.wait_or_kill(), 10)
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
                assert await asyncio.wait_for(asyncio.get_running_loop().sock_recv(ours, 1), 5) == b"\n"
        await asyncio.wait_for(beating, 5)
