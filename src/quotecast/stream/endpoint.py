"""WebSocket endpoints of the feeds: an ASGI application of the feed server (`quotecast.stream.server`).

The hub starts all sends of a tick by the server's extension `WRITE` and checks them at the next tick: one
loop over all clients in place of a task per client.
"""

import asyncio
import contextlib
import itertools
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qs

from quotecast.asgi import App
from quotecast.errors import CloseCode
from quotecast.feed.commands import Query, names_of
from quotecast.feed.encoding import JSON, Frame, negotiate
from quotecast.feed.frames import Limits
from quotecast.feed.hub import SLOW_AFTER_SECONDS, Connection, Hub, Sending
from quotecast.feed.mirror import Mirror
from quotecast.feed.session import FeedSession, is_ahead
from quotecast.market.feeds import Feed
from quotecast.stream.restarts import retry_ms
from quotecast.stream.server import WRITE

#: Seconds that a client has to read the farewell, and then the close frame.
FAREWELL_SECONDS: Final = 1.0
CLOSE_SECONDS: Final = 3.0
CATCH_UP_SECONDS: Final = 2.0
CATCH_UP_STEP_SECONDS: Final = 0.01

_PATHS: Final = {feed: f"/api/ws/{feed.spec.name}" for feed in Feed}

#: Starts sending a frame.
Start = Callable[[Frame], Sending]


class _ConnectionEnded(Exception):
    """The connection is over; `code` is for the close frame, None if the client has disconnected."""

    def __init__(self, code: CloseCode | None = None) -> None:
        self.code = code


