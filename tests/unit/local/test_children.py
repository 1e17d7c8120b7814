"""Supervision of child processes, with small Python programs as children."""

import asyncio
import os
import re
import signal
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quotecast.local.child import Child, ProcessSpec
from quotecast.local.children import Deaths, ProcessFailed, keep_running, run_to_end
from support.runs.deadlines import scaled

ANNOUNCE = "import os, signal; os.write(int(os.environ['_QUOTECAST_PARENT']), b'serves\\n')"


def part(program: str, name: str = "ingest", **options: Any) -> ProcessSpec:
    # Isolated and without site-packages: it starts in a few milliseconds.
    return ProcessSpec(name=name, command=[sys.executable, "-I", "-S", "-c", program], **options)


async def no_sleep(_seconds: float) -> None:
    await asyncio.sleep(0)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def said_pids(text: str) -> list[int]:
    return [int(line.split(" pid ")[1].split()[0]) for line in text.splitlines()]


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 100)), max_size=30), st.integers())
@example([(True, 1.0), *[(False, 1.0)] * 20], 1)
def test_only_a_part_that_never_served_is_given_up(lives: list[tuple[bool, float]], seed: int) -> None:
    """Without ever serving it fails after five deaths; else it restarts for ever, at most 5 s apart."""
    deaths = Deaths(Random(seed))
    ever_served = False
    for count, (served, seconds) in enumerate(lives, start=1):
        delay = deaths.add(served=served, seconds=seconds)
        ever_served = ever_served or served
        assert (delay is None) == (not ever_served and count >= 5)
        assert delay is None or 0 < delay <= 5


def test_delays_double_up_to_a_cap_and_a_healthy_life_resets_them() -> None:
    """A process that dies right after its start waits before the next one."""
    deaths = Deaths(Random(1))
    delays = [deaths.add(served=True, seconds=0.0) for _ in range(10)]
    assert all(0.5 * longest <= delay <= longest for delay, longest in _with_longest(delays))
    after_health = deaths.add(served=True, seconds=60.0)
    assert after_health is not None
    assert after_health <= 0.2


def _with_longest(delays: list[float | None]) -> list[tuple[float, float]]:
    return [(delay or 0.0, min(5.0, 0.2 * 2**index)) for index, delay in enumerate(delays)]


