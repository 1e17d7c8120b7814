"""An idle feed costs little memory, whatever its client sent to open it."""

import asyncio
import contextlib
import sys
import time
import tracemalloc
from typing import Any

import pytest
import uvloop

from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.stream.endpoint import Streams
from quotecast.stream.hubs import FeedHubs
from quotecast.stream.server import serve_feeds
from support.made.market import state_of, stock
from support.runs.deadlines import scaled

#: Python's and uvloop's own allocations; the kernel's are not counted.
MOST_BYTES = 10 * 1024
CLIENTS = 200
HEADERS = "".join(f"X-Header-{number}: {'0' * 200}\r\n" for number in range(20))
QUERY = "symbols=" + ",".join(f"T{number}" for number in range(20))


@pytest.mark.slow
def test_idle_feed_holds_neither_its_handshake_nor_its_greeting() -> None:
    """4 KB of headers, and a snapshot of twenty quotes with 5 KB, are gone when the client has read it."""
    grown = uvloop.run(growth())
    assert grown / CLIENTS < MOST_BYTES


async def growth() -> int:
    """Returns the bytes that the clients' connections add on the side of the server."""
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of(stock(f"T{number}") for number in range(20)))
    hub = Hub(
        mirror,
        heartbeat_seconds=1000,
        clock=time.monotonic,
        wall_clock=time.time,
        market=lambda: "open",
    )
    streams = Streams(
        _nothing,
        FeedHubs({Feed.STOCKS: hub}),
        heartbeat_ms=1_000_000,
        sockets_per_address=0,
        address_of=lambda scope: scope["client"][0],
    )
    async with serve_feeds(streams, "127.0.0.1", 0) as port, contextlib.AsyncExitStack() as stack:
        await open_clients(port, hub, stack)
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            await open_clients(port, hub, stack)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    return after - before


async def open_clients(port: int, hub: Hub, stack: contextlib.AsyncExitStack) -> None:
    """Opens connections in a process of their own, and waits until all have their greeting."""
    wanted, joined = len(hub) + CLIENTS, asyncio.Event()
    hub.on_enter = lambda: joined.set() if len(hub) == wanted else None
    source = f"""
import socket, sys
request = {request().encode()!r}
clients = [socket.create_connection(("127.0.0.1", {port})) for _ in range({CLIENTS})]
for client in clients:
    client.sendall(request)
for client in clients:
    read = b""
    while b'"snapshot"' not in read:
        read += client.recv(65536)
print("read", flush=True)
sys.stdin.read()
"""
    clients = await asyncio.create_subprocess_exec(
        sys.executable, "-c", source, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    stack.push_async_callback(clients.wait)
    stack.callback(clients.kill)
    assert clients.stdout is not None
    async with asyncio.timeout(scaled(60)):
        assert await clients.stdout.readline() == b"read\n"
        await joined.wait()


def request() -> str:
    """Returns a handshake with many headers."""
    return (
        f"GET /api/ws/market?{QUERY} HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{HEADERS}\r\n"
    )


async def _nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """Fails: this test sends no HTTP."""
