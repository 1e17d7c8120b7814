"""`python -m benchmarks.symbols [--quick]`: what 12,000 symbols cost beside 500, for docs/capacity.md.

Each symbol has four updates a second through ingest, Redis and a worker, which has a core to itself. The
quotes are made beforehand (`benchmarks.many`); with `--simulator` the simulator makes them. Takes about four
minutes.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Final

import httpx
import redis
from msgspec import Struct

from benchmarks import contenders
from benchmarks.contenders import NO_REFUSALS, folder
from benchmarks.load import ListenerResult, OverloadedError, listen
from benchmarks.probe import TAGGED, Probe, ProbeResult
from benchmarks.processes import (
    SERVER_CORE,
    cpu_seconds,
    family,
    reserved_port,
    resident_bytes,
    running,
    wait_until,
)
from benchmarks.reload import measure_reloads
from quotecast.bus import wire
from quotecast.bus.base import Batch

SIZES: Final = (500, 12_000)
UPDATES_PER_SYMBOL: Final = 4
CLIENTS: Final = 200
ALL: Final = "/api/market/quotes?symbols=all"
PAGE: Final = "/api/market/quotes?limit=500&after=M"
ONE: Final = "/api/market/quotes/AAPL"
HEATMAP: Final = "/api/market/heatmap"
#: Notation of a client's frames: its words for the listeners, and its address.
NOTATIONS: Final[Mapping[str, tuple[bool, bool, str]]] = {
    "plain": (False, False, ""),
    "deflate": (True, False, ""),
    "rows": (False, True, ""),
    "rows of price and time, deflate": (True, True, "&fields=price,timestamp"),
}


class Running(Struct, frozen=True):
    """A running service: its ports, and the processes of its parts."""

    port: int
    feed_port: int
    redis_url: str
    pids: Mapping[str, list[int]]


@contextlib.contextmanager
def service(symbols: int, *, simulator: bool) -> Iterator[Running]:
    """Runs one worker on its core; ingest and Redis share all cores with the load."""
    with folder() as place, contextlib.ExitStack() as stack:
        redis_port = stack.enter_context(contenders.redis(place, core=None))
        port, feed_port = (stack.enter_context(reserved_port()) for _ in range(2))
        url = f"redis://127.0.0.1:{redis_port}"
        with redis.Redis.from_url(url) as client:
            client.config_set("slowlog-log-slower-than", 2000)
            redis_pid = int(client.info()["process_id"])
        environment = _environment(symbols, url, port, feed_port)
        command = [sys.executable, "-m", "quotecast"]
        rate = symbols * UPDATES_PER_SYMBOL
        many = [sys.executable, "-m", "benchmarks.many", url, str(symbols), str(rate)]
        leader = [*command, "ingest"] if simulator else many
        ingest = stack.enter_context(
            running(leader, core=None, environment=environment, log=place / "ingest.log")
        )
        worker = stack.enter_context(
            running([*command, "api"], core=SERVER_CORE, environment=environment, log=place / "api.log")
        )
        wait_until(lambda: _has_all(port, symbols), worker, "quotecast")
        pids = {"ingest": family(ingest.pid), "Redis": [redis_pid], "worker": family(worker.pid)}
        time.sleep(3)
        yield Running(port, feed_port, url, pids)


def _environment(symbols: int, url: str, port: int, feed_port: int) -> dict[str, str]:
    return {
        "QUOTECAST_REDIS_URL": url,
        "QUOTECAST_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "QUOTECAST_JWT_SECRET": "a secret that benchmarks tell everybody",
        "QUOTECAST_PORT": str(port),
        "QUOTECAST_FEED_PORT": str(feed_port),
        "QUOTECAST_SIMULATOR_STOCKS": str(symbols),
        "QUOTECAST_SIMULATOR_RATE": str(symbols * UPDATES_PER_SYMBOL),
        "QUOTECAST_CRYPTO": "none",
        "QUOTECAST_DOVIZ": "none",
        "QUOTECAST_SOCKETS_PER_ADDRESS": "0",
        **NO_REFUSALS,
    }


def _has_all(port: int, symbols: int) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        body = httpx.get(f"http://127.0.0.1:{port}/api/market/status", timeout=5).json()
        return bool(body["feeds"]["stocks"]["symbols"] >= symbols)
    return False


def show_processes(market: Running, seconds: float) -> None:
    """Prints each process's share of a core and memory, with no client and no request."""
    names = list(market.pids)
    began, before = time.monotonic(), {name: cpu_seconds(market.pids[name]) for name in names}
    updates, batches, size = _count_updates(market.redis_url, seconds)
    passed = time.monotonic() - began
    rates = f"{updates / seconds:,.0f} updates/s in {batches / seconds:.0f} batches/s"
    write(f"  {rates}, {size / updates:.0f} bytes each")
    for name in names:
        share = (cpu_seconds(market.pids[name]) - before[name]) / passed
        memory = resident_bytes(market.pids[name]) / 1e6
        micros = share / (updates / seconds) * 1e6
        write(f"  {name}: {share:.0%} of a core, {micros:.1f} µs an update, {memory:.0f} MB")


