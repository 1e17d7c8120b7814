"""Event streams of the feeds (SSE): the same frames as on a WebSocket, as the answer to a GET.

The worker's own server writes frames straight to the socket. A request that comes through granian, because
its connection has carried other requests before, gets the same stream by ASGI events.
"""

import asyncio
import random
import re
import time
from collections.abc import Generator
from functools import partial
from typing import Any, Final, Protocol

from msgspec.structs import replace

from quotecast.access.errors import DoorOutOfPlan, OutOfScope
from quotecast.access.request_state import request_state
from quotecast.asgi import EVENTS_PATH, App, Headers, header_value, respond, wait_until_left
from quotecast.close_codes import CloseCode
from quotecast.codings import best_coding
from quotecast.errors import (
    FeedsFull,
    InvalidValue,
    NoData,
    ProviderMissing,
    QuotecastError,
    UnknownParameter,
)
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import CommandError, Query, names_of
from quotecast.feed.frames import Limits
from quotecast.feed.sse import EVENTS, GZIP_HEADER, retry_line, unchunked
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from quotecast.stream.client import Client, ClientSocket, ConnectionEnded, connection_id
from quotecast.stream.clients import Clients
from quotecast.stream.handshakes import FULL
from quotecast.stream.hubs import FeedHubs
from quotecast.stream.outlet import WRITER
from quotecast.stream.queries import heartbeat_of, queries_of, replay_of
from quotecast.stream.waiting import wait_for_data

#: The feed of each path.
EVENT_PATHS: Final = {f"{EVENTS_PATH}{feed.spec.name}": feed for feed in Feed}

_HEADERS: Final[Headers] = [
    (b"content-type", b"text/event-stream"),
    # A proxy that compresses or buffers would hold frames back.
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
    (b"vary", b"Accept-Encoding"),
]
#: The parameter that a CommandError begins with.
_PARAMETER: Final = re.compile(r"(symbols|interval|fields|barsSince|bars|snapshot|heartbeat): ")


class EventWriter(ClientSocket, Protocol):
    """The server's side of an event stream."""

    compresses: bool

    def take_place(self) -> bool:
        """Counts the connection as a feed; returns False if the worker is full."""
        ...


class EventStreams:
    """Serves event streams; the routes of `http` answer the requests that it refuses."""

    def __init__(self, http: App, hubs: FeedHubs, clients: Clients, heartbeat_ms: int) -> None:
        self._http = http
        self._hubs = hubs
        self._clients = clients
        self._heartbeat_ms = heartbeat_ms

    async def serve(self, feed: Feed, scope: Any, receive: Any, send: Any) -> None:
        """Answers one request."""
        address = self._clients.address_of(scope)
        if not self._clients.take_place(address):
            await self._refuse(self._full("address_full"), scope, receive, send)
            return
        try:
            await self._open(feed, scope, receive, send)
        finally:
            self._clients.leave_place(address)

    async def _open(self, feed: Feed, scope: Any, receive: Any, send: Any) -> None:
        writer: EventWriter = scope.get("extensions", {}).get(WRITER) or GranianWriter(send)
        try:
            session, frames = await self._greet(feed, scope)
            if not writer.take_place():
                raise self._full("worker_full")
        except QuotecastError as refusal:
            await self._refuse(refusal, scope, receive, send)
            return
        # As the router does, for metrics and logs.
        scope["path_template"] = f"{EVENTS_PATH}{feed.spec.name}"
        coding = best_coding(header_value(scope, b"accept-encoding") or b"", (b"gzip",))
        headers = [*_HEADERS, (b"content-encoding", coding)] if coding else _HEADERS
        state = request_state(scope)
        if state.is_bodiless:
            await respond(send, 200, headers)
            return
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if coding:
            writer.compresses = True
            await send({"type": "http.response.body", "body": GZIP_HEADER, "more_body": True})
        grant, meter = state.grant, state.counts
        address = self._clients.address_of(scope)
        scope.clear()  # servers and middleware hold it, with all headers, as long as the connection lasts
        end = partial(_end, send, writer)
        client = Client(
            feed,
            "sse",
            session,
            [self._hubs.of(grant)[feed]],
            grant=grant,
            address=address,
            end=end,
            socket=writer,
            meter=meter,
        )
        await self._clients.run(
            client, partial(self._begin, client, frames), partial(wait_until_left, receive)
        )

    async def _greet(self, feed: Feed, scope: Any) -> tuple[ClientSession, list[Frame]]:
        """Returns a session and the frames that answer its address. Raises QuotecastError."""
        grant = request_state(scope).grant
        hub = self._hubs.of(grant).get(feed)
        if hub is None:
            raise ProviderMissing(feed)
        query_string = scope["query_string"]
        if replay_of(query_string):
            raise InvalidValue("at", "Replays are on the WebSocket feeds")
        query = _query_of(scope, feed)
        limits = Limits() if grant is None else grant.limits
        session = ClientSession(
            [hub.mirror],
            limits,
            EVENTS,
            resumptions=[hub.resumptions],
            connection=connection_id(),
            heartbeat_ms=self._heartbeat_ms,
        )
        try:
            await wait_for_data([(hub.mirror, query)])
            return session, session.open_stream(query, heartbeat_of(query_string))
        except ConnectionEnded:
            raise NoData(feed) from None
        except CommandError as error:
            raise _refusal(error, limits) from None

    async def _begin(self, client: Client, frames: list[Frame]) -> None:
        # Spreads load over time; security does not depend on it.
        delay = random.randint(*self._clients.retry_range(client))  # noqa: S311
        await self._clients.answer(client, [retry_line(delay), *frames])
        frames.clear()  # a snapshot is large, and the caller holds it as long as the connection lasts

    def _full(self, reason: str) -> FeedsFull:
        self._clients.refused[reason] += 1
        return FeedsFull(FULL[reason])

    async def _refuse(self, error: QuotecastError, scope: Any, receive: Any, send: Any) -> None:
        """Lets the route answer the error, as it answers those of other routes."""
        request_state(scope).refusal = error
        await self._http(scope, receive, send)


