"""WebSocket endpoints of the feeds: an ASGI application of the feed server (`quotecast.stream.server`).

The hub starts all sends of a tick by the server's extension `WRITER` and looks at the next tick whether the
sockets have taken them: one loop over all clients in place of a task per client.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from quotecast.asgi import App
from quotecast.errors import CloseCode, QuotecastError
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import Query, names_of
from quotecast.feed.encoding import JSON, Encoding, negotiate
from quotecast.feed.frames import Limits, error
from quotecast.feed.framing import Frame
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.session import is_ahead
from quotecast.market.feeds import Feed
from quotecast.stream.client import CLOSE_SECONDS, Client, ConnectionEnded
from quotecast.stream.queries import Replay, queries_of, replay_of
from quotecast.stream.replay import Replays, playing, reason_of
from quotecast.stream.restarts import retry_ms
from quotecast.stream.server import WRITER

#: Seconds that all clients have to read the farewell.
FAREWELL_SECONDS: Final = 1.0
CATCH_UP_SECONDS: Final = 2.0
CATCH_UP_STEP_SECONDS: Final = 0.01

#: The path of all feeds, and that of each.
ALL_FEEDS: Final = "/api/ws"
PATHS: Final = {f"{ALL_FEEDS}/{feed.spec.name}": feed for feed in Feed}
#: What metrics call the sockets of all feeds.
ALL: Final = "all"
REPLAY: Final = "replay"


class Streams:
    """ASGI application that serves every feed's path and passes all but WebSockets on to `http`.

    `sockets_per_address` of 0 means no limit. Without `replays` no feed is recorded.
    """

    def __init__(
        self,
        http: App,
        hubs: Mapping[Feed, Hub],
        *,
        heartbeat_ms: int,
        sockets_per_address: int,
        address_of: Callable[[Any], str],
        replays: Replays | None = None,
    ) -> None:
        self._http = http
        self._hubs = hubs
        self._heartbeat_ms = heartbeat_ms
        self._per_address = sockets_per_address
        self._address_of = address_of
        self._replays = replays or Replays(None, per_address=1, per_worker=1, heartbeat_ms=heartbeat_ms)
        self._streams: set[Client] = set()
        self._by_address: Counter[str] = Counter()
        #: Open sockets by feed, `all` or `replay`; the counts below have the same names.
        self.sockets: Counter[str] = Counter()
        #: Frames sent in answers.
        self.answers: Counter[str] = Counter()
        #: Their length in bytes.
        self.answered_length: Counter[str] = Counter()
        #: Accepted handshakes.
        self.connects: Counter[str] = Counter()
        #: Connections that this worker closed, by that name and code.
        self.closes: Counter[tuple[str, CloseCode]] = Counter()
        #: Bounds of the reconnection delay in milliseconds; None until the worker stops.
        self._retry_ms: tuple[int, int] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one connection."""
        if scope["type"] != "websocket":
            await self._http(scope, receive, send)
            return
        await receive()
        path = scope["path"]
        if path != ALL_FEEDS and PATHS.get(path) not in self._hubs:
            await _refuse_path(scope, send)
            return
        address = self._address_of(scope)
        if self._per_address and self._by_address[address] >= self._per_address:
            await send({"type": "websocket.close", "code": 1013, "reason": "address_full"})
            return
        asked = replay_of(scope["query_string"])
        if asked and not self._replays.take_place(address):
            await send({"type": "websocket.close", "code": 1013, "reason": "replays_full"})
            return
        self._by_address[address] += 1
        try:
            if asked:
                await self._accept_replay(PATHS.get(path), asked, scope, receive, send)
            else:
                await self._accept(PATHS.get(path), scope, receive, send)
        finally:
            if asked:
                self._replays.leave(address)
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    async def _accept(self, feed: Feed | None, scope: Any, receive: Any, send: Any) -> None:
        """Serves one feed, or all of them."""
        encoding = await _accept_socket(scope, send)
        hubs = [self._hubs[feed]] if feed else [*self._hubs.values()]
        session = ClientSession(
            [hub.mirror for hub in hubs],
            Limits(),
            encoding or JSON,
            among_feeds=feed is None,
            resumptions=[hub.resumptions for hub in hubs],
        )
        stream = Client(feed or ALL, session, hubs, send, scope["extensions"][WRITER])
        await self._run(stream, feed, scope, receive)

    async def _accept_replay(
        self, feed: Feed | None, asked: Replay, scope: Any, receive: Any, send: Any
    ) -> None:
        """Serves a recorded feed; answers what cannot be replayed with an error frame."""
        encoding = await _accept_socket(scope, send) or JSON
        try:
            player, hub = await self._replays.open(feed, asked)
        except QuotecastError as refusal:
            scope["extensions"][WRITER].write(encoding.write(error(refusal.status, reason_of(refusal))))
            code = CloseCode.NOT_RECORDED
            self.closes[REPLAY, code] += 1
            await send({"type": "websocket.close", "code": int(code), "reason": code.name.lower()})
            return
        session = ClientSession([player.mirror], Limits(), encoding)
        stream = Client(REPLAY, session, [hub], send, scope["extensions"][WRITER])

        async def end() -> None:
            # The hub sends the last changes first.
            await asyncio.sleep(2 * max(each.interval for each in session.feeds.values()) / 1000)
            stream.disconnect(CloseCode.REPLAY_ENDED)

        async with playing(player, hub, end):
            await self._run(stream, feed, scope, receive)

    async def _run(self, stream: Client, feed: Feed | None, scope: Any, receive: Any) -> None:
        """Serves a client to its end."""
        self.connects[stream.name] += 1
        if self._retry_ms:
            await self._send_back(stream, self._retry_ms)
            return
        self._streams.add(stream)
        self.sockets[stream.name] += 1
        try:
            queries = queries_of(scope["query_string"], feed)
            scope.clear()  # servers and middleware hold it, with all headers, as long as the connection lasts
            await self._serve(stream, queries, receive)
        finally:
            stream.leave()
            self._streams.remove(stream)
            self.sockets[stream.name] -= 1

    async def drain(self) -> None:
        """Tells every client that the server restarts and when to reconnect, then closes."""
        streams = list(self._streams)
        delays = self._retry_ms = retry_ms(len(streams))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await asyncio.gather(*(stream.dismiss(delays) for stream in streams), return_exceptions=True)
        for stream in streams:
            stream.disconnect(CloseCode.SERVICE_RESTART)
        if streams:
            await asyncio.wait([stream.task for stream in streams], timeout=CLOSE_SECONDS)

    async def _send_back(self, stream: Client, retry_ms: tuple[int, int]) -> None:
        """Tells a client of a stopping worker when to reconnect, and closes its connection."""
        await stream.send_farewell(retry_ms)
        await self._close(stream, CloseCode.SERVICE_RESTART)

    async def _serve(self, stream: Client, queries: Mapping[str, Query], receive: Any) -> None:
        try:
            await _wait_for_data(stream, queries)
            await self._answer(stream, stream.session.open(queries, self._heartbeat_ms))
            stream.join()
            await self._run_commands(stream, receive)
        except ConnectionEnded as end:
            await self._close(stream, end.code)
        except asyncio.CancelledError:
            if stream.code is None:
                raise
            stream.task.uncancel()
            await self._close(stream, stream.code)

    async def _run_commands(self, stream: Client, receive: Any) -> None:
        """Answers the client's commands until either side ends the connection."""
        session = stream.session
        while (event := await receive())["type"] == "websocket.receive":
            if pause := session.pause(time.monotonic()):
                await asyncio.sleep(pause)
            await stream.wait_until_sent()
            text = event.get("text")
            message = event["bytes"] if text is None else text
            await _wait_while(lambda: session.is_behind(message))  # noqa: B023 - awaited at once
            await self._answer(stream, stream.obey(message))
            if session.close_code:
                raise ConnectionEnded(session.close_code)

    async def _answer(self, stream: Client, frames: list[Frame]) -> None:
        await stream.answer(frames)
        self.answers[stream.name] += len(frames)
        self.answered_length[stream.name] += sum(map(len, frames))

    async def _close(self, stream: Client, code: CloseCode) -> None:
        self.closes[stream.name, code] += 1
        await stream.close(code)