class Streams:
    """ASGI application that serves every feed's path and passes all but WebSockets on to `http`.

    `sockets_per_address` of 0 means no limit.
    """

    def __init__(
        self,
        http: App,
        hubs: Mapping[str, Hub],
        *,
        heartbeat_ms: int,
        sockets_per_address: int,
        address_of: Callable[[Any], str],
    ) -> None:
        self._http = http
        self._hubs = hubs
        self._heartbeat_ms = heartbeat_ms
        self._per_address = sockets_per_address
        self._address_of = address_of
        self._streams: set[_Client] = set()
        self._by_address: Counter[str] = Counter()
        #: Accepted handshakes by feed.
        self.connects: Counter[Feed] = Counter()
        #: Connections that this worker closed, by feed and code.
        self.closes: Counter[tuple[Feed, CloseCode]] = Counter()
        #: Bounds of the reconnection delay in milliseconds; None until the worker stops.
        self._retry_ms: tuple[int, int] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one connection."""
        if scope["type"] != "websocket":
            await self._http(scope, receive, send)
            return
        hub = self._hubs.get(scope["path"])
        await receive()
        if hub is None:
            await _refuse_path(scope["path"], send)
            return
        address = self._address_of(scope)
        if self._per_address and self._by_address[address] >= self._per_address:
            await send({"type": "websocket.close", "code": 1013, "reason": "address_full"})
            return
        self._by_address[address] += 1
        try:
            await self._accept(hub, scope, receive, send)
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    async def _accept(self, hub: Hub, scope: Any, receive: Any, send: Any) -> None:
        encoding = negotiate(scope.get("subprotocols", ()))
        subprotocol = encoding.subprotocol if encoding else None
        await send({"type": "websocket.accept", "subprotocol": subprotocol, "headers": []})
        self.connects[hub.mirror.feed] += 1
        session = FeedSession(hub.mirror, Limits(), encoding or JSON, hub.resumptions)
        stream = _Client(session, send, _running_task(), scope["extensions"][WRITE])
        if self._retry_ms:
            await self._send_back(hub, stream, self._retry_ms)
            return
        self._streams.add(stream)
        try:
            query = _query(scope)
            scope.clear()  # servers and middleware hold it, with all headers, as long as the connection lasts
            await self._serve(hub, stream, query, receive)
        finally:
            hub.leave(stream.connection)
            self._streams.remove(stream)

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

    async def _send_back(self, hub: Hub, stream: "_Client", retry_ms: tuple[int, int]) -> None:
        """Tells a client of a stopping worker when to reconnect, and closes its connection."""
        await stream.send_farewell(retry_ms)
        await self._close(hub, stream, CloseCode.SERVICE_RESTART)

    async def _serve(self, hub: Hub, stream: "_Client", query: Query, receive: Any) -> None:
        session = stream.connection.session
        try:
            await _wait_for_data(hub.mirror, query)
            await _answer(hub, stream, session.open(query, self._heartbeat_ms))
            hub.join(stream.connection)
            await _run_commands(hub, stream, receive)
        except _ConnectionEnded as end:
            if end.code:
                await self._close(hub, stream, end.code)
        except asyncio.CancelledError:
            if stream.code is None:
                raise
            stream.task.uncancel()
            await self._close(hub, stream, stream.code)

    async def _close(self, hub: Hub, stream: "_Client", code: CloseCode) -> None:
        self.closes[hub.mirror.feed, code] += 1
        await stream.close(code)


class _Client:
    """One client: its socket, its session, and the task that serves them."""

    __slots__ = ("_send", "_turn", "code", "connection", "task")

    def __init__(self, session: FeedSession, send: Any, task: "asyncio.Task[Any]", write: Start) -> None:
        self._send = send
        self._turn = asyncio.Lock()
        self.task = task
        self.code: CloseCode | None = None
        self.connection = Connection(session, write, self.disconnect)

    def disconnect(self, code: CloseCode) -> None:
        """Cancels the connection's task, which then closes the socket with the first code that it gets."""
        if self.code is None:
            self.code = code
            self.task.cancel()

    async def dismiss(self, delays: tuple[int, int]) -> None:
        """Sends `shutdown` and disconnects the client as soon as it has read that."""
        await self.send_farewell(delays)
        self.disconnect(CloseCode.SERVICE_RESTART)

    async def send_farewell(self, delays: tuple[int, int]) -> None:
        """Sends `shutdown` with a random reconnection delay between the two bounds, in milliseconds."""
        with contextlib.suppress(_ConnectionEnded):
            await self.wait_until_sent()
            # Spreads load over time; security does not depend on it.
            await self.answer([self.connection.session.shutdown(random.randint(*delays))])  # noqa: S311

    async def close(self, code: CloseCode) -> None:
        """Sends a close frame; drops a client that does not read it in time."""
        with contextlib.suppress(TimeoutError, OSError, RuntimeError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._send({"type": "websocket.close", "code": int(code), "reason": code.name.lower()})

    async def answer(self, frames: list[Frame]) -> None:
        """Sends frames in order, under a lock that keeps the hub and other answers out."""
        async with self._turn:
            self.connection.busy = True
            for frame in frames:
                await _await_send(self._begin(frame))
            self.connection.busy = False

    async def wait_until_sent(self) -> None:
        """Waits until the socket has taken the hub's last frame."""
        while True:
            sending: Any = self.connection.sending
            if sending is None or sending.done():
                return
            await _await_send(sending)

    def _begin(self, frame: Frame) -> Awaitable[Any]:
        try:
            sending: Awaitable[Any] = self._send(_event(frame))
        except (OSError, RuntimeError):
            raise _ConnectionEnded from None
        return sending


async def _refuse_path(path: str, send: Any) -> None:
    """Closes a feed without a provider; refuses the handshake on a path that is no feed."""
    if path in _PATHS.values():
        await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
        code = CloseCode.NO_PROVIDER
        await send({"type": "websocket.close", "code": int(code), "reason": code.name.lower()})
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": "unknown_feed"})


def _event(frame: Frame) -> dict[str, Any]:
    return {"type": "websocket.send", "text" if isinstance(frame, str) else "bytes": frame}


async def _run_commands(hub: Hub, stream: _Client, receive: Any) -> None:
    """Answers the client's commands until either side ends the connection."""
    session = stream.connection.session
    while (event := await receive())["type"] == "websocket.receive":
        if pause := session.pause(time.monotonic()):
            await asyncio.sleep(pause)
        await stream.wait_until_sent()
        text = event.get("text")
        frames = session.receive(event["bytes"] if text is None else text, time.time())
        hub.move(stream.connection)
        await _answer(hub, stream, frames)
        del frames  # a snapshot may be large, and the next command hours away
        if session.close_code:
            raise _ConnectionEnded(session.close_code)


async def _answer(hub: Hub, stream: _Client, frames: list[Frame]) -> None:
    await stream.answer(frames)
    hub.count(frames)


async def _wait_for_data(mirror: Mirror, query: Query) -> None:
    """Waits at most CATCH_UP_SECONDS for a worker that is behind its client's cursor, or has no data yet."""
    steps = range(int(CATCH_UP_SECONDS / CATCH_UP_STEP_SECONDS))
    for _ in itertools.takewhile(lambda _: _is_behind(mirror, query), steps):
        await asyncio.sleep(CATCH_UP_STEP_SECONDS)
    asked = query.since is not None or names_of(query.symbols) not in ([], "all")
    if not mirror.loaded and asked:
        # A refusal of the names or of the cursor would be final; after this close the client reconnects.
        raise _ConnectionEnded(CloseCode.NO_DATA)


def _is_behind(mirror: Mirror, query: Query) -> bool:
    return is_ahead(mirror, query.since) or (query.symbols is not None and not mirror.loaded)


async def _await_send(sending: Awaitable[Any]) -> None:
    """Waits for a send. Raises _ConnectionEnded if the client is slow or gone."""
    try:
        async with asyncio.timeout(SLOW_AFTER_SECONDS):
            await sending
    except TimeoutError:
        raise _ConnectionEnded(CloseCode.SLOW) from None
    except (OSError, RuntimeError):
        raise _ConnectionEnded from None


def _running_task() -> "asyncio.Task[Any]":
    task = asyncio.current_task()
    assert task is not None, "servers run applications in tasks"  # noqa: S101 - narrows the type
    return task


def _query(scope: Any) -> Query:
    given = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    symbols = given.get("symbols")
    # Lists add up when a client repeats them; of a single value the last counts.
    return Query(
        symbols=None if symbols is None else ",".join(symbols),
        interval=given.get("interval", [None])[-1],
        since=given.get("since", [None])[-1],
    )


def paths(hubs: Mapping[Any, Hub]) -> dict[str, Hub]:
    """Returns the hubs by the path of their feed."""
    return {_PATHS[feed]: hub for feed, hub in hubs.items()}
