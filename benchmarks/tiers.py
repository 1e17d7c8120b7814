"""`python -m benchmarks.tiers`: what a tier costs: age, the origin's CPU, and bytes on the line.

A busy market (2,000 updates a second of three feeds) at an origin with one worker, an edge that follows it,
and an edge that follows that edge. Six processes share the cores, among them the reader of all tiers: on two
cores ages are upper bounds. CPU is that of the origin's worker. Takes about two minutes.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from datetime import datetime
from statistics import quantiles
from typing import Any, Final

import msgspec
import uvloop
from msgspec import Struct
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from benchmarks import contenders
from benchmarks.processes import cpu_seconds, listens, reserved_port, running, wait_until
from quotecast.bus import remote_wire as relay_wire
from quotecast.bus.base import Batch, BusReader
from quotecast.bus.redis import RedisBus
from quotecast.bus.remote import RemoteBus
from quotecast.market.feeds import Feed

SECRET: Final = "a-secret-that-benchmarks-tell-everybody"  # noqa: S105 - of this machine alone
SETTINGS: Final = {
    "QUOTECAST_RELAY_SECRET": SECRET,
    "QUOTECAST_SIMULATOR_RATE": "667",
    "QUOTECAST_LOG_LEVEL": "error",
}
SECONDS: Final = 8.0
AGE_SECONDS: Final = 20.0
RELAYS: Final = (0, 1, 4)
CLIENTS: Final = (0, 100, 1000)
INTERVAL_MS: Final = 100
ROWS: Final = Subprotocol("quotecast.v1.rows.msgpack")

#: A batch's feed, epoch and seq.
Place = tuple[Feed, str, int]


class Origin(Struct, frozen=True):
    """The running tiers: their ports of feeds, the origin first."""

    ports: list[int]
    redis_url: str
    pids: list[int]

    def relay(self, tier: int) -> RemoteBus:
        """Returns a reader at a tier, as the next one reads it."""
        return RemoteBus(f"ws://127.0.0.1:{self.ports[tier - 1]}", SECRET)


@contextmanager
def tiers(count: int = 3) -> Iterator[Origin]:
    """Runs an origin, and edges in a row."""
    with (
        contenders.quotecast(SETTINGS, core=None) as origin,
        contenders.folder() as place,
        ExitStack() as stack,
    ):
        ports = [origin.feed_port]
        for _ in range(count - 1):
            port = stack.enter_context(reserved_port())
            environment = {
                **SETTINGS,
                "QUOTECAST_PORT": str(port),
                "QUOTECAST_SOCKETS_PER_ADDRESS": "0",
                "QUOTECAST_ORIGIN": f"ws://127.0.0.1:{ports[-1]}",
                "QUOTECAST_ORIGIN_SECRET": SECRET,
            }
            command = [sys.executable, "-m", "quotecast", "edge"]
            log = place / f"edge{port}.log"
            edge = stack.enter_context(running(command, core=None, environment=environment, log=log))
            wait_until(lambda: listens(port), edge, "an edge")  # noqa: B023 - called at once
            ports.append(port)
        yield Origin(ports, origin.redis_url, origin.pids)


async def arrivals(bus: BusReader, seconds: float) -> dict[Place, tuple[float, float]]:
    """Returns when each batch was sent and when it arrived, in Unix time."""
    found: dict[Place, tuple[float, float]] = {}
    end = time.time() + seconds
    async with bus.listen(list(Feed)) as messages:
        async for message in messages:
            now = time.time()
            if isinstance(message, Batch):
                found[message.feed, message.epoch, message.seq] = message.sent_at, now
            if now > end:
                return found
    raise AssertionError


async def ages_of_batches(origin: Origin) -> list[str]:
    """Returns ages of batches when a worker at each tier applies them, and the time of each hop."""
    bus = RedisBus(origin.redis_url, "quotecast")
    readers: list[BusReader] = [bus, origin.relay(1), origin.relay(2)]
    every = await asyncio.gather(*(arrivals(reader, AGE_SECONDS) for reader in readers))
    await bus.close()
    lines = []
    for tier, found in enumerate(every, 1):
        line = f"batch at tier {tier}: age {_spread([now - sent for sent, now in found.values()])}"
        if tier > 1:
            before = every[tier - 2]
            line += f"; hop {_spread([found[each][1] - before[each][1] for each in found if each in before])}"
        lines.append(line)
    return lines


async def ages_of_frames(origin: Origin) -> list[str]:
    """Returns ages of the newest quote of each frame, at a client of each tier."""

    async def listen(port: int) -> list[float]:
        url = f"ws://127.0.0.1:{port}/api/ws/crypto?symbols=all&interval={INTERVAL_MS}"
        ages: list[float] = []
        async with connect(url, max_size=None) as connection:
            end = time.time() + AGE_SECONDS
            while (now := time.time()) < end:
                frame = msgspec.json.decode(await connection.recv())
                if frame["type"] == "update" and frame["data"]:
                    now = time.time()
                    newest = max(quote["timestamp"] for quote in frame["data"])
                    ages.append(now - datetime.fromisoformat(newest).timestamp())
        return ages

    every = await asyncio.gather(*(listen(port) for port in origin.ports))
    return [
        f"frame at a client of tier {tier}, {INTERVAL_MS} ms apart: age {_spread(ages)}"
        for tier, ages in enumerate(every, 1)
    ]


async def share_of_origin(origin: Origin) -> float:
    """Returns the share of a core that the origin's worker takes, in percent."""
    await asyncio.sleep(1.0)
    before, began = cpu_seconds(origin.pids), time.perf_counter()
    await asyncio.sleep(SECONDS)
    return 100 * (cpu_seconds(origin.pids) - before) / (time.perf_counter() - began)


