"""`python -m benchmarks.redis`: what subscribers of the bus cost Redis, and what a relay per host would save.

Redis has a core to itself. A busy market (four updates of each symbol a second, batches every 20 ms) is
published to subscribers that only read, so every figure is Redis's own; about three minutes. Times are CPU
time of the process; the kernel's work on its sockets is part of it.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from subprocess import PIPE, Popen
from typing import Any, Final

from redis import Redis

from benchmarks import contenders
from benchmarks.busy_market import BATCHES_PER_SECOND, RATE, batch_size
from benchmarks.processes import LOAD_CORE, SERVER_CORE, cpu_seconds, family, running
from benchmarks.readers import MARK
from quotecast.bus.redis import RedisBus
from quotecast.market.feeds import Feed

SYMBOLS: Final = (500, 5_000, 12_000)
SUBSCRIBERS: Final = (1, 4, 16)
SECONDS: Final = 8.0
#: Workers of a host, for the comparison with a relay.
WORKERS: Final = (4, 16)
PROBE_SECONDS: Final = 0.005
_ROOT: Final = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Cost:
    """What Redis, and a relay if there is one, took for one second of a busy market."""

    subscribers: int
    batches: float
    share: float
    bytes_out: float
    relay_share: float
    delays: list[float]


@contextmanager
def market(symbols: int) -> Iterator[tuple[Redis, int, int]]:
    """Publishes a busy market; yields a client, the port and the pid of Redis."""
    with contenders.folder() as place, contenders.redis(place, core=SERVER_CORE) as port:
        url = f"redis://127.0.0.1:{port}"
        command = [sys.executable, "-m", "benchmarks.busy_market", url, str(symbols)]
        with running(command, core=LOAD_CORE, log=place / "market.log"), Redis(port=port) as client:
            while int(client.hget("quotecast:{stocks}:state", "seq") or 0) < BATCHES_PER_SECOND:
                time.sleep(0.05)
            yield client, port, int((place / "valkey.pid").read_text())


@contextmanager
def readers(port: int, count: int, *words: str) -> Iterator["Popen[bytes]"]:
    """Runs subscribers on the other core; none for a count of 0."""
    command = [sys.executable, "-m", "benchmarks.readers", str(port), str(count), *words]
    process = Popen(["taskset", "-c", str(LOAD_CORE), *command], stdout=PIPE, cwd=_ROOT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def measure(client: Redis, port: int, pid: int, count: int, *words: str, probing: bool = False) -> Cost:
    """Returns the cost of `count` subscribers; with `probing` the delays of messages too."""
    with ExitStack() as stack:
        reading = stack.enter_context(readers(port, count, *words)) if count else None
        expected = 1 if words else count
        while _of(client, "pubsub_clients") != expected:
            time.sleep(0.02)
        time.sleep(0.5)
        before = _counts(client, pid, reading)
        _pass_time(client, SECONDS, probing=probing)
        after = _counts(client, pid, reading)
        if _of(client, "pubsub_clients") != expected:
            raise RuntimeError("Redis has disconnected a subscriber")
    delays = json.loads(reading.stdout.read()) if reading and reading.stdout else []
    seconds, seq, used, sent, relayed = (late - early for late, early in zip(after, before, strict=True))
    return Cost(count, seq / seconds, used / seconds, sent / seconds, relayed / seconds, delays)


def _counts(client: Redis, pid: int, reading: "Popen[bytes] | None") -> tuple[float, int, float, int, float]:
    relays = family(reading.pid)[1:] if reading else []
    seq: Any = client.hget("quotecast:{stocks}:state", "seq")
    return (
        time.monotonic(),
        int(seq),
        cpu_seconds([pid]),
        _of(client, "total_net_output_bytes"),
        cpu_seconds(relays),
    )


def _of(client: Redis, name: str) -> int:
    about: Any = client.info()
    return int(about[name])


def _pass_time(client: Redis, seconds: float, *, probing: bool) -> None:
    """Publishes the time every few milliseconds, on another channel of the same connections."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if probing:
            client.publish("probes", MARK + f"{time.time():.6f}".encode())
        time.sleep(PROBE_SECONDS)


def _subscribers() -> Iterator[str]:
    yield "| symbols | subscribers | updates/s | Redis's core | µs per update | bytes out per update | MB/s |"
    yield "|---|---|---|---|---|---|---|"
    for symbols in SYMBOLS:
        with market(symbols) as place:
            costs = [measure(*place, count) for count in (0, *SUBSCRIBERS)]
        for cost in costs:
            updates = cost.batches * batch_size(symbols)
            yield (
                f"| {symbols:,} | {cost.subscribers} | {updates:,.0f} | {cost.share:.1%} "
                f"| {cost.share / updates * 1e6:.2f} | {cost.bytes_out / updates:,.0f} "
                f"| {cost.bytes_out / 1e6:.1f} |"
            )
        yield _limit(symbols, costs)


def _limit(symbols: int, costs: list[Cost]) -> str:
    """Returns the line of what one subscriber adds, and where Redis's core is full."""
    none, most = costs[0], costs[-1]
    updates = symbols * RATE
    alone, with_most = (each.share / each.batches * BATCHES_PER_SECOND for each in (none, most))
    each = (with_most - alone) / most.subscribers
    return (
        f"| {symbols:,} | each | {updates:,} | {each:.2%} | {each / updates * 1e6:.2f} "
        f"| the core is full at {(1 - alone) / each:,.0f} | |"
    )


def _relays() -> Iterator[str]:
    yield "| workers | way | Redis's core | relay's core | MB/s out of Redis | delay, median | 99th |"
    yield "|---|---|---|---|---|---|---|"
    with market(SYMBOLS[-1]) as place:
        for count in WORKERS:
            for name, words in (("each subscribes", ()), ("relay", ("relay",))):
                cost = measure(*place, count, *words, probing=True)
                cuts = quantiles(cost.delays, n=100)
                yield (
                    f"| {count} | {name} | {cost.share:.1%} | {cost.relay_share:.1%} "
                    f"| {cost.bytes_out / 1e6:.1f} | {cuts[49] * 1e3:.1f} ms | {cuts[98] * 1e3:.1f} ms |"
                )


async def _idle(port: int, pid: int, workers: int) -> float:
    """Returns the share of Redis's core that the subscriptions of workers take while nothing is published."""
    async with AsyncExitStack() as stack:
        for _ in range(workers):
            bus = RedisBus(f"redis://127.0.0.1:{port}", "quotecast")
            stack.push_async_callback(bus.close)
            await stack.enter_async_context(bus.listen([*Feed]))
        await asyncio.sleep(1)
        began, used = time.monotonic(), cpu_seconds([pid])
        await asyncio.sleep(SECONDS)
        return (cpu_seconds([pid]) - used) / (time.monotonic() - began)


def main() -> None:
    """Measures and prints; `subscribers`, `relay` or `idle` measures only that."""
    parts = {"subscribers": _subscribers, "relay": _relays, "idle": _idle_lines}
    for name in sys.argv[1:] or parts:
        for line in parts[name]():
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        sys.stdout.write("\n")


def _idle_lines() -> Iterator[str]:
    with contenders.folder() as place, contenders.redis(place, core=SERVER_CORE) as port:
        pid = int((place / "valkey.pid").read_text())
        alone, with_workers = (asyncio.run(_idle(port, pid, count)) for count in (0, SUBSCRIBERS[-1]))
    each = (with_workers - alone) / SUBSCRIBERS[-1]
    yield f"a worker's subscription and its checks, nothing published: {each:.3%} of Redis's core"


if __name__ == "__main__":
    main()
