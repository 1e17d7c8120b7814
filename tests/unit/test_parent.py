"""The link between a child and the `up` that started it."""

import asyncio
import os
import signal
import socket
import sys

import pytest

from quotecast import parent
from support.runs.deadlines import scaled


async def test_an_announcement_reaches_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line goes over the inherited socket, which stays open."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setenv(parent.VARIABLE, str(theirs.fileno()))
        parent.announce("serves quotes (simulated)")
        assert ours.recv(100) == b"serves quotes (simulated)\n"
        ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            ours.recv(100)


async def test_the_parents_end_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system closes the parent's socket, however the parent ended."""
    ours, theirs = socket.socketpair()
    with theirs:
        monkeypatch.setenv(parent.VARIABLE, str(theirs.fileno()))
        gone = asyncio.create_task(parent.wait_for_parent_end())
        await asyncio.sleep(0)
        assert not gone.done()
        ours.close()
        await asyncio.wait_for(gone, scaled(5))


async def test_an_announcement_to_a_dead_parent_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """`wait_for_parent_end` reports the end."""
    ours, theirs = socket.socketpair()
    with theirs:
        monkeypatch.setenv(parent.VARIABLE, str(theirs.fileno()))
        ours.close()
        parent.announce("serves quotes")
        await asyncio.wait_for(parent.wait_for_parent_end(), scaled(5))


async def test_without_a_parent_it_prints_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a parent it waits for ever."""
    monkeypatch.delenv(parent.VARIABLE, raising=False)
    parent.announce("serves quotes")
    assert capsys.readouterr().err == "serves quotes\n"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(parent.wait_for_parent_end(), 0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_tells_it_to_stop(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    """A user or a container's supervisor started it."""
    monkeypatch.delenv(parent.VARIABLE, raising=False)
    stopping = asyncio.create_task(parent.wait_for_stop())
    await asyncio.sleep(0)
    assert not stopping.done()
    os.kill(os.getpid(), number)
    await asyncio.wait_for(stopping, scaled(5))


async def test_an_ignored_hangup_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process under nohup ignores SIGHUP from its start."""
    monkeypatch.delenv(parent.VARIABLE, raising=False)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        stopping = asyncio.create_task(parent.wait_for_stop())
        await asyncio.sleep(0)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(stopping, scaled(5))
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_the_parents_end_tells_it_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """No signal is necessary."""
    ours, theirs = socket.socketpair()
    with theirs:
        monkeypatch.setenv(parent.VARIABLE, str(theirs.fileno()))
        stopping = asyncio.create_task(parent.wait_for_stop())
        ours.close()
        await asyncio.wait_for(stopping, scaled(5))


async def test_a_killed_parent_takes_its_child_along() -> None:
    """Through real processes: the child ends without a signal."""
    child = (
        "import asyncio\nfrom quotecast import parent\n"
        "parent.announce('ready')\nasyncio.run(parent.wait_for_parent_end())"
    )
    starter = (
        "import asyncio, sys\nfrom quotecast.local.child import Child, ProcessSpec\n"
        "async def main():\n"
        f"    child = await Child.start(ProcessSpec(name='api', command=[sys.executable, '-c', {child!r}]))\n"
        "    print(await child.wait_ready(), child.pid, flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())"
    )
    up = await asyncio.create_subprocess_exec(
        sys.executable, "-c", starter, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert up.stdout
    word, pid = (await asyncio.wait_for(up.stdout.readline(), scaled(30))).split()
    assert word == b"ready"
    handle = os.pidfd_open(int(pid))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(handle, ended.set)
    up.send_signal(signal.SIGKILL)
    await up.wait()
    await asyncio.wait_for(ended.wait(), scaled(10))
    asyncio.get_running_loop().remove_reader(handle)
    os.close(handle)
