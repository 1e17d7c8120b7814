"""`python -m benchmarks.capacity`: bytes and CPU time of clients, for docs/capacity.md.

Each client has a list of its own, of twenty of 500 stocks, and gets an update of them once a second.
"""

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

import redis
from msgspec import Struct

from benchmarks.contenders import Server, quotecast
from benchmarks.fanout import MARKET, own_paths
from benchmarks.load import ListenerResult, listen
from benchmarks.processes import cpu_seconds, resident_bytes
from quotecast.bus import wire
from quotecast.bus.base import Batch

ROUNDS: Final = 3
CLIENTS: Final = 10_000
SECONDS: Final = 6.0
#: Updates a second: some eight of twenty stocks move in a second, or all.
CALM: Final = 250
BUSY: Final = 2_000
#: Updates a second of a market that hardly moves, while clients reconnect.
QUIET: Final = 1

COLUMNS: Final = (
    ("updates a second on the bus", "updates"),
    ("bytes of an update on the bus", "update_bytes"),
    ("µs of a core to take in an update", "update_us"),
    ("quotes in a frame", "quotes"),
    ("bytes of a frame", "frame_bytes"),
    ("µs of a core to build and send a frame", "frame_us"),
)


class MarketCost(Struct, frozen=True):
    """Input and output of a worker; CPU time in microseconds."""

    updates: float
    update_bytes: float
    update_us: float
    quotes: float
    frame_bytes: float
    frame_us: float
    socket_bytes: float


def market(updates: int) -> MarketCost:
    """Measures that many updates a second to 10,000 clients."""
    with _service(updates) as server:
        update_bytes, update_us = _updates(server, updates)
        before = resident_bytes(server.pids)
        paths = own_paths(CLIENTS, 1000)
        result = listen(server.feed_port, paths, CLIENTS, server.pids, warm=3, seconds=SECONDS)
        return MarketCost(
            updates=updates,
            update_bytes=update_bytes,
            update_us=update_us,
            quotes=result.quotes / result.frames,
            frame_bytes=result.bytes / result.frames,
            frame_us=_frame_us(result, updates * update_us),
            socket_bytes=(result.server_bytes - before) / CLIENTS,
        )


def handshake_us() -> float:
    """Returns the CPU microseconds of a client's connection with its list and its snapshot."""
    with _service(QUIET) as server:
        paths = own_paths(CLIENTS, 5000)
        result = listen(server.feed_port, paths, CLIENTS, server.pids, warm=0, seconds=0.1)
        return result.opening_cpu_seconds / CLIENTS * 1e6


def _service(updates: int) -> contextlib.AbstractContextManager[Server]:
    return quotecast({**MARKET, "QUOTECAST_SIMULATOR_RATE": str(updates)})


def _updates(server: Server, per_second: int) -> tuple[float, float]:
    """Returns the bytes of one update on the bus, and its CPU time in a worker without clients."""
    began, used = time.monotonic(), cpu_seconds(server.pids)
    count, size = _count_bus_updates(server.redis_url)
    passed, used = time.monotonic() - began, cpu_seconds(server.pids) - used
    return size / count, used / (passed * per_second) * 1e6


def _count_bus_updates(url: str) -> tuple[int, int]:
    """Returns the updates, and the bytes of all messages, beats included."""
    count = size = 0
    with redis.Redis.from_url(url) as client, contextlib.closing(client.pubsub()) as bus:
        bus.subscribe("quotecast:{stocks}:batches")
        until = time.monotonic() + SECONDS
        while (left := until - time.monotonic()) > 0:
            message = bus.get_message(ignore_subscribe_messages=True, timeout=left)
            if message is None:
                continue
            size += len(message["data"])
            batch = wire.decode_message(message["data"])
            count += len(batch.changes) if isinstance(batch, Batch) else 0
    return count, size


def _frame_us(result: ListenerResult, taking_in_us: float) -> float:
    """Returns the microseconds of a frame, without the CPU time of the updates from the bus."""
    used = result.server_cpu_seconds * 1e6 - result.seconds * taking_in_us
    return used / result.frames


def lines(markets: Sequence[MarketCost], handshake: float) -> Iterator[str]:
    """Yields the measured part of docs/capacity.md."""
    yield "| | calm | busy |"
    yield "|---|---|---|"
    for words, name in COLUMNS:
        yield f"| {words} | {' | '.join(_number(getattr(each, name)) for each in markets)} |"
    largest = max(each.socket_bytes for each in markets)
    yield ""
    yield f"A socket takes {largest:,.0f} bytes of memory, a handshake {handshake:,.0f} µs of a core."


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _median(rounds: Sequence[MarketCost]) -> MarketCost:
    names = MarketCost.__struct_fields__
    return MarketCost(*(median(getattr(each, name) for each in rounds) for name in names))


def main() -> None:
    """Prints each round, and the medians."""
    measured: list[tuple[MarketCost, MarketCost, float]] = []
    for number in range(1, ROUNDS + 1):
        calm, busy, handshake = market(CALM), market(BUSY), handshake_us()
        measured.append((calm, busy, handshake))
        sys.stdout.write(f"{number}/{ROUNDS} {calm} {busy} {handshake:.0f}\n")
        sys.stdout.flush()
    calms, busies, handshakes = zip(*measured, strict=True)
    found = lines([_median(calms), _median(busies)], median(handshakes))
    sys.stdout.write("\n".join(["", *found, ""]))


if __name__ == "__main__":
    main()