async def test_a_part_that_announces_itself_is_ready_and_ends_with_the_group(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The body runs from readiness to the end of the process."""
    async with keep_running(part(f"{ANNOUNCE}; signal.pause()")):
        said = capsys.readouterr().out
        [pid] = said_pids(said)
        assert re.fullmatch(rf"ingest    pid {pid:<7} serves, \d+\.\d s\n", said)
        assert alive(pid)
    assert not alive(pid)


async def test_children_are_out_of_reach_of_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C signals the foreground group; a child runs in its own session."""
    async with keep_running(part(f"{ANNOUNCE}; signal.pause()")):
        [pid] = said_pids(capsys.readouterr().out)
        assert os.getsid(pid) == pid


async def test_a_part_that_dies_is_started_again(capsys: pytest.CaptureFixture[str]) -> None:
    """The output names the signal and the delay."""
    slept = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        slept.set()

    async with keep_running(part(f"{ANNOUNCE}; signal.pause()"), sleep=sleep):
        [first] = said_pids(capsys.readouterr().out)
        os.kill(first, signal.SIGKILL)
        await slept.wait()
        said = ""
        while not said:
            await asyncio.sleep(0.01)
            said, log = capsys.readouterr()
            if log:
                assert "ended with SIGKILL; starts again" in log
        assert said_pids(said) != [first]


async def test_a_part_that_cannot_live_ends_everything_and_says_why() -> None:
    """The error names the process and ends with its last lines, after five starts."""
    program = "import sys; sys.stderr.write('one\\n'); sys.exit('no such table')"
    with pytest.raises(ProcessFailed, match=r"^ingest cannot run: exit code 1\n  one\n  no such table$"):
        async with keep_running(part(program), sleep=no_sleep):
            pytest.fail("it never served")


async def test_a_part_that_served_once_is_started_until_it_serves_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """PostgreSQL may fail while its disk is full; other processes go on."""
    broken, starts = tmp_path / "broken", []
    program = f"import os, sys; os.path.exists({str(broken)!r}) and sys.exit('disk full'); {ANNOUNCE}"

    async def sleep(_seconds: float) -> None:
        starts.append(capsys.readouterr().err)
        if len(starts) == 8:
            broken.unlink()
            mended.set()

    mended = asyncio.Event()
    async with keep_running(part(f"{program}; signal.pause()"), sleep=sleep):
        [pid] = said_pids(capsys.readouterr().out)
        broken.touch()
        os.kill(pid, signal.SIGKILL)
        await mended.wait()
        said = ""
        while not said:
            await asyncio.sleep(0.01)
            said = capsys.readouterr().out
        assert said_pids(said) != [pid]
    assert sum("disk full" in each for each in starts) == 7


async def test_a_part_that_served_once_survives_a_start_that_the_system_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system may lack memory, or the program may be under replacement: `up` tries again."""
    program = tmp_path / "program"
    program.symlink_to(sys.executable)
    process = ProcessSpec(
        name="valkey", command=[str(program), "-I", "-S", "-c", f"{ANNOUNCE}; signal.pause()"]
    )
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 1:
            program.unlink()
        if len(slept) == 7:
            program.symlink_to(sys.executable)

    async with keep_running(process, sleep=sleep):
        [pid] = said_pids(capsys.readouterr().out)
        os.kill(pid, signal.SIGKILL)
        said = ""
        while not said:
            await asyncio.sleep(0.01)
            said = capsys.readouterr().out
    assert len(slept) == 7


async def test_a_part_that_never_serves_is_stopped() -> None:
    """A process that is not ready in time counts as dead."""
    with pytest.raises(ProcessFailed, match="SIGTERM"):
        async with keep_running(part("import signal; signal.pause()", ready_seconds=0.05), sleep=no_sleep):
            pytest.fail("it never served")


async def test_a_failing_part_ends_what_runs_inside_first(capsys: pytest.CaptureFixture[str]) -> None:
    """A database ends after its users, even when the database itself fails."""
    database = part(f"{ANNOUNCE}; signal.pause()", name="valkey")
    program = f"import sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit('api ends'))\n{ANNOUNCE}"
    api = part(f"import signal; {program}\nsignal.pause()", name="api 1")

    async def lost(_seconds: float) -> None:
        raise ProcessFailed("valkey is lost")

    async def both() -> None:
        async with keep_running(database, sleep=lost), keep_running(api):
            pids.extend(said_pids(capsys.readouterr().out))
            os.kill(pids[0], signal.SIGKILL)
            await asyncio.Event().wait()

    pids: list[int] = []
    with pytest.raises(ProcessFailed, match="valkey is lost"):
        await both()
    assert "api 1     | api ends\n" in capsys.readouterr().err
    assert not any(map(alive, pids))


async def test_a_part_that_ignores_the_signal_is_killed(capsys: pytest.CaptureFixture[str]) -> None:
    """The deadline holds for any child."""
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    stubborn = f"{deaf}; {ANNOUNCE}\nwhile True: signal.pause()"
    async with keep_running(part(stubborn, stop_seconds=0.05)):
        [pid] = said_pids(capsys.readouterr().out)
    assert not alive(pid)


async def test_what_a_part_started_ends_with_it(tmp_path: Path) -> None:
    """Grandchildren would hold the child's port or files."""
    file = tmp_path / "pid"
    sleeper = [sys.executable, "-I", "-S", "-c", "import signal; signal.pause()"]
    program = f"import subprocess; open({str(file)!r}, 'w').write(str(subprocess.Popen({sleeper}).pid))"
    async with keep_running(part(f"{program}; {ANNOUNCE}; signal.pause()")):
        handle = os.pidfd_open(int(file.read_text()))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(handle, ended.set)
    await asyncio.wait_for(ended.wait(), scaled(10))
    asyncio.get_running_loop().remove_reader(handle)
    os.close(handle)


async def test_output_is_passed_on_under_the_parts_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines pass in order, at any length, the last one even without a line break."""
    await run_to_end(
        part("import sys; print('a' * 200_000); sys.stdout.flush(); sys.stderr.write('last')", name="migrate")
    )
    assert capsys.readouterr().err == f"migrate   | {'a' * 200_000}\nmigrate   | last\n"


async def test_a_command_that_fails_is_an_error() -> None:
    """The error has the process's last lines."""
    with pytest.raises(ProcessFailed, match=r"^migrate cannot run: exit code 3\n  no$"):
        await run_to_end(part("import sys; print('no'); sys.exit(3)", name="migrate"))


async def test_a_program_that_is_missing_is_an_error() -> None:
    """The error is one line, without a stack trace."""
    with pytest.raises(Exception, match=r"^valkey cannot be started: .*No such file"):
        await run_to_end(ProcessSpec(name="valkey", command=["/nonexistent/valkey-server"]))


async def test_a_child_reads_nothing_from_the_terminal() -> None:
    """Standard input is empty, so that no child reads the user's keys."""
    child = await Child.start(part("import sys; sys.exit(len(sys.stdin.read()))"))
    try:
        assert await child.wait_end() == "exit code 0"
    finally:
        await child.stop()
