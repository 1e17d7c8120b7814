"""Processes of very many WebSocket clients (`sockets.c`), the limits they need, and the memory of sockets."""

import contextlib
import json
import resource
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from math import ceil
from pathlib import Path
from typing import Final

from msgspec import Struct, convert

HERE: Final = Path(__file__).parent
#: Connections that a client process opens at once.
AT_ONCE: Final = 64
#: Files of a client process beside its sockets.
CLIENT_FILES: Final = 32
#: Connections of one source address. The kernel looks for a free port among every second one of
#: `ip_local_port_range` first: past half of the range each connection takes milliseconds.
PER_SOURCE: Final = 10_000
#: Settings of the kernel with the least value that the clients need, for the sum of all sockets.
SYSCTLS: Final = {
    "net/core/somaxconn": 4096,
    "net/ipv4/tcp_max_syn_backlog": 2048,
}
FILES: Final = "ulimit -n"


class NotAllowedError(Exception):
    """The machine's limits are too low; the message says which, and how to raise them."""


class Measured(Struct):
    """What the clients of one process counted; ages in milliseconds."""

    seconds: float
    cpu_seconds: float
    here: int
    lost: int
    served: int
    frames: int
    bytes: int
    heartbeats: int
    quotes: int
    age_p50: float
    age_p99: float
    age_max: float


class Memory(Struct, frozen=True):
    """Bytes: of the processes alone, and of the kernel's buffers and structures of all sockets."""

    private: int
    kernel: int


class Clients:
    """Processes of clients, each with its part of the sockets and its own source addresses."""

    def __init__(self, processes: Sequence["subprocess.Popen[str]"]) -> None:
        self._processes = processes

    def command(self, line: str) -> None:
        """Sends every process a command."""
        for process in self._processes:
            assert process.stdin
            process.stdin.write(line + "\n")
            process.stdin.flush()

    def answers(self) -> list[str]:
        """Returns the next line of each process. Raises RuntimeError when one has ended."""
        lines = [process.stdout.readline() if process.stdout else "" for process in self._processes]
        if not all(lines):
            raise RuntimeError("a process of clients ended: see its message above")
        return lines

    def measure(self, seconds: float) -> list[Measured]:
        """Returns what the clients count in that time."""
        self.command(f"measure {seconds}")
        return [convert(json.loads(line), Measured) for line in self.answers()]


def memory_of(pids: Sequence[int]) -> Memory:
    """Returns the private memory of processes, and the kernel's memory for all its objects and sockets."""
    private = sum(_kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Private_") for pid in pids)
    kernel = _kilobytes(Path("/proc/meminfo"), "Slab:")
    pages = int(Path("/proc/net/sockstat").read_text().partition("TCP:")[2].split("\n")[0].split()[-1])
    return Memory(private * 1024, kernel * 1024 + pages * resource.getpagesize())


def _kilobytes(path: Path, name: str) -> int:
    lines = path.read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(name))


def raise_files(needed: int) -> int:
    """Raises this process's limit of open files, and with it its children's; returns it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < needed:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, needed))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def check_kernel(sockets: int) -> None:
    """Raises NotAllowedError for settings of the kernel that are too low, with commands that raise them."""
    low = [
        f"sysctl -w {name.replace('/', '.')}={least}"
        for name, least in SYSCTLS.items()
        if int(sysctl(name).split()[0]) < least
    ]
    first, last = map(int, sysctl("net/ipv4/ip_local_port_range").split())
    if last - first < 2 * PER_SOURCE:
        low.append('sysctl -w net.ipv4.ip_local_port_range="32768 60999"')
    if int(sysctl("fs/file-max")) < 3 * sockets:
        low.append(f"sysctl -w fs.file-max={3 * sockets}")
    # A socket holds a page in each direction while bytes are on their way.
    if int(sysctl("net/ipv4/tcp_mem").split()[2]) < sockets // 2:
        low.append(f'sysctl -w net.ipv4.tcp_mem="{sockets // 4} {sockets // 3} {sockets // 2}"')
    if low:
        raise NotAllowedError("settings of the kernel are too low; raise them:\n  " + "\n  ".join(low))


def sysctl(name: str) -> str:
    """Returns a setting of the kernel, by its path below /proc/sys."""
    return Path("/proc/sys", name).read_text()


@cache
def _program() -> Path:
    program = HERE / "build" / "sockets"
    program.parent.mkdir(exist_ok=True)
    subprocess.run(["cc", "-O2", "-o", str(program), str(HERE / "sockets.c")], check=True)
    return program


@contextlib.contextmanager
def connecting(
    port: int, paths: Sequence[str], count: int, files: int, core: int | None = None
) -> Iterator[Clients]:
    """Opens sockets in as many processes as their limit of files asks for."""
    processes: list[subprocess.Popen[str]] = []
    number = ceil(count / (files - CLIENT_FILES))
    sources = ceil(count / PER_SOURCE)
    pinned = ["taskset", "-c", str(core)] if core is not None else []
    try:
        for index in range(number):
            part = count // number + (index < count % number)
            command = [
                *pinned,
                str(_program()),
                "127.0.0.1",
                str(port),
                str(part),
                str(sources),
                str(AT_ONCE),
            ]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            processes.append(process)
            assert process.stdin
            process.stdin.write("\n".join([*paths[index::number], "", ""]))
            process.stdin.flush()
        yield Clients(processes)
    finally:
        for process in processes:
            process.kill()
            process.wait()
