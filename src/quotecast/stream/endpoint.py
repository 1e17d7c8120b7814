"""WebSocket endpoints of the feeds: an ASGI application of the feed server (`quotecast.stream.server`).

The hub starts all sends of a tick by the server's extension `WRITER` and looks at the next tick whether the
sockets have taken them: one loop over all clients in place of a task per client.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from quotecast.access.request_state import request_state
from quotecast.asgi import App
from quotecast.close_codes import CloseCode
from quotecast.errors import InvalidValue, QuotecastError
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import Query
from quotecast.feed.encoding import JSON, Encoding, negotiate
from quotecast.feed.frames import Limits, error
from quotecast.feed.grid import GRID, GridSession
from quotecast.market.feeds import Feed
from quotecast.stream.client import Client, ConnectionEnded, connection_id
from quotecast.stream.clients import Clients
from quotecast.stream.event_stream import EVENT_PATHS, EventStreams
from quotecast.stream.hubs import FeedHubs
from quotecast.stream.outlet import WRITER
from quotecast.stream.queries import Replay, heartbeat_of, queries_of, replay_of
from quotecast.stream.relays import PATH as RELAY_PATH
from quotecast.stream.relays import Relays
from quotecast.stream.replay import Replays, playing
from quotecast.stream.waiting import wait_for_data, wait_while

#: The path of all feeds, and that of each.
ALL_FEEDS: Final = "/api/ws"
PATHS: Final = {f"{ALL_FEEDS}/{feed.spec.name}": feed for feed in Feed}
#: Grids of OpenBB Workspace, each with the rows of one feed.
GRIDS: Final = {f"{ALL_FEEDS}/openbb/{feed.spec.name}": feed for feed in Feed}
_SERVED: Final = PATHS | GRIDS
#: What metrics call the sockets of all feeds.
ALL: Final = "all"
REPLAY: Final = "replay"


class Streams:
    """ASGI application that serves every feed's path and passes all but WebSockets on to `http`.

    `sockets_per_address` of 0 means no limit. Without `replays` no feed is recorded, without `relays` nobody
    reads the bus from here.
    """

    def __init__(
        self,
        http: App,
        hubs: FeedHubs,
        *,
        heartbeat_ms: int,
        sockets_per_address: int,
        address_of: Callable[[Any], str],
        replays: Replays | None = None,
        relays: Relays | None = None,
    ) -> None:
        self._http = http
        self._hubs = hubs
        self._heartbeat_ms = heartbeat_ms
        #: All clients, of sockets and of event streams.
        self.clients = Clients(sockets_per_address, address_of)
        self._events = EventStreams(http, self._hubs, self.clients, heartbeat_ms)
        self._relays = relays
        self._replays = replays or Replays(None, per_address=1, per_worker=1, heartbeat_ms=heartbeat_ms)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one connection."""
        if scope["type"] != "websocket":
            feed = EVENT_PATHS.get(scope["path"].rstrip("/")) if scope["method"] == "GET" else None
            serve = self._http if feed is None else partial(self._events.serve, feed)
            await serve(scope, receive, send)
            return
        await receive()
        path = scope["path"]
        feed = _SERVED.get(path)
        if path == RELAY_PATH and self._relays is not None:
            await self._relays.serve(scope, receive, send)
            return
        if path != ALL_FEEDS and (feed is None or feed not in self._hubs.of(request_state(scope).grant)):
            # Closes a feed without a provider; refuses the handshake on a path without a feed.
            if scope["path"] in _SERVED:
                await _accept_socket(scope, send)
                await _close(send, CloseCode.NO_PROVIDER)
            else:
                await send({"type": "websocket.close", "code": 1008, "reason": "unknown_feed"})
            return
        address = self.clients.address_of(scope)
        if not self.clients.take_place(address):
            await send({"type": "websocket.close", "code": 1013, "reason": "address_full"})
            return
        asked = None if path in GRIDS else replay_of(scope["query_string"])
        try:
            if asked is None:
                await self._accept(feed, scope, receive, send)
            else:
                await self._open_replay(feed, asked, scope, receive, send)
        finally:
            self.clients.leave_place(address)

    async def _open_replay(
        self, feed: Feed | None, asked: Replay, scope: Any, receive: Any, send: Any
    ) -> None:
        address = self.clients.address_of(scope)
        if not self._replays.take_place(address):
            await send({"type": "websocket.close", "code": 1013, "reason": "replays_full"})
            return
        try:
            await self._accept_replay(feed, asked, scope, receive, send)
        finally:
            self._replays.leave(address)

    async def _accept(self, feed: Feed | None, scope: Any, receive: Any, send: Any) -> None:
        """Serves one feed, in frames or as a grid, or all feeds."""
        encoding = await _accept_socket(scope, send)
        grant = request_state(scope).grant
        served = self._hubs.of(grant)
        hubs = [served[feed]] if feed else [*served.values()]
        in_grid = scope["path"] in GRIDS
        session = (GridSession if in_grid else ClientSession)(
            [hub.mirror for hub in hubs],
            Limits() if grant is None else grant.limits,
            GRID if in_grid else encoding or JSON,
            among_feeds=feed is None,
            resumptions=[hub.resumptions for hub in hubs],
            connection=connection_id(),
            heartbeat_ms=self._heartbeat_ms,
            refusals={} if feed else self._hubs.refusals(grant),
        )
        client = Client(
            feed or ALL,
            "websocket",
            session,
            hubs,
            grant=grant,
            address=self.clients.address_of(scope),
            end=partial(_close, send),
            socket=scope["extensions"][WRITER],
            meter=request_state(scope).counts,
        )
        await self._run(client, feed, scope, receive)

    async def _accept_replay(
        self, feed: Feed | None, asked: Replay, scope: Any, receive: Any, send: Any
    ) -> None:
        """Serves a recorded feed; answers what cannot be replayed with an error frame."""
        encoding = await _accept_socket(scope, send) or JSON
        grant = request_state(scope).grant
        try:
            player, hub = await self._replays.open(feed, asked, late_seconds=self._hubs.lateness(grant))
        except QuotecastError as refusal:
            text = f"{refusal.field}: {refusal}" if isinstance(refusal, InvalidValue) else str(refusal)
            scope["extensions"][WRITER].write(encoding.write(error(refusal.status, text)))
            self.clients.closes[(REPLAY, "websocket"), CloseCode.NOT_RECORDED] += 1
            await _close(send, CloseCode.NOT_RECORDED)
            return
        session = ClientSession(
            [player.mirror],
            Limits() if grant is None else grant.limits,
            encoding,
            connection=connection_id(),
            heartbeat_ms=self._heartbeat_ms,
        )
        client = Client(
            REPLAY,
            "websocket",
            session,
            [hub],
            grant=grant,
            address=self.clients.address_of(scope),
            end=partial(_close, send),
            socket=scope["extensions"][WRITER],
            meter=request_state(scope).counts,
        )

        async def end() -> None:
            # The hub sends the last changes first.
            await asyncio.sleep(2 * max(each.interval for each in session.feeds.values()) / 1000)
            client.disconnect(CloseCode.REPLAY_ENDED)

        async with playing(player, hub, end):
            await self._run(client, feed, scope, receive)

    def _run(self, client: Client, feed: Feed | None, scope: Any, receive: Any) -> Awaitable[None]:
        """Serves a client to its end. An idle client holds the frame of each coroutine: this is none."""
        query_string = scope["query_string"]
        queries, heartbeat = queries_of(query_string, feed), heartbeat_of(query_string)
        scope.clear()  # servers and middleware hold it, with all headers, as long as the connection lasts
        greet = partial(self._greet, client, queries, heartbeat)
        return self.clients.run(client, greet, partial(self._run_commands, client, receive))

    async def drain(self) -> None:
        """Tells every client that the server restarts and when to reconnect, then closes."""
        if self._relays is not None:
            self._relays.drain()
        await self.clients.drain()

    async def _greet(self, client: Client, queries: Mapping[str, Query], heartbeat: str | None) -> None:
        asked = [
            (hub.mirror, queries[name])
            for hub, _ in client.connections
            if (name := hub.mirror.feed.spec.name) in queries
        ]
        await wait_for_data(asked, among_feeds=client.name == ALL)
        await self.clients.answer(client, client.session.open(queries, heartbeat))

    async def _run_commands(self, client: Client, receive: Any) -> None:
        """Answers the client's commands until either side ends the connection."""
        session = client.session
        while (event := await receive())["type"] == "websocket.receive":
            if pause := session.pause(time.monotonic()):
                await asyncio.sleep(pause)
            await client.wait_until_sent()
            text = event.get("text")
            message = event["bytes"] if text is None else text
            await wait_while(lambda: session.is_behind(message))  # noqa: B023 - awaited at once
            await self.clients.answer(client, client.obey(message))
            if session.close_code:
                raise ConnectionEnded(session.close_code)


async def _close(send: Any, code: CloseCode) -> None:
    """Sends a close frame, and waits until the socket has taken it."""
    await send({"type": "websocket.close", "code": int(code), "reason": code.name.lower()})


async def refuse_socket(scope: Any, send: Any, refusal: QuotecastError) -> None:
    """Accepts a handshake to say why the socket closes: browsers cannot read the answer to a handshake."""
    encoding = await _accept_socket(scope, send) or JSON
    scope["extensions"][WRITER].write(encoding.write(error(refusal.status, str(refusal))))
    await _close(send, refusal.close_code)


async def _accept_socket(scope: Any, send: Any) -> Encoding | None:
    """Accepts a handshake; returns the encoding that the client asked for, if any.

    A browser fails a connection that selects none of the subprotocols that it offered.
    """
    encoding = negotiate(scope.get("subprotocols", ()))
    subprotocol = encoding.subprotocol if encoding else None
    await send({"type": "websocket.accept", "subprotocol": subprotocol, "headers": []})
    return encoding
