"""Locks, leftover servers and the data folder."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from quotecast.errors import SettingsError
from quotecast.local import folder, locks
from support.runs.deadlines import scaled

PAUSE = "import signal; print(flush=True); signal.pause()"
DEAF = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
print(flush=True)
while True:
    signal.pause()
"""


def leftover(lock: int, program: str = PAUSE) -> subprocess.Popen[bytes]:
    """Starts a process that inherits the lock and outlives its parent."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program], pass_fds=[lock], stdout=subprocess.PIPE
    )
    os.close(lock)
    return process


@pytest.fixture
def lock(tmp_path: Path) -> int:
    taken = locks.take(tmp_path / "lock")
    assert taken is not None
    return taken


def test_a_lock_is_held_once(tmp_path: Path, lock: int) -> None:
    """Closing the descriptor frees the lock."""
    assert locks.take(tmp_path / "lock") is None
    os.close(lock)
    assert locks.take(tmp_path / "lock") is not None


@pytest.mark.parametrize(
    ("program", "number", "seconds"), [(PAUSE, signal.SIGINT, 10), (DEAF, signal.SIGKILL, 0.5)]
)
async def test_a_leftover_is_ended(
    tmp_path: Path, lock: int, program: str, number: int, seconds: float
) -> None:
    """It gets SIGINT, then SIGKILL; its pid file disappears."""
    with leftover(lock, program) as process:
        assert process.stdout
        process.stdout.readline()
        pid_file = tmp_path / "pid"
        pid_file.write_text(f"{process.pid}\n/more\n")
        os.close(await locks.claim(tmp_path / "lock", pid_file=pid_file, seconds=scaled(seconds)))
        assert process.wait() == -number
        assert not pid_file.exists()


async def test_a_stranger_is_not_taken_for_a_leftover(tmp_path: Path, lock: int) -> None:
    """With a free lock the process id in the file belongs to an unrelated process."""
    os.close(lock)
    pid_file = tmp_path / "pid"
    with leftover(os.open(tmp_path / "other", os.O_CREAT)) as stranger:
        pid_file.write_text(str(stranger.pid))
        os.close(await locks.claim(tmp_path / "lock", pid_file=pid_file))
        assert stranger.poll() is None
        assert not pid_file.exists()
        stranger.kill()


async def test_a_leftover_that_lives_on_is_an_error(tmp_path: Path, lock: int) -> None:
    """Without a pid file `up` cannot signal it: it waits, then fails with the lock's name."""
    with leftover(lock) as process:
        with pytest.raises(SettingsError, match="does not end"):
            await locks.claim(tmp_path / "lock", seconds=0.1)
        process.kill()


def test_the_data_folder_is_made_private_and_held_once(tmp_path: Path) -> None:
    """Only its owner can read the folder; the lock is free at the end."""
    with folder.hold_folder(tmp_path / "a" / "data") as data:
        assert data.stat().st_mode & 0o777 == 0o700
        with pytest.raises(SettingsError, match="Another"), folder.hold_folder(data):
            pytest.fail("it was held")
    with folder.hold_folder(tmp_path / "a" / "data"):
        pass


def test_sockets_lie_in_the_data_folder(tmp_path: Path) -> None:
    """A killed run's sockets disappear at the start, all sockets at the end."""
    (tmp_path / "sockets").mkdir()
    (tmp_path / "sockets" / "old").touch()
    with folder.socket_folder(tmp_path) as place:
        assert place == tmp_path / "sockets"
        assert list(place.iterdir()) == []
    assert not place.exists()


def test_where_a_path_is_too_long_for_sockets_they_lie_elsewhere(tmp_path: Path) -> None:
    """The temporary folder is the owner's alone, and disappears at the end."""
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    with folder.socket_folder(deep) as place:
        assert not place.is_relative_to(deep)
        assert len(str(place)) < 80
        assert place.stat().st_mode & 0o777 == 0o700
    assert not place.exists()
