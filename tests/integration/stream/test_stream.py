"""Feeds over real sockets; the test itself ticks the hub."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.close_codes import CloseCode
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.stream.clients import retry_ms
from quotecast.stream.endpoint import Streams
from quotecast.stream.event_socket import MAX_EXTRA_BYTES
from quotecast.stream.hubs import FeedHubs
from quotecast.stream.server import serve_feeds
from support.made.market import EPOCH, state_of, stock
from support.runs.deadlines import scaled
from support.runs.waits import until, until_answered

TICKERS = [f"T{number}" for number in range(500)]
#: Longer than any pause of the machine: the hub's clock jumps over it.
SLOW_SECONDS = 600.0


class Running:
    def __init__(self, hub: Hub, streams: Streams, port: int) -> None:
        self.hub = hub
        self.streams = streams
        self._port = port
        #: Seconds by which the hub's clock is ahead.
        self.ahead = 0.0

    def connect(self, query: str = "symbols=all&interval=100", **more: Any) -> connect:
        url = f"ws://127.0.0.1:{self._port}/api/ws/market?{query}"
        return connect(url, max_size=None, close_timeout=1.0, **more)

    def narrow_socket(self) -> socket.socket:
        """Returns a connection whose kernel holds few unread bytes; by itself it would hold six megabytes."""
        narrow = socket.socket()
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        narrow.connect(("127.0.0.1", self._port))
        narrow.setblocking(False)
        return narrow

    async def open_stream(
        self, query: str = "symbols=all&interval=100"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 20)
        writer.write(f"GET /api/sse/market?{query} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
        return reader, writer

    def move(self, price: float) -> None:
        """Moves every price and ticks every client."""
        changes = [encode_change(stock(ticker, price)) for ticker in TICKERS]
        seq = self.hub.mirror.mark.seq + 1
        assert self.hub.mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=changes))
        self.hub.mirror.heard_at = time.monotonic()
        self.hub.tick(100)
        self.hub.sweep()

    def is_behind(self) -> bool:
        """Returns whether all are served, and a tick passed over one that has not taken everything yet."""
        pauses = [client.paused_at is not None for client in self.streams.clients]
        return len(self.hub) == len(pauses) and any(pauses) and self.hub.statistics()["passed_over"] > 0

    def pass_slow_seconds(self) -> None:
        """Jumps to the time at which those that have not taken everything are too slow."""
        self.hub.sweep()  # the hub compares what they have taken since then: nothing
        self.ahead = 2 * SLOW_SECONDS
        self.hub.mirror.heard_at = time.monotonic() + self.ahead
        self.hub.sweep()


@contextlib.asynccontextmanager
async def running(*, sockets_per_address: int = 0) -> AsyncIterator[Running]:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of(stock(ticker) for ticker in TICKERS))
    mirror.heard_at = time.monotonic()
    hub = Hub(
        mirror,
        heartbeat_seconds=15,
        clock=lambda: time.monotonic() + service.ahead,
        wall_clock=time.time,
        market=lambda: "open",
        slow_seconds=SLOW_SECONDS,
    )
    streams = Streams(
        _nothing,
        FeedHubs({Feed.STOCKS: hub}),
        heartbeat_ms=15_000,
        sockets_per_address=sockets_per_address,
        address_of=lambda scope: scope["client"][0],
    )
    async with serve_feeds(streams, "127.0.0.1", 0) as port:
        service = Running(hub, streams, port)
        yield service


async def _nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """Fails: these tests send no HTTP."""


async def snapshot(client: ClientConnection) -> dict[str, Any]:
    while True:
        frame: dict[str, Any] = json.loads(await client.recv())
        if frame["type"] == "snapshot":
            return frame


async def wait_for_price(service: Running, client: ClientConnection, price: float) -> None:
    """Ticks until a client has received a price: a tick skips it while its last send is pending."""
    while True:
        service.hub.tick(100)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                frame = json.loads(await client.recv())
                if frame["type"] == "update" and frame["data"][0]["price"] == price:
                    return


async def close_code(client: ClientConnection) -> int | None:
    """Reads until the close and returns its code."""
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(scaled(10)):
            while True:
                await client.recv()
    return client.close_code


async def until_served(service: Running, clients: int) -> None:
    """The server accepts clients, and notices their end, in its own time."""
    await until(lambda: len(service.hub) == clients)


async def test_a_client_that_stops_reading_is_closed_and_harms_nobody() -> None:
    """The hub skips the slow consumer, then closes it with 4458; its neighbour gets every move."""
    async with (
        running() as service,
        service.connect(max_queue=1, sock=service.narrow_socket()) as stuck,
        service.connect(max_queue=None) as fine,
    ):
        await snapshot(stuck)
        await snapshot(fine)
        price = 0.0
        while not service.is_behind():
            price += 1.0
            service.move(price)
            await wait_for_price(service, fine, price)
        service.pass_slow_seconds()
        assert service.hub.statistics()["expelled"] == 1
        assert len(service.hub) == 1
        assert await close_code(stuck) == 4458


async def test_hub_frees_a_client_that_leaves() -> None:
    """The hub frees a client after a close frame and after a reset."""
    async with running() as service:
        tasks = len(asyncio.all_tasks())
        for leave in ("close", "cut"):
            async with contextlib.AsyncExitStack() as stack:
                clients = [await stack.enter_async_context(service.connect()) for _ in range(20)]
                await asyncio.gather(*map(snapshot, clients))
                await until_served(service, 20)
                if leave == "cut":
                    for client in clients:
                        client.transport.abort()
            await until_served(service, 0)
        assert len(asyncio.all_tasks()) <= tasks + 1


async def test_a_drain_says_goodbye_to_everyone() -> None:
    """Also to clients that never send and never read; later clients get a reconnection delay too."""
    async with running() as service, contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(service.connect()) for _ in range(20)]
        await asyncio.gather(*map(snapshot, clients))
        async with asyncio.timeout(scaled(5)):
            await service.streams.drain()
        assert len(service.hub) == 0
        frames = [json.loads(await client.recv()) for client in clients]
        assert {frame["type"] for frame in frames} == {"shutdown"}
        least, most = retry_ms(20)
        assert all(least <= frame["retryAfterMs"] <= most for frame in frames)
        assert [await close_code(client) for client in clients] == [1012] * 20
        async with service.connect() as late:
            assert json.loads(await late.recv())["type"] == "shutdown"
            assert await close_code(late) == 1012


async def test_a_drain_closes_each_client_that_took_its_farewell(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for a client that does not read alone."""
    monkeypatch.setattr("quotecast.stream.clients.FAREWELL_SECONDS", 60.0)
    async with (
        running() as service,
        service.connect(max_queue=1, sock=service.narrow_socket()) as stuck,
        service.connect(max_queue=None) as fine,
    ):
        await snapshot(stuck)
        await snapshot(fine)
        price, rounds, paused = 0.0, 0, set[float | None]()
        async with asyncio.timeout(scaled(60)):
            # Who does not read pauses for good; a busy machine pauses others for a moment.
            while rounds < 50:
                price += 1.0
                service.move(price)
                await wait_for_price(service, fine, price)
                before, paused = paused, {client.paused_at for client in service.streams.clients} - {None}
                rounds = rounds + 1 if paused and paused == before else 0
        draining = asyncio.create_task(service.streams.drain())
        assert await close_code(fine) == 1012
        assert not draining.done()
        draining.cancel()


