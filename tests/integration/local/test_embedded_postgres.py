"""The PostgreSQL that `up` starts."""

import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from quotecast.local import postgres, servers
from support.runs.waits import until, until_answered


@contextlib.asynccontextmanager
async def frozen_session(url: str) -> AsyncIterator[int]:
    """Gives the process id of a stopped session."""
    connection = await asyncpg.connect(url)
    process = int(await connection.fetchval("SELECT pg_backend_pid()"))
    os.kill(process, signal.SIGSTOP)
    try:
        yield process
    finally:
        connection.terminate()


def kill_server(data: Path) -> None:
    number = postgres.pid_file(data / "postgres").read_text().split()[0]
    os.kill(int(number), signal.SIGKILL)


async def until_connected(url: str) -> None:
    async def connects() -> bool:
        connection = await asyncpg.connect(url)
        await connection.close()
        return True

    await until_answered(connects, seconds=30, ignoring=(OSError, asyncpg.PostgresError))


async def until_ended(process: int) -> None:
    """Waits for a process that is killed; whoever inherited it may leave it as a zombie."""
    await until(lambda: not lives(process))


def lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.slow
async def test_a_stopped_session_keeps_a_killed_server_from_no_start(tmp_path: Path) -> None:
    """The session holds the shared memory, beside which PostgreSQL starts no other server."""
    async with servers.database("", tmp_path, tmp_path) as url, frozen_session(url) as session:
        kill_server(tmp_path)
        await until_connected(url)
        await until_ended(session)


@pytest.mark.slow
async def test_a_stopped_session_does_not_outlive_its_server(tmp_path: Path) -> None:
    """A stop kills what has not ended in time."""
    async with servers.database("", tmp_path, tmp_path) as url, frozen_session(url) as session:
        pass
    await until_ended(session)


def test_other_programs_in_the_data_folder_live_on(tmp_path: Path) -> None:
    """Such as the shell of an operator who looks into it."""
    with subprocess.Popen(["cat"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: S607 - of the system
        postgres.kill_children(tmp_path)
        assert other.communicate(b"alive")[0] == b"alive"
    assert other.returncode == 0
