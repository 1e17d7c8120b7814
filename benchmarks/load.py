"""The load: wrk for HTTP, and `listeners`, a C program, for WebSockets."""

import json
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct, convert

from benchmarks.processes import LOAD_CORE, cpu_seconds, resident_bytes

HERE: Final = Path(__file__).parent
PINNED: Final = ("taskset", "-c", str(LOAD_CORE))
WRK_CONNECTIONS: Final = 32


class NotLetInError(Exception):
    """A server was too busy to accept everybody."""


class Heard(Struct):
    """What WebSocket listeners heard in `seconds`; ages in milliseconds."""

    seconds: float
    #: Of the load, to show that it is not what is measured.
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
    #: Of the server, to let everybody in and while the listeners warmed up.
    opening_cpu_seconds: float = 0.0
    server_bytes: int = 0

    @property
    def frames_per_cpu_second(self) -> float:
        """Of the server's CPU time."""
        return self.frames / self.server_cpu_seconds

    @property
    def bytes_per_quote(self) -> float:
        """On the wire."""
        return self.wire_bytes / self.quotes

    @property
    def quotes_per_cpu_second(self) -> float:
        """Of the server's CPU time."""
        return self.quotes / self.server_cpu_seconds


class Answered(Struct):
    """What HTTP clients were answered."""

    per_second: float
    per_cpu_second: float
    bytes_per_answer: float


def ask(url: str, pids: Sequence[int], seconds: float) -> Answered:
    """As many requests as the server answers. Raises RuntimeError if any answer is no success."""
    before = cpu_seconds(pids)
    # wrk knows whole seconds alone.
    command = [*PINNED, "wrk", "-t1", f"-c{WRK_CONNECTIONS}", f"-d{max(1, round(seconds))}s", url]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    used = cpu_seconds(pids) - before
    counted = re.search(r"(\d+) requests in [\d.]+\w+, ([\d.]+)([KMG]?)B read", told)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", told)
    if not counted or not rate or "Non-2xx" in told or "Socket errors" in told:
        raise RuntimeError(f"{url} was not answered well:\n{told}")
    requests = int(counted[1])
    read = float(counted[2]) * {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[counted[3]]
    return Answered(float(rate[1]), requests / used, read / requests)


def listen(
    port: int,
    paths: Sequence[str],
    count: int,
    pids: Sequence[int],
    *,
    warm: float = 1.5,
    seconds: float,
    deflate: bool = False,
) -> Heard:
    """What so many listeners hear, who take the paths in turn. `deflate` offers compression."""
    command = [*PINNED, str(compiled()), str(port), str(count), f"{warm:g}", f"{seconds:g}"]
    command += ["deflate"] * deflate
    began = cpu_seconds(pids)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as listeners:
        assert listeners.stdin
        assert listeners.stdout
        listeners.stdin.write("\n".join(paths))
        listeners.stdin.close()
        if listeners.stdout.readline() != "started\n":
            raise NotLetInError(f"not all of {count} listeners were let in")
        before = cpu_seconds(pids)
        heard = convert(json.loads(listeners.stdout.readline()), Heard)
        heard.server_cpu_seconds = cpu_seconds(pids) - before
        heard.opening_cpu_seconds = before - began
        heard.server_bytes = resident_bytes(pids)
    return heard


@cache
def compiled() -> Path:
    """The program, built from its source."""
    program = HERE / "build" / "listeners"
    program.parent.mkdir(exist_ok=True)
    source = HERE / "listeners.c"
    subprocess.run(["cc", "-O2", "-o", str(program), str(source), "-lz"], check=True)
    return program