async def feed_or_none(service: Running) -> ClientConnection | None:
    """Returns a feed; None if the server has no place for it."""
    try:
        return await service.connect()
    except InvalidStatus:
        return None


async def test_feeds_of_one_address_beyond_its_cap_are_refused() -> None:
    """The 503 has a Retry-After; a closed feed frees its place."""
    async with running(sockets_per_address=1) as service:
        async with service.connect() as first:
            with pytest.raises(InvalidStatus) as refused:
                await service.connect()
            assert refused.value.response.status_code == 503
            assert int(refused.value.response.headers["Retry-After"]) > 0
            assert "Your address" in json.loads(refused.value.response.body)["detail"]
            await snapshot(first)
        # The place is free when the task of the closed socket has ended, which the server tells nobody.
        third = await until_answered(lambda: feed_or_none(service))
        await snapshot(third)
        await third.close()


async def test_a_stream_that_nobody_reads_ends_and_harms_nobody() -> None:
    """The hub skips the reader of events, then ends its stream; its neighbour on a socket gets every move."""
    async with running() as service, service.connect(max_queue=None) as fine:
        reader, writer = await service.open_stream()
        await snapshot(fine)
        assert b"event-stream" in await reader.readuntil(b"\r\n\r\n")
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # sockets' have it
        price = 0.0
        with structlog.testing.capture_logs() as logs:
            while not service.is_behind():
                price += 1.0
                service.move(price)
                await wait_for_price(service, fine, price)
            service.pass_slow_seconds()
            # The stream's task ends in its own time.
            await until(lambda: not service.streams.clients.sockets[Feed.STOCKS, "sse"])
        assert service.hub.statistics()["expelled"] == len(service.hub) == 1
        assert service.streams.clients.closes[(Feed.STOCKS, "sse"), CloseCode.SLOW] == 1
        assert [entry["reason"] for entry in logs if entry["event"] == "connection closed"] == ["slow"]
        writer.transport.abort()


async def test_bytes_behind_the_request_of_a_stream_are_bounded() -> None:
    """Nobody reads them; past 64 KB the server closes the connection."""
    async with running() as service:
        reader, writer = await service.open_stream()
        await until_served(service, 1)
        writer.write(bytes(MAX_EXTRA_BYTES + 1))
        await until_served(service, 0)
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.transport.abort()
