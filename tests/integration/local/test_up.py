"""`quotecast up`, as a real process with its children."""

import contextlib
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quotecast.local import folder
from support.runs.deadlines import scaled
from support.runs.figures import Figures
from support.runs.waits import wait_until
from support.servers.running_up import Up

PARTS = ["postgres", "valkey", "ingest", "api 1", "api 2"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    """Starts `up` on one data folder; kills all leftovers at the end."""
    started: list[Up] = []

    def new(*starter: str, **settings: Any) -> Up:
        started.append(Up(tmp_path / "data", *starter, **settings))
        return started[-1]

    yield new
    for up in started:
        up.kill_everything()


def wait_until_ended(pid: int, seconds: float = 10.0) -> None:
    """Waits for the end of a process that is not our child."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        with os.fdopen(handle) as file, contextlib.closing(_selector(file.fileno())) as selector:
            assert selector.select(scaled(seconds)), f"process {pid} lives on"


def _selector(descriptor: int) -> Any:
    selector = selectors.DefaultSelector()
    selector.register(descriptor, selectors.EVENT_READ)
    return selector


def test_everything_starts_serves_and_stops(
    start: Callable[..., Up], tmp_path: Path, figures: Figures
) -> None:
    """Each process prints a line when ready, then `up` prints URLs; SIGTERM ends all within ten seconds."""
    up = start()
    up.wait_until_it_serves()
    assert sorted(up.pids) == sorted(PARTS)
    assert f"http://127.0.0.1:{up.port}/api/docs" in "".join(up.output)
    assert "simulat" in "".join(up.output)
    assert up.get("/api/health") == {"status": "ok"}
    assert set(up.get("/api/market/quotes?symbols=AAPL,MSFT")) == {"AAPL", "MSFT"}

    began = time.monotonic()
    up.process.send_signal(signal.SIGTERM)
    out, err = up.process.communicate(timeout=scaled(20))
    figures.at_most("all processes stop", time.monotonic() - began, 10)
    assert up.process.returncode == 0, err
    assert out.endswith("Stopping.\nStopped.\n")
    for pid in up.pids.values():
        wait_until_ended(pid, 0)
    assert not (tmp_path / "data" / "sockets").exists()


@pytest.mark.slow
def test_scenarios_begin_once_for_all_processes(start: Callable[..., Up]) -> None:
    """The ingest and the workers have the times that `up` prints."""
    up = start(scenarios=["new-listing@+3600,symbols=ABNB", "holiday"])
    up.wait_until_it_serves()
    lines = [line.split()[1] for line in up.output if line.startswith("Scenario ")]
    assert [re.sub(r"@20[0-9T:.-]+Z", "@TIME", line) for line in lines] == [
        "new-listing@TIME,symbols=ABNB",
        "holiday@TIME",
    ]
    assert set(up.get("/api/market/quotes?symbols=AAPL,ABNB")) == {"AAPL"}
    # A holiday is one of New York's calendar; without scenarios the simulated exchange never closes.
    wait_until(lambda: up.get("/api/market/status")["nextOpen"], "the exchange never closes", pause=0.1)


@pytest.mark.slow
def test_a_hangup_does_not_end_what_nohup_started(start: Callable[..., Up]) -> None:
    """Closing the terminal ends neither `up` nor its children; SIGTERM still does."""
    up = start("nohup")
    up.wait_until_it_serves()
    up.process.send_signal(signal.SIGHUP)
    assert all(ignores(pid, signal.SIGHUP) for pid in (up.process.pid, up.pids["ingest"], up.pids["api 1"]))
    assert up.get("/api/health") == {"status": "ok"}
    up.process.send_signal(signal.SIGTERM)
    out, err = up.process.communicate(timeout=scaled(20))
    assert up.process.returncode == 0, err
    assert out.endswith("Stopping.\nStopped.\n")


def ignores(pid: int, number: signal.Signals) -> bool:
    """Returns whether a process ignores a signal, from /proc (Linux's proc(5))."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool(int(status["SigIgn"], 16) >> (number - 1) & 1)


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced(start: Callable[..., Up]) -> None:
    """The other processes go on serving."""
    up = start()
    up.wait_until_it_serves()
    os.kill(up.pids["api 1"], signal.SIGKILL)
    up.wait_for_restart("api 1")
    assert up.get("/api/health") == {"status": "ok"}


@pytest.mark.slow
@pytest.mark.parametrize("part", ["postgres", "valkey"])
def test_the_market_goes_on_while_a_server_cannot_start(
    start: Callable[..., Up], tmp_path: Path, part: str
) -> None:
    """It restarts for any number of failures; `up` keeps running, and it serves once the cause is gone."""
    up = start()
    up.wait_until_it_serves()
    folder, aside = tmp_path / "data" / part, tmp_path / "aside"
    folder.rename(aside)
    os.kill(up.pids[part], signal.SIGKILL)
    for _ in range(6):
        up.wait_for_death(part)
    assert set(up.get("/api/market/quotes?symbols=AAPL")) == {"AAPL"}
    aside.rename(folder)
    up.wait_for_restart(part)
    assert up.get("/api/health") == {"status": "ok"}


@pytest.mark.slow
def test_after_a_kill_the_next_start_finds_the_field_clear(start: Callable[..., Up]) -> None:
    """Workers end with their parent; the next `up` ends the databases, which do not notice."""
    first = start()
    first.wait_until_it_serves()
    first.process.kill()
    for part in ("ingest", "api 1", "api 2"):
        wait_until_ended(first.pids[part])
    second = start()
    second.wait_until_it_serves()
    for part in ("postgres", "valkey"):
        wait_until_ended(first.pids[part], 0)
    assert second.get("/api/health") == {"status": "ok"}


@pytest.mark.slow
def test_a_stranger_with_a_stale_number_is_left_alone(start: Callable[..., Up], tmp_path: Path) -> None:
    """After a crash the process id in a pid file may belong to another process."""
    first = start()
    first.wait_until_it_serves()
    first.process.kill()
    for pid in first.pids.values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_until_ended(pid)
    pid_file = tmp_path / "data" / "postgres" / "postmaster.pid"
    _, *rest = pid_file.read_text().splitlines()
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as stranger:
        pid_file.write_text("\n".join([str(stranger.pid), *rest]))
        second = start()
        second.wait_until_it_serves()
        assert stranger.poll() is None
        stranger.kill()


def refusal(up: Up) -> str:
    """Waits for a start that fails with exit code 2, and returns its error output."""
    _, err = up.process.communicate(timeout=scaled(30))
    assert up.process.returncode == 2, err
    return err


def test_a_second_one_on_the_same_data_is_refused(start: Callable[..., Up], tmp_path: Path) -> None:
    """The error is one line, before anything starts."""
    with folder.hold_folder(tmp_path / "data"):
        assert refusal(start()) == (
            f"Another `quotecast up` uses {tmp_path / 'data'}; set QUOTECAST_DATA_DIR to another folder\n"
        )


def test_a_taken_port_is_refused(start: Callable[..., Up]) -> None:
    """The check precedes every start, and fails even if the port's owner would share it."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert refusal(start(port=str(port))) == (
            f"Port {port} on 127.0.0.1 is taken; set QUOTECAST_PORT to another\n"
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "url", "problem"),
    [
        ("database_url", "postgresql://user:hidden@127.0.0.1:1/quotes", "PostgreSQL at 127.0.0.1:1"),
        ("redis_url", "redis://:hidden@127.0.0.1:1/0", "Redis at 127.0.0.1:1"),
    ],
)
def test_a_given_server_that_does_not_answer_is_refused(
    start: Callable[..., Up], setting: str, url: str, problem: str
) -> None:
    """No embedded server replaces it; the error names the address, not the password."""
    error = refusal(start(**{setting: url}))
    assert f"QUOTECAST_{setting.upper()}: {problem} does not answer" in error
    assert "hidden" not in error


@pytest.mark.slow
def test_servers_that_settings_name_are_used(
    start: Callable[..., Up], redis_url: str, database_url: str
) -> None:
    """No embedded server starts."""
    up = start(redis_url=redis_url, database_url=database_url)
    up.wait_until_it_serves()
    assert sorted(up.pids) == ["api 1", "api 2", "ingest"]
    assert up.get("/api/health") == {"status": "ok"}


@pytest.mark.slow
def test_servers_that_files_name_are_used(
    start: Callable[..., Up], tmp_path: Path, redis_url: str, database_url: str
) -> None:
    """Child processes get the values, so that value and file never conflict."""
    secrets = {"redis_url": redis_url, "database_url": database_url, "jwt_secret": "s" * 32}
    for name, value in secrets.items():
        (tmp_path / name).write_text(f"{value}\n", "utf-8")
    up = start(**{f"{name}_file": str(tmp_path / name) for name in secrets})
    up.wait_until_it_serves()
    assert sorted(up.pids) == ["api 1", "api 2", "ingest"]
    assert not (tmp_path / "data" / "jwt-secret").exists()
