"""Processes on dedicated cores, and the CPU time they use."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import httpx

#: The server has a core to itself; load generators and publishers share the other.
SERVER_CORE: Final = 0
LOAD_CORE: Final = 1
#: 73 workers start in that time on two cores.
START_SECONDS: Final = 120.0
#: Address that servers listen on; `benchmarks.veth` sets another one.
HOST: Final = os.environ.get("BENCH_HOST", "127.0.0.1")


@contextlib.contextmanager
def reserved_port() -> Iterator[int]:
    """Reserves a port: the kernel gives it to nobody else, not even for an outgoing connection.

    The socket is bound and never listens: a server that sets SO_REUSEADDR or SO_REUSEPORT may, as all here
    do.
    """
    with socket.socket() as held:
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            held.setsockopt(socket.SOL_SOCKET, option, 1)
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        yield port


@contextlib.contextmanager
def running(
    command: Sequence[str],
    *,
    core: int | None = LOAD_CORE,
    environment: Mapping[str, str] = {},
    log: Path,
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a process and its children, on one core if `core` is set; their output goes to `log`."""
    pinned = ["taskset", "-c", str(core), *command] if core is not None else list(command)
    with log.open("ab") as output:
        process = subprocess.Popen(
            pinned,
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[bytes], what: str) -> None:
    """Waits until the condition holds. Raises RuntimeError when the process ends or the wait is too long."""
    deadline = time.monotonic() + START_SECONDS
    while not holds():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not start")
        time.sleep(0.05)


def answers(url: str) -> bool:
    """Returns whether the URL answers with success."""
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.HTTPError:
        return False


def listens(port: int) -> bool:
    """Returns whether a server accepts connections at the port."""
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def family(pid: int) -> list[int]:
    """Returns the process and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def cpu_seconds(pids: Sequence[int]) -> float:
    """Returns the CPU seconds of the processes so far, user and system time, to the nanosecond."""
    return sum(_cpu_seconds(pid) for pid in pids)


def resident_bytes(pids: Sequence[int]) -> int:
    """Returns their memory; each has an equal part of shared pages."""
    return sum(_proportional(pid) for pid in pids)


def _cpu_seconds(pid: int) -> float:
    # The formula of clock_getcpuclockid(3); /proc counts in ticks of 10 ms.
    with contextlib.suppress(OSError):
        return time.clock_gettime(~pid << 3 | 2)
    return 0.0


def _proportional(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