class GranianWriter:
    """An event stream as ASGI events: a task sends what was written since the last event."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self._waiting: list[bytes] = []
        self._sending: asyncio.Task[None] | None = None
        self.ready = True
        self.paused_at = 0.0
        self.compresses = False

    def take_place(self) -> bool:
        """Returns True: the connection counts as HTTP."""
        return True

    def write(self, frame: Frame) -> None:
        """Starts to send a frame."""
        self._waiting.append(unchunked(frame.compressed() if self.compresses else frame.plain))
        if self.ready:
            self.ready = False
            self.paused_at = time.monotonic()
            self._sending = asyncio.get_running_loop().create_task(self._send_waiting())

    def __await__(self) -> Generator[Any, None, None]:
        """Waits until the server has taken everything."""
        if self._sending is not None:
            yield from asyncio.shield(self._sending).__await__()

    async def _send_waiting(self) -> None:
        try:
            while self._waiting:
                body = b"".join(self._waiting)
                self._waiting.clear()
                await self._send({"type": "http.response.body", "body": body, "more_body": True})
        except Exception:  # noqa: BLE001 - the client has left, which the application hears from `receive`
            self._waiting.clear()
        finally:
            self.ready = True


async def _end(send: Any, writer: EventWriter, _code: CloseCode) -> None:
    """Ends a stream once the client has taken everything; event streams have no close codes."""
    await writer
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _query_of(scope: Any, feed: Feed) -> Query:
    """Returns what a request asks for: the id of the last event goes before the address's cursor."""
    query = queries_of(scope["query_string"], feed)[feed.spec.name]
    if query.unknown is not None and query.meant is not None:
        raise UnknownParameter(query.unknown, query.meant)
    if names_of(query.symbols) == []:
        raise InvalidValue("symbols", "Name at least one symbol, or all")
    last = header_value(scope, b"last-event-id")
    return replace(query, since=last.decode("latin-1"), bars_since=None) if last else query


def _refusal(error: CommandError, limits: Limits) -> QuotecastError:
    """Returns the error of a parameter, or of the bound that it exceeds.

    A text that names no parameter is about the symbols.
    """
    text = str(error)
    if error.code == 403:
        of_plan = limits.refusal("")
        if text.startswith(of_plan):
            return DoorOutOfPlan(limits.plan, text.removeprefix(of_plan))
        return OutOfScope(text)
    found = _PARAMETER.match(text)
    if found is None:
        return InvalidValue("symbols", text)
    name = "bars_since" if found[1] == "barsSince" else found[1]
    return InvalidValue(name, text[found.end() :])
