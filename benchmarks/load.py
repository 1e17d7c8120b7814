"""Load generators: wrk for HTTP, and `listeners`, a C program, for WebSockets."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct, convert

from benchmarks import veth
from benchmarks.processes import LOAD_CORE, cpu_seconds, family, resident_bytes

HERE: Final = Path(__file__).parent
PINNED: Final = ("taskset", "-c", str(LOAD_CORE))
WRK_CONNECTIONS: Final = 32
#: Seconds after which listeners end that nobody stops.
HELD_SECONDS: Final = 600
#: A script for wrk: many clients behind a trusted proxy.
CLIENTS: Final = HERE / "clients.lua"
#: A script for wrk: about 10,000 requests a second.
UNHURRIED: Final = HERE / "unhurried.lua"


class OverloadedError(Exception):
    """An overloaded server did not accept every connection."""


class ListenerResult(Struct):
    """Measurements of WebSocket listeners over `seconds`; ages in milliseconds."""

    seconds: float
    #: CPU seconds of the load generator, which show that it is not the bottleneck.
    cpu_seconds: float
    listeners: int
    served: int
    closed: int
    frames: int
    #: Of messages, inflated.
    bytes: int
    #: As they came, compressed and with the headers of frames.
    wire_bytes: int
    #: Frames that came compressed.
    deflated: int
    largest: int
    quotes: int
    age_p50: float
    age_p99: float
    age_max: float
    server_cpu_seconds: float = 0.0
    #: CPU seconds of everything behind the sockets: publisher, broker and server.
    total_cpu_seconds: float = 0.0
    #: CPU seconds of the server until all listeners were connected and warm.
    opening_cpu_seconds: float = 0.0
    server_bytes: int = 0

    @property
    def frames_per_cpu_second(self) -> float:
        """Frames per CPU second of the server."""
        return self.frames / self.server_cpu_seconds

    @property
    def bytes_per_quote(self) -> float:
        """Bytes on the wire per quote, with the headers of frames and without those of TCP."""
        return self.wire_bytes / max(self.quotes, 1)

    @property
    def quotes_per_cpu_second(self) -> float:
        """Quotes per CPU second of the server."""
        return self.quotes / self.server_cpu_seconds


class HttpResult(Struct):
    """Measurements of HTTP clients."""

    per_second: float
    per_cpu_second: float
    bytes_per_answer: float


def ask(url: str, pids: Sequence[int], seconds: float, *, script: Path | None = None) -> HttpResult:
    """Sends as many requests as the server answers; `script` is one of wrk's.

    Raises RuntimeError if any answer is no success.
    """
    before = cpu_seconds(pids)
    with wrk(url, seconds, script=script) as process:
        output = process.communicate()[0]
    used = cpu_seconds(pids) - before
    requests, rate, read = answered(url, output)
    return HttpResult(rate, requests / used, read / requests)


def wrk(url: str, seconds: float, *, script: Path | None = None, timeout: int = 2) -> "subprocess.Popen[str]":
    """Starts wrk, which takes whole seconds only; `script` is one of its own.

    An answer that takes longer than `timeout` seconds counts as an error.
    """
    command = [*PINNED, "wrk", "-t1", f"-c{WRK_CONNECTIONS}", f"-d{max(1, round(seconds))}s"]
    command += [f"--timeout={timeout}s", *(["-s", str(script)] if script else []), url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def answered(url: str, output: str) -> tuple[int, float, float]:
    """Returns the requests that wrk sent, those of a second, and the bytes that it read.

    Raises RuntimeError if any answer is no success.
    """
    counted = re.search(r"(\d+) requests in [\d.]+\w+, ([\d.]+)([KMG]?)B read", output)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
    if not counted or not rate or "Non-2xx" in output or "Socket errors" in output:
        raise RuntimeError(f"{url} answered without success:\n{output}")
    read = float(counted[2]) * {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[counted[3]]
    return int(counted[1]), float(rate[1]), read


def listen(
    port: int,
    paths: Sequence[str],
    count: int,
    pids: Sequence[int],
    *,
    warm: float = 1.5,
    seconds: float,
    deflate: bool = False,
    rows: bool = False,
    sample: bool = False,
    over_veth: bool = False,
) -> ListenerResult:
    """Connects listeners, which take the paths in turn; with `deflate` they offer compression.

    A header of the handshake may follow a path, after a tab. With `rows` they ask for rows. With `sample` the
    quotes and ages are those of every 20th listener. With `over_veth` they run in a network namespace of
    their own.
    """
    address, prefix = (veth.SERVERS, veth.listeners_prefix()) if over_veth else ("127.0.0.1", [])
    words = [*["deflate"] * deflate, *["rows"] * rows, *["sample"] * sample]
    numbers = [address, str(port), str(count), f"{warm:g}", f"{seconds:g}"]
    began = cpu_seconds(pids)
    with _listeners([*prefix, *PINNED, str(compile_listeners()), *numbers, *words], paths) as listeners:
        behind = _pids_behind(listeners.pid)
        before, total_before = cpu_seconds(pids), cpu_seconds(behind)
        assert listeners.stdout
        result = convert(json.loads(listeners.stdout.readline()), ListenerResult)
        result.server_cpu_seconds = cpu_seconds(pids) - before
        result.total_cpu_seconds = cpu_seconds(behind) - total_before
        result.opening_cpu_seconds = before - began
        result.server_bytes = resident_bytes(pids)
    return result


def _pids_behind(listeners: int) -> list[int]:
    """Returns every process that this program started, without the listeners."""
    others = {os.getpid(), *family(listeners)}
    return [pid for pid in family(os.getpid()) if pid not in others]


@contextmanager
def hold_listeners(port: int, paths: Sequence[str], count: int, *, warm: float = 1.5) -> Iterator[None]:
    """Connects listeners, which read until the end of `with`; see `listen`."""
    numbers = ["127.0.0.1", str(port), str(count), f"{warm:g}", str(HELD_SECONDS)]
    with _listeners([*PINNED, str(compile_listeners()), *numbers], paths) as listeners:
        try:
            yield
        finally:
            listeners.kill()


@contextmanager
def _listeners(command: Sequence[str], paths: Sequence[str]) -> Iterator["subprocess.Popen[str]"]:
    """Runs listeners; yields them when all are connected and warm."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as listeners:
        assert listeners.stdin
        assert listeners.stdout
        listeners.stdin.write("\n".join(paths))
        listeners.stdin.close()
        if listeners.stdout.readline() != "started\n":
            raise OverloadedError(f"the server did not accept all of the listeners: {command}")
        yield listeners


@cache
def compile_listeners() -> Path:
    """Returns the program, compiled from its source."""
    program = HERE / "build" / "listeners"
    program.parent.mkdir(exist_ok=True)
    source = HERE / "listeners.c"
    subprocess.run(["cc", "-O2", "-o", str(program), str(source), "-lz"], check=True)
    return program