async def _accept_socket(scope: Any, send: Any) -> Encoding | None:
    """Accepts a handshake; returns the encoding that the client asked for, if any.

    A browser fails a connection that selects none of the subprotocols that it offered.
    """
    encoding = negotiate(scope.get("subprotocols", ()))
    subprotocol = encoding.subprotocol if encoding else None
    await send({"type": "websocket.accept", "subprotocol": subprotocol, "headers": []})
    return encoding


async def _refuse_path(scope: Any, send: Any) -> None:
    """Closes a feed without a provider; refuses the handshake on a path that is no feed."""
    if scope["path"] in PATHS:
        await _accept_socket(scope, send)
        code = CloseCode.NO_PROVIDER
        await send({"type": "websocket.close", "code": int(code), "reason": code.name.lower()})
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": "unknown_feed"})


async def _wait_for_data(stream: Client, queries: Mapping[str, Query]) -> None:
    """Waits at most CATCH_UP_SECONDS for a worker that is behind its client's cursor, or has no data yet."""
    asked = [
        (hub.mirror, queries[name])
        for hub, _ in stream.connections
        if (name := hub.mirror.feed.spec.name) in queries
    ]
    among_feeds = stream.name == ALL  # where one feed without data must not delay the others
    await _wait_while(
        lambda: any(
            is_ahead(mirror, query.since) or (_is_waiting(mirror, query) and not among_feeds)
            for mirror, query in asked
        )
    )
    if not among_feeds and any(_is_too_early(mirror, query) for mirror, query in asked):
        # A refusal of the names or of the cursor would be final; after this close the client reconnects.
        raise ConnectionEnded(CloseCode.NO_DATA)


async def _wait_while(is_behind: Callable[[], bool]) -> None:
    """Waits at most CATCH_UP_SECONDS for a mirror."""
    for _ in range(int(CATCH_UP_SECONDS / CATCH_UP_STEP_SECONDS)):
        if not is_behind():
            return
        await asyncio.sleep(CATCH_UP_STEP_SECONDS)


def _is_waiting(mirror: Mirror, query: Query) -> bool:
    return query.symbols is not None and not mirror.loaded


def _is_too_early(mirror: Mirror, query: Query) -> bool:
    asked = query.since is not None or names_of(query.symbols) not in ([], "all")
    return asked and not mirror.loaded
