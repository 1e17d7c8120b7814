"""The WebSocket endpoint, with a fake server."""

import asyncio
import json
from collections.abc import Generator
from typing import Any

import pytest

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed.framing import Frame
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote
from quotecast.stream.endpoint import Streams
from quotecast.stream.server import WRITER
from support.market_made import EPOCH, state_of, stock, wire_epoch


class Server:
    """A fake server that accepts what the application sends, as long as its client reads."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self._connected = False
        self.commands: list[str] = []
        #: The bytes of a frame wait while the client does not read.
        self.ready = True

    async def receive(self) -> dict[str, Any]:
        if self._connected and self.commands:
            return {"type": "websocket.receive", "text": self.commands.pop(0)}
        if self._connected:
            await asyncio.Event().wait()
        self._connected = True
        return {"type": "websocket.connect"}

    async def send(self, event: dict[str, Any]) -> None:
        self.sent.append(event)

    def write(self, frame: Frame) -> None:
        self.sent.append({"type": "websocket.send", "text": frame.payload})
        self.ready = self.reads.is_set()

    def __await__(self) -> Generator[Any, None, None]:
        yield from self.reads.wait().__await__()
        self.ready = True

    def scope(self, query: bytes) -> dict[str, Any]:
        return {
            "type": "websocket",
            "path": "/api/ws/market",
            "query_string": query,
            "extensions": {WRITER: self},
        }

    def frames(self) -> list[str]:
        return [json.loads(event["text"])["type"] for event in self.sent if "text" in event]


def served(*quotes: StockQuote) -> tuple[Streams, Hub]:
    mirror = Mirror(Feed.STOCKS)
    if quotes:
        mirror.load(state_of(quotes))
    hub = Hub(mirror, heartbeat_seconds=15, clock=lambda: 0.0, wall_clock=lambda: 0.0, market=lambda: "open")
    streams = Streams(
        nothing,
        {Feed.STOCKS: hub},
        heartbeat_ms=15_000,
        sockets_per_address=0,
        address_of=lambda _: "client",
    )
    return streams, hub


async def nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """Fails: these tests send no HTTP."""


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_farewell_waits_for_an_answer_under_way() -> None:
    """A client that is still reading its greeting gets the farewell after it."""
    (streams, _), server = served(stock()), Server()
    connection = asyncio.create_task(streams(server.scope(b"symbols=all"), server.receive, server.send))
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
    """The close code asks it to reconnect: a refusal of its symbols would be final."""
    (streams, _), server = served(), Server()
    await streams(server.scope(query), server.receive, server.send)
    assert server.sent[-1]["code"] == 4451
    assert server.frames() == []


async def test_a_command_with_a_cursor_of_a_faster_worker_waits_for_the_mirror() -> None:
    """A resync would take the client back to older prices."""
    (streams, hub), server = served(stock()), Server()
    command = {"action": "subscribe", "symbols": "all", "since": f"{wire_epoch()}-2"}
    server.commands.append(json.dumps(command))
    connection = asyncio.create_task(streams(server.scope(b""), server.receive, server.send))
    await turns()
    assert server.frames() == ["welcome"]
    change = encode_change(stock(price=7.0))
    assert hub.mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2, changes=[change]))
    async with asyncio.timeout(10):
        while len(server.frames()) < 3:  # noqa: ASYNC110 - a fake server tells nobody
            await asyncio.sleep(0.01)
    assert json.loads(server.sent[-1]["text"])["reason"] == "resume"
    connection.cancel()
    await asyncio.gather(connection, return_exceptions=True)


async def test_a_feed_without_a_provider_selects_the_subprotocol_before_it_closes() -> None:
    """A browser that got none would not see the close code."""
    streams, server = (
        Streams(nothing, {}, heartbeat_ms=1, sockets_per_address=0, address_of=lambda _: ""),
        Server(),
    )
    scope = server.scope(b"") | {"subprotocols": ["other", "quotecast.v1.json"]}
    await streams(scope, server.receive, server.send)
    accepted, closed = server.sent
    assert accepted["subprotocol"] == "quotecast.v1.json"
    assert closed["code"] == 4404