def _count_updates(url: str, seconds: float) -> tuple[int, int, int]:
    """Returns the updates, the batches and their bytes."""
    count = batches = size = 0
    with redis.Redis.from_url(url) as client, contextlib.closing(client.pubsub()) as bus:
        bus.subscribe("quotecast:{stocks}:batches")
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            message = bus.get_message(ignore_subscribe_messages=True, timeout=left)
            if message is None:
                continue
            batch = wire.decode_message(message["data"])
            if isinstance(batch, Batch):
                batches, count, size = batches + 1, count + len(batch.changes), size + len(message["data"])
    return count, batches, size


def show_redis(market: Running) -> None:
    """Prints how long scripts block Redis."""
    with redis.Redis.from_url(market.redis_url) as client:
        latency = client.info("latencystats")
        slow = sorted((each["duration"] for each in client.slowlog_get(1000)), reverse=True)
        memory = client.info("memory")["used_memory"] / 1e6
    each = latency.get("latency_percentiles_usec_evalsha", "")
    longest = [round(one / 1000, 1) for one in slow[:4]]
    write(f"  scripts in µs: {each}; the longest, in ms: {longest}; {memory:.0f} MB of data")


def show_reloads(market: Running) -> None:
    """Prints how long a worker loads, and blocks."""
    found = measure_reloads(market.redis_url)
    write(
        f"  load at the start {found.start:.0f} ms, longest block {found.start_block:.0f} ms; "
        f"after a gap {found.gap:.0f} ms, longest block {found.gap_block:.0f} ms"
    )


def show_requests(market: Running, seconds: float) -> None:
    """Prints latencies of one quote alone, and while another client reads all, a page, the heatmap."""
    _show("one quote alone", Probe(market.port, seconds, 50, ONE).result())
    for name, path, coding in (
        ("all", ALL, "identity"),
        ("all, gzip", ALL, "gzip"),
        ("all, zstd, every second one with the ETag", ALL, "zstd" + TAGGED),
        ("all as CSV", ALL + "&format=csv", "identity"),
        ("a page of 500", PAGE, "identity"),
        ("heatmap, zstd", HEATMAP, "zstd"),
    ):
        reads, probe = Probe(market.port, seconds, 4, path, coding), Probe(market.port, seconds, 50, ONE)
        _show(name, reads.result(), probe.result())


def _show(name: str, found: ProbeResult, other: ProbeResult | None = None) -> None:
    beside = f"; one quote meanwhile p99 {other.p99:.1f} ms, longest {other.longest:.0f}" if other else ""
    write(
        f"  {name}: p50 {found.p50:.1f} ms, p99 {found.p99:.1f} ms, {found.bytes:,} bytes, "
        f"{found.not_modified} of {found.requests} were 304{beside}"
    )


def show_feeds(market: Running, seconds: float) -> None:
    """Prints what clients of `all` get, and how long one quote takes meanwhile."""
    for interval in (250, 1000):
        for name, (deflate, rows, fields) in NOTATIONS.items():
            path = f"/api/ws/market?symbols=all&interval={interval}{fields}"
            pids = market.pids["worker"]
            probe = Probe(market.port, seconds + 5, 50, ONE)
            try:
                found = listen(
                    market.feed_port,
                    [path],
                    CLIENTS,
                    pids,
                    warm=3,
                    seconds=seconds,
                    deflate=deflate,
                    rows=rows,
                    sample=True,
                )
            except OverloadedError as error:
                write(f"  {CLIENTS} clients, interval {interval}, {name}: {error}")
                probe.result()
                continue
            other = probe.result()
            write(f"  {CLIENTS} clients, interval {interval}, {name}: {_summary(found)}")
            write(f"    one quote meanwhile p99 {other.p99:.1f} ms, longest {other.longest:.0f} ms")


def _summary(found: ListenerResult) -> str:
    each = found.frames / found.seconds / CLIENTS
    return (
        f"{each:.1f} frames/s each of {found.wire_bytes / max(found.frames, 1):,.0f} bytes, "
        f"{found.wire_bytes / found.seconds / 1e6:.0f} MB/s, "
        f"age p50 {found.age_p50:.0f} p99 {found.age_p99:.0f} ms, "
        f"{found.server_cpu_seconds / found.seconds:.0%} of a core, {found.server_bytes / 1e6:.0f} MB, "
        f"{found.closed} closed"
    )


def write(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measures each size, and prints the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.symbols")
    parser.add_argument("--quick", action="store_true", help="short measurements")
    parser.add_argument("--simulator", action="store_true", help="quotes made while they are published")
    parser.add_argument("--symbols", type=int, nargs="*", default=SIZES)
    parser.add_argument("--only", choices=("requests", "feeds", "processes"))
    options = parser.parse_args()
    seconds = 3.0 if options.quick else 6.0
    for symbols in options.symbols:
        write(f"{symbols:,} symbols")
        with service(symbols, simulator=options.simulator) as market:
            if options.only in {None, "processes"}:
                show_processes(market, seconds)
                show_redis(market)
                show_reloads(market)
            if options.only in {None, "requests"}:
                show_requests(market, seconds)
            if options.only in {None, "feeds"}:
                show_feeds(market, seconds)


if __name__ == "__main__":
    main()
