"""The WebSocket endpoint, with a fake server."""

import asyncio
import gc
import json
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from quotecast.access.grant import Grant
from quotecast.access.keys import Scope
from quotecast.access.plans import Plan
from quotecast.access.request_state import request_state
from quotecast.asgi import App
from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.errors import QuotecastError
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.sse import SseEvent
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote
from quotecast.stream.endpoint import Streams
from quotecast.stream.hubs import FeedHubs
from quotecast.stream.outlet import WRITER
from support.made.market import EPOCH, state_of, stock, wire_epoch
from support.runs.deadlines import scaled
from support.runs.waits import until


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


class EventServer(Server):
    """A fake server of event streams, whose client stays; it is `greeted` when the stream waits for it."""

    compresses = False

    def __init__(self) -> None:
        super().__init__()
        self.greeted = asyncio.Event()

    def take_place(self) -> bool:
        return True

    async def receive(self) -> dict[str, Any]:
        self.greeted.set()
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    def scope(self, query: bytes) -> dict[str, Any]:
        http = {"type": "http", "method": "GET", "path": "/api/sse/market", "headers": []}
        return super().scope(query) | http


def served(*quotes: StockQuote, http: App | None = None) -> tuple[Streams, Hub]:
    mirror = Mirror(Feed.STOCKS)
    if quotes:
        mirror.load(state_of(quotes))
    hub = Hub(mirror, heartbeat_seconds=15, clock=lambda: 0.0, wall_clock=lambda: 0.0, market=lambda: "open")
    streams = Streams(
        http or nothing,
        FeedHubs({Feed.STOCKS: hub}),
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
    await until(lambda: len(server.frames()) >= 3)
    assert json.loads(server.sent[-1]["text"])["reason"] == "resume"
    connection.cancel()
    await asyncio.gather(connection, return_exceptions=True)


async def test_a_feed_without_a_provider_selects_the_subprotocol_before_it_closes() -> None:
    """A browser that got none would not see the close code."""
    streams, server = (
        Streams(nothing, FeedHubs({}), heartbeat_ms=1, sockets_per_address=0, address_of=lambda _: ""),
        Server(),
    )
    scope = server.scope(b"") | {"subprotocols": ["other", "quotecast.v1.json"]}
    await streams(scope, server.receive, server.send)
    accepted, closed = server.sent
    assert accepted["subprotocol"] == "quotecast.v1.json"
    assert closed["code"] == 4404


async def test_logs_name_a_connection_that_the_worker_closes() -> None:
    """The name is that of the welcome, so that a report about a connection finds its reason."""
    (streams, _), server = served(stock()), Server()
    server.commands += ["no JSON"] * 11
    with structlog.testing.capture_logs() as logs:
        await streams(server.scope(b"heartbeat=2"), server.receive, server.send)
    welcome = json.loads(server.sent[1]["text"])
    assert (welcome["heartbeatMs"], len(welcome["connection"])) == (2000, 16)
    assert logs == [
        {
            "event": "connection closed",
            "log_level": "info",
            "connection": welcome["connection"],
            "feed": Feed.STOCKS,
            "transport": "websocket",
            "code": 4400,
            "reason": "bad_commands",
        }
    ]
    again = Server()
    again.commands += ["no JSON"] * 11
    await streams(again.scope(b""), again.receive, again.send)
    assert json.loads(again.sent[1]["text"])["connection"] != welcome["connection"]


@pytest.mark.parametrize(
    ("query", "only", "code", "text"),
    [
        ("symbols=AAPL&bars=1m", (), "plan_doors", 'Plan "silver" has no bars'),
        ("symbols=AAPL&interval=100", (), "plan_doors", 'Plan "silver" has an interval of at least 1000'),
        ("symbols=all", (), "plan_doors", 'Plan "silver" has at most 1 symbols per socket, so not all'),
        ("symbols=AAPL,MSFT", (), "plan_doors", 'Plan "silver" has at most 1 symbols per socket'),
        ("symbols=all", ("AAPL",), "key_scope", "This API key is limited to certain symbols"),
    ],
)
async def test_an_event_stream_beyond_its_plan_or_scope_is_forbidden(
    query: str, only: tuple[str, ...], code: str, text: str
) -> None:
    """The address is right, so that no field of it is wrong; the error names the bound."""
    refusals: list[QuotecastError | None] = []

    async def http(scope: Any, _receive: Any, _send: Any) -> None:
        refusals.append(request_state(scope).refusal)

    plan = Plan(interval_ms=1000, symbols=1, doors=("sse", "websocket"))
    key: Any = SimpleNamespace(scope=Scope(symbols=only))
    (streams, _), server = served(stock("AAPL"), stock("MSFT"), http=http), EventServer()
    scope = server.scope(query.encode())
    request_state(scope).grant = Grant("silver", plan, key)
    await streams(scope, server.receive, server.send)
    (refusal,) = refusals
    assert refusal is not None
    assert (refusal.status, refusal.code) == (403, code)
    assert str(refusal).startswith(text)


async def test_an_event_stream_does_not_hold_its_snapshot() -> None:
    """Snapshots are the largest frames: one for each client would be most of its memory."""
    (streams, _), server = served(stock()), EventServer()
    connection = asyncio.create_task(streams(server.scope(b"symbols=AAPL"), server.receive, server.send))
    async with asyncio.timeout(scaled(30)):
        await server.greeted.wait()
    gc.collect()
    assert not [each for each in gc.get_objects() if type(each) is SseEvent and b"snapshot" in each.plain]
    connection.cancel()
    await asyncio.gather(connection, return_exceptions=True)
