"""The WebSocket endpoint against a server that the test plays itself."""

import asyncio
import json
from collections.abc import Awaitable, Generator
from typing import Any

import pytest

from market_made import EPOCH, state_of, stock
from quotecast.api.stream import Streams
from quotecast.bus.base import Batch, Change
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote


class Nothing:
    """What granian answers to a send once the client has left."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


class Server:
    """Takes what the application sends, as long as the client reads."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self.left = False
        self._connected = False

    async def receive(self) -> dict[str, Any]:
        if self._connected:
            await asyncio.Event().wait()
        self._connected = True
        return {"type": "websocket.connect"}

    def send(self, event: dict[str, Any]) -> Awaitable[None]:
        self.sent.append(event)
        if self.left:
            return Nothing()
        return asyncio.ensure_future(self._taken(event))

    async def _taken(self, event: dict[str, Any]) -> None:
        if event["type"] == "websocket.send":
            await self.reads.wait()

    def frames(self) -> list[str]:
        return [json.loads(event["text"])["type"] for event in self.sent if "text" in event]


def served(*quotes: StockQuote) -> tuple[Streams, Hub]:
    mirror = Mirror(Feed.STOCKS)
    if quotes:
        mirror.load(state_of(quotes))
    hub = Hub(mirror, heartbeat_seconds=15, clock=lambda: 0.0, wall_clock=lambda: 0.0, market=lambda: "open")
    streams = Streams(
        nothing,
        {"/api/ws/market": hub},
        heartbeat_ms=15_000,
        sockets_per_worker=0,
        sockets_per_address=0,
        address_of=lambda _: "client",
    )
    return streams, hub


async def nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """There is no HTTP here."""


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_farewell_waits_for_an_answer_under_way() -> None:
    """A client that is still taking its greeting is told of the restart too, after it."""
    (streams, _), server = served(stock()), Server()
    scope = {"type": "websocket", "path": "/api/ws/market", "query_string": b"symbols=all"}
    connection = asyncio.create_task(streams(scope, server.receive, server.send))
    server.reads.clear()
    await turns()
    assert server.frames() == ["welcome"]
    draining = asyncio.create_task(streams.drain())
    await turns()
    server.reads.set()
    await draining
    await connection
    assert server.frames() == ["welcome", "subscribed", "snapshot", "shutdown"]
    assert server.sent[-1]["code"] == 1012


@pytest.mark.parametrize("query", [b"symbols=AAPL", b"symbols=all&since=01a1fddc65cbebed4de9-7"])
async def test_a_client_that_names_what_is_not_known_yet_is_sent_away_for_a_while(query: bytes) -> None:
    """With a code that says to come back; refusing its symbols, or emptying its list, would be for good."""
    (streams, _), server = served(), Server()
    scope = {"type": "websocket", "path": "/api/ws/market", "query_string": query}
    await streams(scope, server.receive, server.send)
    assert server.sent[-1]["code"] == 4451
    assert server.frames() == []


async def test_a_client_that_left_unnoticed_does_not_stop_the_clockwork() -> None:
    """Its task may be busy elsewhere when it leaves; until it reads of it, the hub goes on sending."""
    (streams, hub), server = served(stock()), Server()
    scope = {"type": "websocket", "path": "/api/ws/market", "query_string": b"symbols=all"}
    connection = asyncio.create_task(streams(scope, server.receive, server.send))
    await turns()
    server.left = True
    for seq in (2, 3):
        change = Change(stock(price=float(seq)))
        assert hub.mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=[change]))
        hub.tick(250)
        hub.sweep()
    assert server.frames().count("update") == 2
    connection.cancel()
    await asyncio.gather(connection, return_exceptions=True)
    assert len(hub) == 0
