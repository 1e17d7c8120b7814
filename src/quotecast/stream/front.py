"""One public port for feeds and HTTP: the first bytes of a connection decide which server gets it.

WebSocket handshakes and requests for event streams stay on the worker's event loop
(`quotecast.stream.server`). The front forwards the bytes of every other connection to granian's port on the
loopback interface, and back: granian neither gives a connection away nor takes one over. ADR 8 says what that
costs.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from quotecast.asgi import EVENTS_PATH, PROBES, App, respond
from quotecast.stream.handshakes import full_response
from quotecast.stream.occupancy import Occupancy
from quotecast.stream.server import listening_socket

Peer = tuple[str, int]

LOOPBACK: Final = "127.0.0.1"
#: Seconds that a client has for its first bytes.
FIRST_BYTES_SECONDS: Final = 10.0
#: Bytes of a feed's request that may precede its end, or the `Upgrade` of a handshake.
MAX_HEAD_BYTES: Final = 32 * 1024
#: Seconds that the last answers have to leave when the worker stops.
LAST_ANSWERS_SECONDS: Final = 1.0

#: The beginnings of requests for feeds.
_FEEDS: Final = (b"GET /api/ws", b"GET " + EVENTS_PATH.encode())
_END_OF_HEAD: Final = b"\r\n\r\n"
_HEALTH: Final = tuple(f"GET {path} ".encode() for path in PROBES)
_UPGRADE: Final = re.compile(rb"\r\nupgrade:[ \t]*websocket", re.IGNORECASE)
#: A lone request for an event stream. granian also serves streams, and gets the others: of HTTP/1.0, with a
#: body, with a longer line than the feed server reads, or with another request behind it.
_EVENTS: Final = re.compile(
    re.escape(_FEEDS[1]) + rb"[^\r\n ]{0,8000} HTTP/1\.1\r\n"
    rb"(?:(?!content-length:|transfer-encoding:|upgrade:)[^\r\n]+\r\n)*\r\n\Z",
    re.IGNORECASE,
)


class Front:
    """Dispatches new connections to the feed server or to granian.

    `peers` names the client behind each of granian's connections, by the port on our side. Beyond its
    capacity the front answers HTTP with 503, except for health checks.
    """

    def __init__(
        self, feeds: Callable[[], asyncio.Protocol], http_port: int, occupancy: Occupancy | None = None
    ) -> None:
        self._feeds = feeds
        self._http_port = http_port
        self.occupancy = occupancy or Occupancy()
        self._opening: set[asyncio.Task[None]] = set()
        self._clients: set[_End] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self.peers: dict[int, Peer] = {}

    @contextlib.asynccontextmanager
    async def listen(self, host: str, port: int) -> AsyncIterator[None]:
        """Accepts connections. Raises ServerFailedError."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Arrival(self), sock=listening_socket(host, port))
        try:
            yield
        finally:
            server.close()

    async def flush(self) -> None:
        """Waits up to LAST_ANSWERS_SECONDS for the last answers to leave; call it after granian ends."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_ANSWERS_SECONDS):
                await self._empty.wait()

    def dispatch(self, transport: asyncio.Transport, head: bytes) -> None:
        """Gives a connection to the server that its first bytes name."""
        if _is_feed(head):
            feed = self._feeds()
            transport.set_protocol(feed)
            feed.connection_made(transport)
            feed.data_received(head)
            return
        if not self.occupancy.take_http(health=head.startswith(_HEALTH)):
            transport.write(full_response())
            transport.close()
            return
        transport.pause_reading()
        client = _End(transport, self._leave)
        transport.set_protocol(client)
        self._clients.add(client)
        self._empty.clear()
        spare = self.occupancy.http > self.occupancy.capacity.http
        task = asyncio.get_running_loop().create_task(self._forward(client, head, once=spare))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _forward(self, client: "_End", head: bytes, *, once: bool) -> None:
        """Connects a client to granian; `once` for a single request on a place of the reserve."""
        loop = asyncio.get_running_loop()
        try:
            transport, _ = await loop.create_connection(asyncio.Protocol, LOOPBACK, self._http_port)
        except OSError:
            client.transport.write(full_response())
            client.transport.close()
            return
        peer = client.transport.get_extra_info("peername")
        if peer is None or client.transport.is_closing() or transport.is_closing():  # closed
            transport.abort()
            client.transport.abort()
            return
        port = transport.get_extra_info("sockname")[1]
        self.peers[port] = peer[:2]
        transport.set_protocol(_End(transport, lambda _: self.peers.pop(port), other=client.transport))
        client.other = transport
        if once:
            # The client is read no more: after the answer granian closes the connection.
            path = head.split(b" ", 2)[1]
            transport.write(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        else:
            transport.write(head)
            client.transport.resume_reading()

    def _leave(self, client: "_End") -> None:
        self._clients.discard(client)
        self.occupancy.http -= 1
        if not self._clients:
            self._empty.set()

    def with_client_addresses(self, app: App) -> App:
        """Returns the application for granian: it sees the client's address in place of the loopback address.

        It answers 403 to a request that did not come through the front.
        """

        async def with_address(scope: Any, receive: Any, send: Any) -> None:
            client = self.peers.get(int(scope["client"][1]))
            if client is None:
                await respond(send, 403, [])
                return
            scope["client"] = client
            await app(scope, receive, send)

        return with_address


def _is_feed(head: bytes) -> bool:
    if head.startswith(_FEEDS[0]):
        return _UPGRADE.search(head) is not None
    return _EVENTS.match(head) is not None


class _Arrival(asyncio.Protocol):
    """A connection whose first bytes have not arrived yet."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._head = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP's
        self._transport = transport
        self._front.occupancy.wait(transport)
        self._deadline = asyncio.get_running_loop().call_later(FIRST_BYTES_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        self._head += data
        if not self._is_undecided():
            self._deadline.cancel()
            self._front.occupancy.leave(self._transport)
            self._front.dispatch(self._transport, self._head)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._deadline.cancel()
        self._front.occupancy.leave(self._transport)

    def _is_undecided(self) -> bool:
        if not self._head.startswith(_FEEDS):
            return any(each.startswith(self._head) for each in _FEEDS)
        return _END_OF_HEAD not in self._head and len(self._head) < MAX_HEAD_BYTES


class _End(asyncio.Protocol):
    """One end of a forwarded connection: the other end sends what this one receives.

    Back-pressure works both ways: neither end reads faster than the other one writes. When one end closes, it
    closes the other.
    """

    __slots__ = ("_on_close", "other", "transport")

    def __init__(
        self,
        transport: asyncio.Transport,
        on_close: Callable[["_End"], object],
        other: asyncio.Transport | None = None,
    ) -> None:
        self.transport = transport
        self.other = other
        self._on_close = on_close

    def data_received(self, data: bytes) -> None:
        if self.other is not None and not self.other.is_closing():
            self.other.write(data)

    def pause_writing(self) -> None:
        if self.other is not None and not self.other.is_closing():
            self.other.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and not self.other.is_closing():
            self.other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._on_close(self)
        if self.other is not None:
            self.other.close()
