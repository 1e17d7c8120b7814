"""A worker's feed and its clients over real sockets; the test decides the order of their steps."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from quotecast.bus.redis import RedisBus
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval
from quotecast.stream.endpoint import Streams
from quotecast.stream.hubs import FeedHubs, hub_of
from quotecast.stream.server import serve_feeds
from support.clients.bars_copy import BarsCopy, Read
from support.clients.merging_client import MergingClient
from support.runs.deadlines import scaled
from support.runs.waits import until

INTERVAL: Final = 100
PATIENCE_SECONDS: Final = 30.0


class Worker:
    """A worker's server of one feed on a local port; the test ticks its hub."""

    def __init__(self, url: str) -> None:
        self.bus = RedisBus(url, "t")
        mirror = Mirror(Feed.STOCKS)
        self.hub = hub_of(mirror, 15_000)
        self.streams = Streams(
            _nothing,
            FeedHubs({Feed.STOCKS: self.hub}),
            heartbeat_ms=15_000,
            sockets_per_address=0,
            address_of=lambda _: "",
        )
        relay = BusListener(self.bus, {Feed.STOCKS: mirror})
        self.following = asyncio.create_task(relay.run())
        self.listening = serve_feeds(self.streams, "127.0.0.1", 0)
        self.port = 0

    async def start(self) -> None:
        self.port = await self.listening.__aenter__()

    async def loaded(self) -> None:
        await until(lambda: self.hub.mirror.loaded)

    async def stop(self) -> None:
        await self.listening.__aexit__(None, None, None)
        self.following.cancel()
        await asyncio.gather(self.following, return_exceptions=True)
        await self.bus.close()


async def _nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """Serves no HTTP."""


class FeedParty:
    """A frontend that merges what it reads, drops what it unsubscribed, and may pause reading.

    `among_feeds` says whether it follows the market on the socket of all feeds. With `bars` it has bars too,
    and `read` is its REST.
    """

    def __init__(
        self,
        subprotocol: str,
        *,
        among_feeds: bool = False,
        fields: Sequence[str] | None = None,
        bars: LiveInterval | None = None,
        read: Read = lambda _interval, _symbols: [],
    ) -> None:
        self.subprotocol = subprotocol
        self.among_feeds = among_feeds
        self.fields = fields
        #: The interval of its bars, and its copy of them.
        self.interval = bars
        self.bars = BarsCopy(read)
        #: The fields of the last acknowledgement, and those of the copy: a snapshot brings them.
        self._acknowledged_fields: Sequence[str] | None = None
        self._copied_fields: Sequence[str] | None = None
        self.state = MergingClient(subprotocol=subprotocol)
        self.reads = asyncio.Event()
        #: Set after each merged frame, and at the end of the connection.
        self.frame_arrived = asyncio.Event()
        self.acknowledged = False

    @property
    def symbols(self) -> frozenset[str] | None:
        """The symbols of its list; None for all, and for groups, whose members it does not know."""
        wanted = self.state.wanted
        return None if wanted == "all" or any(":" in name for name in wanted) else wanted

    async def open(self, port: int, names: str, since: str | None = None) -> None:
        self.acknowledged = False
        if not names:  # on the socket of all feeds, nothing acknowledges an empty list
            self.state.forget_subscription()
        self.reads.set()
        query = {"interval": str(INTERVAL)}
        if names:
            query["market" if self.among_feeds else "symbols"] = names
        fields = self.fields if since is None else self._copied_fields
        if names and fields:
            query["fields"] = ",".join(fields)
        if since is not None:
            query["since"] = f"market:{since}" if self.among_feeds else since
        if names and self.interval:
            query["bars"] = self.interval
            if since is not None and self.bars.since:
                query["bars_since"] = f"market:{self.bars.since}" if self.among_feeds else self.bars.since
        path = "/api/ws" if self.among_feeds else "/api/ws/market"
        self.connection = await connect(
            f"ws://127.0.0.1:{port}{path}?{urlencode(query)}",
            subprotocols=[Subprotocol(self.subprotocol)],
            max_size=None,
            max_queue=1,
            ping_interval=None,
        )
        self.reading = asyncio.create_task(self._read(self.connection))

    async def leave(self, *, abruptly: bool) -> None:
        if abruptly or not self.reads.is_set():
            self.connection.transport.abort()
        else:
            await self.connection.close()
        self.reading.cancel()
        await asyncio.gather(self.reading, return_exceptions=True)

    async def reconnect(self, port: int) -> None:
        """Resumes the names that its cursor covers, and subscribes the others again."""
        wanted = self.state.wanted
        names = self.state.names_to_resume
        await self.open(port, names, self.state.since if names else None)
        if names or not self.among_feeds:
            await self.until_acknowledged()
        missing = self.state.names_to_subscribe(wanted)
        if missing or set(self._copied_fields or ()) != set(self.fields or ()):
            await self.send_command("subscribe", **({"symbols": missing} if missing else {}))

    async def select(self, fields: Sequence[str] | None) -> None:
        """Changes the fields of the subscription."""
        self.fields = fields
        await self.send_command("subscribe")

    async def send_command(self, action: str, **given: Any) -> None:
        """Sends a command and waits for its answer."""
        self.acknowledged = False
        feed = {"feed": "market"} if self.among_feeds else {}
        if action == "subscribe":
            # An address without lists sets neither on the socket of all feeds.
            given |= {"interval": INTERVAL, "fields": self.fields or "all", "bars": self.interval or "none"}
        await self.connection.send(json.dumps({"action": action, "id": 1, **feed, **given}))
        await self.until_acknowledged()

    async def wait_for_frame(self) -> None:
        """Waits for the next frame, or for a short silence."""
        if self.reading.done():
            await self.reading
        self.frame_arrived.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.005):
                await self.frame_arrived.wait()

    async def until_acknowledged(self) -> None:
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
            while not self.acknowledged:
                await self.wait_for_frame()

    async def _read(self, connection: ClientConnection) -> None:
        try:
            while True:
                await self.reads.wait()
                self._take(self.state.take(await connection.recv()))
                self.frame_arrived.set()
        finally:
            self.frame_arrived.set()

    def _take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "bars":
            self.bars.take(frame, self.symbols)
        if frame["type"] == "subscribed":
            if self.symbols is not None:
                self.bars.retain(self.symbols)
            self._acknowledged_fields = frame.get("fields")
            self.state.drop_unwanted()
        if frame["type"] == "snapshot":
            self._copied_fields = self._acknowledged_fields
        if frame["type"] in {"subscribed", "error"}:
            self.acknowledged = True
