"""Load generators: wrk for HTTP, and `listeners`, a C program, for WebSockets."""

import json
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct, convert

from benchmarks import veth
from benchmarks.processes import LOAD_CORE, cpu_seconds, resident_bytes

HERE: Final = Path(__file__).parent
PINNED: Final = ("taskset", "-c", str(LOAD_CORE))
WRK_CONNECTIONS: Final = 32
#: A script for wrk: many clients behind a trusted proxy.
CLIENTS: Final = HERE / "clients.lua"


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
    # wrk takes whole seconds only.
    command = [*PINNED, "wrk", "-t1", f"-c{WRK_CONNECTIONS}", f"-d{max(1, round(seconds))}s"]
    command += [*(["-s", str(script)] if script else []), url]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    used = cpu_seconds(pids) - before
    counted = re.search(r"(\d+) requests in [\d.]+\w+, ([\d.]+)([KMG]?)B read", output)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
    if not counted or not rate or "Non-2xx" in output or "Socket errors" in output:
        raise RuntimeError(f"{url} answered without success:\n{output}")
    requests = int(counted[1])
    read = float(counted[2]) * {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[counted[3]]
    return HttpResult(float(rate[1]), requests / used, read / requests)


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

    With `rows` they ask for rows. With `sample` the quotes and ages are those of every 20th listener. With
    `over_veth` they run in a network namespace of their own.
    """
    address, prefix = (veth.SERVERS, veth.listeners_prefix()) if over_veth else ("127.0.0.1", [])
    command = [*prefix, *PINNED, str(compile_listeners())]
    command += [
        address,
        str(port),
        str(count),
        f"{warm:g}",
        f"{seconds:g}",
        *["deflate"] * deflate,
        *["rows"] * rows,
        *["sample"] * sample,
    ]
    began = cpu_seconds(pids)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as listeners:
        assert listeners.stdin
        assert listeners.stdout
        listeners.stdin.write("\n".join(paths))
        listeners.stdin.close()
        if listeners.stdout.readline() != "started\n":
            raise OverloadedError(f"the server did not accept all of {count} listeners")
        before = cpu_seconds(pids)
        result = convert(json.loads(listeners.stdout.readline()), ListenerResult)
        result.server_cpu_seconds = cpu_seconds(pids) - before
        result.opening_cpu_seconds = before - began
        result.server_bytes = resident_bytes(pids)
    return result


@cache
def compile_listeners() -> Path:
    """Returns the program, compiled from its source."""
    program = HERE / "build" / "listeners"
    program.parent.mkdir(exist_ok=True)
    source = HERE / "listeners.c"
    subprocess.run(["cc", "-O2", "-o", str(program), str(source), "-lz"], check=True)
    return program