async def cost_of_relays(origin: Origin) -> list[str]:
    """Returns the origin's CPU by the number of relays, beside the edge that runs anyway."""
    lines = []
    for count in RELAYS:
        async with AsyncExitStack() as stack:
            for _ in range(count):
                await stack.enter_async_context(origin.relay(1).listen(list(Feed)))
            lines.append(
                f"origin with 1 edge and {count} more relays: {await share_of_origin(origin):.1f} % of a core"
            )
    return lines


class Deaf(asyncio.Protocol):
    """A client that asks for one symbol and looks at nothing."""

    def __init__(self, opened: Callable[[], None]) -> None:
        self._opened = opened

    def connection_made(self, transport: Any) -> None:
        """Sends the handshake."""
        transport.write(
            b"GET /api/ws/crypto?symbols=BTC/USDT HTTP/1.1\r\nHost: edge\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )

    def data_received(self, data: bytes) -> None:
        """Counts the answer to the handshake."""
        if data.startswith(b"HTTP/1.1 101"):
            self._opened()


async def cost_of_clients(origin: Origin) -> list[str]:
    """Returns the origin's CPU by the number of clients behind its edge."""
    lines, transports, opened = [], list[asyncio.BaseTransport](), 0

    def count() -> None:
        nonlocal opened
        opened += 1

    for wanted in CLIENTS:
        while len(transports) < wanted:
            loop = asyncio.get_running_loop()
            transport, _ = await loop.create_connection(lambda: Deaf(count), "127.0.0.1", origin.ports[1])
            transports.append(transport)
        lines.append(
            f"origin with {wanted} clients behind its edge: {await share_of_origin(origin):.1f} % of a core"
        )
        assert opened == wanted
    for each in transports:
        each.close()
    return lines


class Counting(ClientConnection):
    """A connection that counts the bytes on its line."""

    received = 0

    def data_received(self, data: bytes) -> None:
        """Counts them."""
        self.received += len(data)
        super().data_received(data)


async def bytes_of_line(origin: Origin, *, deflate: bool) -> tuple[int, int]:
    """Returns the bytes of the relay's line, and the changes in them."""
    url = f"ws://127.0.0.1:{origin.ports[0]}{relay_wire.PATH}?feeds={','.join(Feed)}"
    async with _counted(url, Subprotocol(relay_wire.SUBPROTOCOL), deflate=deflate) as connection:
        return await _count(connection, _changes_of_batch)


async def bytes_of_rows(origin: Origin) -> tuple[int, int]:
    """Returns the bytes of a client's line with rows of all feeds, without the snapshots, and the changes."""
    url = f"ws://127.0.0.1:{origin.ports[0]}/api/ws?market=all&crypto=all&doviz=all&interval={INTERVAL_MS}"
    async with _counted(url, ROWS, deflate=True) as connection:
        snapshots = 0
        while snapshots < len(Feed):
            snapshots += msgspec.msgpack.decode(await connection.recv())["type"] == "snapshot"
        return await _count(connection, lambda frame: len(frame.get("data", ())))


def _counted(url: str, protocol: Subprotocol, *, deflate: bool) -> Any:
    return connect(
        url,
        subprotocols=[protocol],
        additional_headers={"Authorization": f"Bearer {SECRET}"},
        compression="deflate" if deflate else None,
        create_connection=Counting,
        max_size=None,
    )


async def _count(connection: Any, changes_of: Callable[[Any], int]) -> tuple[int, int]:
    before, changes, end = connection.received, 0, time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        changes += changes_of(msgspec.msgpack.decode(await connection.recv()))
    return connection.received - before, changes


def _changes_of_batch(message: dict[str, Any]) -> int:
    return len(message.get("changes", ()))


async def bytes_per_change(origin: Origin) -> list[str]:
    """Returns the bytes per change on each kind of line."""
    counts: Sequence[tuple[str, Callable[[], Awaitable[tuple[int, int]]]]] = (
        ("relay, plain", lambda: bytes_of_line(origin, deflate=False)),
        ("relay, deflate", lambda: bytes_of_line(origin, deflate=True)),
        (f"{ROWS}, deflate, {INTERVAL_MS} ms", lambda: bytes_of_rows(origin)),
    )
    lines = []
    for name, count in counts:
        size, changes = await count()
        lines.append(
            f"{name}: {size / changes:.0f} bytes a change, {size / SECONDS / 1000:.0f} kB/s "
            f"for {changes / SECONDS:.0f} changes/s"
        )
    return lines


def _spread(seconds: Sequence[float]) -> str:
    parts = quantiles(seconds, n=100)
    return f"p50 {parts[49] * 1000:.2f} ms, p99 {parts[98] * 1000:.2f} ms ({len(seconds)})"


async def _main(origin: Origin) -> None:
    for part in (ages_of_batches, ages_of_frames, cost_of_relays, cost_of_clients, bytes_per_change):
        sys.stdout.write("\n".join([*await part(origin), ""]))
        sys.stdout.flush()


if __name__ == "__main__":
    with tiers() as running_tiers:
        uvloop.run(_main(running_tiers))
