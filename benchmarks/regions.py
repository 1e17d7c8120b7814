"""`python -m benchmarks.regions [--quick]`: what a region costs itself and its origin, for docs/regions.md.

An origin and a region run on this machine, each with a Valkey and a worker of its own. Each symbol has four
updates a second, made beforehand (`benchmarks.many`). Takes about two minutes.
"""

import argparse
import contextlib
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

import httpx
import redis
from msgspec import Raw, Struct, msgpack

from benchmarks import contenders
from benchmarks.contenders import NO_REFUSALS, folder
from benchmarks.processes import cpu_seconds, family, reserved_port, running, wait_until

SIZES: Final = (500, 12_000)
UPDATES_PER_SYMBOL: Final = 4
SECRET: Final = "a-secret-that-benchmarks-tell-everybody"  # noqa: S105 - of benchmarks
CHANNEL: Final = "quotecast:{stocks}:batches"
BLOCK: Final = 1 << 16


class Position(Struct, tag="batch"):
    """The place of a batch, and its changes, encoded."""

    seq: int
    changes: list[Raw] = []


class Line:
    """A TCP proxy on `port` to the origin, which counts the bytes that a region receives."""

    def __init__(self, origin: int) -> None:
        self.received = 0
        self._origin = origin
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            server = socket.create_connection(("127.0.0.1", self._origin))
            threading.Thread(target=self._copy, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._copy, args=(server, client, True), daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket, counts: bool) -> None:  # noqa: FBT001
        with contextlib.suppress(OSError):
            while data := source.recv(BLOCK):
                target.sendall(data)
                self.received += len(data) if counts else 0


class Installation(Struct, frozen=True):
    """A running service: its port, its Redis, and the processes of its parts."""

    port: int
    redis_url: str
    pids: Mapping[str, list[int]]


@contextlib.contextmanager
def installation(symbols: int, settings: Mapping[str, str], leader: str = "") -> Iterator[Installation]:
    """Runs Valkey, a worker, and an ingest, or the module `leader` instead."""
    with folder() as place, contextlib.ExitStack() as stack:
        redis_port = stack.enter_context(contenders.redis(place, core=None))
        port = stack.enter_context(reserved_port())
        url = f"redis://127.0.0.1:{redis_port}"
        with redis.Redis.from_url(url) as client:
            redis_pid = int(client.info()["process_id"])
        environment = {
            "QUOTECAST_REDIS_URL": url,
            "QUOTECAST_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
            "QUOTECAST_JWT_SECRET": "a secret that benchmarks tell everybody",
            "QUOTECAST_PORT": str(port),
            "QUOTECAST_CRYPTO": "none",
            "QUOTECAST_DOVIZ": "none",
            **NO_REFUSALS,
            **settings,
        }
        command = [sys.executable, "-m", "quotecast"]
        rate = str(symbols * UPDATES_PER_SYMBOL)
        leads = [sys.executable, "-m", leader, url, str(symbols), rate] if leader else [*command, "ingest"]
        ingest = stack.enter_context(
            running(leads, core=None, environment=environment, log=place / "ingest.log")
        )
        worker = stack.enter_context(
            running([*command, "api"], core=None, environment=environment, log=place / "api.log")
        )
        wait_until(lambda: _has_all(port, symbols), worker, "quotecast")
        pids = {"ingest": family(ingest.pid), "Redis": [redis_pid], "worker": family(worker.pid)}
        yield Installation(port, url, pids)


def _has_all(port: int, symbols: int) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        body = httpx.get(f"http://127.0.0.1:{port}/api/market/status", timeout=5).json()
        return bool(body["feeds"]["stocks"]["symbols"] >= symbols)
    return False


def show_shares(each: Installation, name: str, seconds: float, updates: float) -> None:
    """Prints the CPU of an installation's processes."""
    before = {part: cpu_seconds(pids) for part, pids in each.pids.items()}
    began = time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    for part, pids in each.pids.items():
        share = (cpu_seconds(pids) - before[part]) / passed
        write(f"  {name}'s {part}: {share:.1%} of a core, {share / updates * 1e6:.1f} µs an update")


def updates_per_second(each: Installation, seconds: float) -> float:
    """Returns the changes that an installation publishes: a symbol that changes twice in a batch has one."""
    changes: dict[int, int] = {}
    _note_batches(each.redis_url, seconds, lambda batch: changes.update({batch.seq: len(batch.changes)}))
    return sum(changes.values()) / seconds


def show_delay(origin: Installation, region: Installation, seconds: float) -> None:
    """Prints the time from the origin's publication of a batch to the region's."""
    arrivals: list[dict[int, float]] = [{}, {}]
    threads = [
        threading.Thread(target=_note_batches, args=(each.redis_url, seconds, partial(_note_time, seen)))
        for each, seen in zip((origin, region), arrivals, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    delays = sorted(arrivals[1][seq] - at for seq, at in arrivals[0].items() if seq in arrivals[1])
    centiles = statistics.quantiles(delays, n=100)
    write(
        f"  from the origin's Redis to the region's: median {centiles[49] * 1e3:.1f} ms, "
        f"p99 {centiles[98] * 1e3:.1f} ms of {len(delays)} batches"
    )


def _note_time(seen: dict[int, float], batch: Position) -> None:
    seen[batch.seq] = time.monotonic()


def _note_batches(url: str, seconds: float, note: Callable[[Position], object]) -> None:
    decode = msgpack.Decoder(Position).decode
    with redis.Redis.from_url(url) as client, contextlib.closing(client.pubsub()) as bus:
        bus.subscribe(CHANNEL)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            message = bus.get_message(ignore_subscribe_messages=True, timeout=left)
            if message:
                with contextlib.suppress(ValueError):
                    note(decode(message["data"]))


def write(text: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Measures each size of the market, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="500 symbols only, for a shorter time")
    quick = parser.parse_args().quick
    seconds = 5.0 if quick else 15.0
    for symbols in SIZES[:1] if quick else SIZES:
        with installation(symbols, {"QUOTECAST_RELAY_SECRET": SECRET}, "benchmarks.many") as origin:
            time.sleep(3)
            updates = updates_per_second(origin, seconds)
            write(f"{symbols:,} symbols, {updates:,.0f} updates/s")
            show_shares(origin, "origin without a region", seconds, updates)
            line = Line(origin.port)
            followed = {
                "QUOTECAST_STOCKS": "quotecast",
                "QUOTECAST_ORIGIN": f"ws://127.0.0.1:{line.port}",
                "QUOTECAST_ORIGIN_SECRET": SECRET,
            }
            with installation(symbols, followed) as region:
                time.sleep(3)
                received, began = line.received, time.monotonic()
                show_shares(origin, "origin with a region", seconds, updates)
                size = (line.received - received) / (time.monotonic() - began)
                show_shares(region, "region", seconds, updates)
                write(f"  {size / 1e6:.2f} MB/s to the region, {size / updates:.0f} bytes an update")
                show_delay(origin, region, seconds)


if __name__ == "__main__":
    main()
