"""Clients of a delayed plan get the delayed feed on every protocol, whatever the live feed does."""

import asyncio
import json
import re
from typing import Any, Final

import pytest

from quotecast.access.grant import Grant
from quotecast.access.plans import Plan
from quotecast.access.request_state import request_state
from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from quotecast.stream.endpoint import Streams
from quotecast.stream.hubs import FeedHubs
from quotecast.stream.outlet import WRITER
from support.made.market import EPOCH, state_of, stock, wire_epoch
from support.runs.waits import until

LIVE, CALM = 7777.77, 100.0
DELAYED: Final = Grant("free", Plan(freshness="delayed"))
WHOLE: Final = Grant("gold", Plan())


class Client:
    """A fake server with one client, which reads everything and sends its commands."""

    compresses = False
    ready = True
    paused_at = 0.0

    def __init__(self, scope: dict[str, Any], grant: Grant, *commands: str) -> None:
        self.scope = scope | {"query_string": b"symbols=all", "extensions": {WRITER: self}}
        request_state(self.scope).grant = grant
        self.text = ""
        self._commands = [*commands]
        self._connected = False

    async def receive(self) -> dict[str, Any]:
        if not self._connected:
            self._connected = True
            return {"type": "websocket.connect"}
        if self._commands:
            return {"type": "websocket.receive", "text": self._commands.pop(0)}
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    async def send(self, event: dict[str, Any]) -> None:
        self.text += str(event)

    def write(self, frame: Frame) -> None:
        self.text += str(frame.payload)

    def take_place(self) -> bool:
        return True

    def __await__(self) -> Any:
        yield from ()


def socket(path: str) -> dict[str, Any]:
    return {"type": "websocket", "path": path}


STREAM: Final[dict[str, Any]] = {"type": "http", "method": "GET", "path": "/api/sse/market", "headers": []}
SCOPES: Final = {
    "one feed": socket("/api/ws/market"),
    "all feeds": socket("/api/ws"),
    "grid": socket("/api/ws/openbb/market"),
    "events": STREAM,
}


def hub_of(price: float) -> Hub:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock(price=price)]))
    return Hub(mirror, heartbeat_seconds=15, clock=lambda: 0.0, wall_clock=lambda: 0.0, market=lambda: "open")


@pytest.fixture
def hubs() -> FeedHubs:
    return FeedHubs({Feed.STOCKS: hub_of(LIVE)}, {Feed.STOCKS: hub_of(CALM)}, 900)


async def text_of(hubs: FeedHubs, client: Client) -> str:
    """Returns what a client gets, while both feeds change."""

    async def refuse(*_: Any) -> None:
        raise AssertionError("these tests send no other HTTP")

    streams = Streams(refuse, hubs, heartbeat_ms=15_000, sockets_per_address=0, address_of=lambda _: "")
    connection = asyncio.create_task(streams(client.scope, client.receive, client.send))
    for _ in range(30):
        await asyncio.sleep(0)
    for mapping, price in ((hubs.live, LIVE + 1), (hubs.delayed, CALM + 1)):
        for hub in mapping.values():
            change = encode_change(stock(price=price))
            seq = hub.mirror.mark.seq + 1
            assert hub.mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=[change]))
            for interval in (100, 250, 500, 1000):
                hub.tick(interval)
    connection.cancel()
    await asyncio.gather(connection, return_exceptions=True)
    return client.text


def prices_of_live(text: str) -> list[str]:
    """Returns the prices of the live feed in a text, whose random ids may have any digits."""
    return re.findall(r"777[78]\.77", text)


@pytest.mark.parametrize("kind", SCOPES)
async def test_a_delayed_client_gets_the_delayed_feed_alone(hubs: FeedHubs, kind: str) -> None:
    commands = [json.dumps({"action": "subscribe", "symbols": "all", "feed": "market"})]
    text = await text_of(hubs, Client(SCOPES[kind], DELAYED, *commands))
    assert str(CALM) in text
    assert not prices_of_live(text)


@pytest.mark.parametrize("kind", SCOPES)
async def test_another_client_gets_the_live_feed(hubs: FeedHubs, kind: str) -> None:
    """The test above can fail."""
    commands = [json.dumps({"action": "subscribe", "symbols": "all", "feed": "market"})]
    text = await text_of(hubs, Client(SCOPES[kind], WHOLE, *commands))
    assert prices_of_live(text)


async def test_a_cursor_of_the_live_feed_leads_back_to_the_delayed_one(hubs: FeedHubs) -> None:
    """A customer who had live quotes gets the whole delayed state, after a wait for a slow mirror."""
    client = Client(SCOPES["one feed"], DELAYED)
    client.scope["query_string"] = f"symbols=all&since={wire_epoch()}-9".encode()
    streams = Streams(
        lambda *_: asyncio.sleep(0), hubs, heartbeat_ms=15_000, sockets_per_address=0, address_of=lambda _: ""
    )
    connection = asyncio.create_task(streams(client.scope, client.receive, client.send))
    await until(lambda: "snapshot" in client.text)
    connection.cancel()
    await asyncio.gather(connection, return_exceptions=True)
    assert str(CALM) in client.text
    assert not prices_of_live(client.text)


async def test_without_delayed_feeds_a_delayed_client_gets_none(hubs: FeedHubs) -> None:
    client = Client(SCOPES["one feed"], DELAYED)
    text = await text_of(FeedHubs(hubs.live), client)
    assert "4404" in text
    assert not prices_of_live(text)


def test_metrics_tell_delayed_feeds_apart(hubs: FeedHubs) -> None:
    assert [*hubs.named()] == ["stocks", "stocks-delayed"]
