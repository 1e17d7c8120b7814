"""Memory and CPU of a listener, how they grow, and the time of a start."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Final

from benchmarks.contenders import folder, quotecast
from benchmarks.fanout import MARKET, own_paths
from benchmarks.figures import OURS, Round, bytes_per_quote_of
from benchmarks.load import ListenerResult, listen
from benchmarks.processes import answers, family, reserved_port, resident_bytes, running, wait_until

MANY: Final = 10_000


def memory(seconds: float) -> Iterator[Round]:
    """Yields kilobytes of resident memory for each of 10,000 idle WebSockets."""
    while True:
        with quotecast() as server:
            before = resident_bytes(server.pids)
            result = listen(server.feed_port, ["/api/ws/market"], MANY, server.pids, seconds=seconds)
            yield {OURS: (result.server_bytes - before) / MANY / 1024}


def many(seconds: float) -> Iterator[Round]:
    """Yields the 99th percentile in ms of quotes' age at 10,000 listeners of own symbols."""
    while True:
        with quotecast(MARKET) as server:
            before = resident_bytes(server.pids)
            paths = own_paths(MANY, 1000)
            result = listen(server.feed_port, paths, MANY, server.pids, warm=3.0, seconds=max(seconds, 3.0))
            yield {
                OURS: result.age_p99,
                bytes_per_quote_of(OURS): result.bytes_per_quote,
                "served": float(result.served),
                "kilobytes each": (result.server_bytes - before) / MANY / 1024,
                "share of a core": result.server_cpu_seconds / result.seconds,
            }


def listeners(seconds: float) -> Iterator[Round]:
    """Yields the CPU per listener with 2,000 of them, as a multiple of that with 200."""
    while True:
        few, more = (_listen_to_own(count, seconds) for count in (200, 2000))
        yield {OURS: _share(more) / 2000 / (_share(few) / 200)}


def workers(seconds: float) -> Iterator[Round]:
    """Yields the CPU per frame with two workers, as a multiple of that with one; 2,000 listeners."""
    while True:
        one, two = (_listen_to_own(2000, seconds, count) for count in (1, 2))
        yield {OURS: one.frames_per_cpu_second / two.frames_per_cpu_second}


def start(_: float) -> Iterator[Round]:
    """Yields the seconds from `quotecast up` to the first quotes, with new databases, and MB of memory."""
    while True:
        with folder() as place, reserved_port() as port:
            settings = {"QUOTECAST_PORT": str(port), "QUOTECAST_DATA_DIR": str(place / "data")}
            command = [sys.executable, "-m", "quotecast", "up"]
            began = time.monotonic()
            with running(command, core=None, environment=settings, log=place / "up.log") as up:
                url = f"http://127.0.0.1:{port}/api/market/quotes?symbols=AAPL"
                wait_until(partial(answers, url), up, "quotecast up")
                took = time.monotonic() - began
                size = resident_bytes(family(up.pid)) / 2**20
                _stop(up)
            yield {OURS: took, "megabytes": size}


def _stop(up: "subprocess.Popen[bytes]") -> None:
    """Stops as a user does, so that the databases shut down cleanly."""
    up.send_signal(signal.SIGINT)
    up.wait(20)


def _listen_to_own(count: int, seconds: float, workers: int = 1) -> ListenerResult:
    with quotecast(MARKET, workers) as server:
        return listen(server.feed_port, own_paths(count, 250), count, server.pids, seconds=seconds)


def _share(result: ListenerResult) -> float:
    return result.server_cpu_seconds / result.seconds
