"""One public port for feeds and HTTP: the first bytes of a connection say which of the two it wants.

A WebSocket handshake stays on the worker's event loop (`quotecast.stream.server`). The bytes of every other
connection go to granian's port on the loopback interface and back: granian neither gives a connection
away nor takes one over. ADR 8 says what that costs.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from quotecast.asgi import App, respond
from quotecast.stream.handshakes import no_room
from quotecast.stream.listeners import listening_socket
from quotecast.stream.room import Room

Peer = tuple[str, int]

LOOPBACK: Final = "127.0.0.1"
#: Seconds in which a client says what it wants.
FIRST_BYTES_SECONDS: Final = 10.0
#: Bytes of a feed's handshake that are looked at for its `Upgrade`.
MAX_HEAD_BYTES: Final = 32 * 1024
#: Seconds in which the last answers leave when the worker stops.
LAST_ANSWERS_SECONDS: Final = 1.0

_FEED: Final = b"GET /api/ws/"
_END_OF_HEAD: Final = b"\r\n\r\n"
_HEALTH: Final = (b"GET /api/health ", b"GET /api/ready ")
_UPGRADE: Final = re.compile(rb"\r\nupgrade:[ \t]*websocket", re.IGNORECASE)


class Front:
    """Sends connections on; `peers` names the client behind each of granian's connections, by port.

    Beyond the room's capacity HTTP is answered 503, but for health checks.
    """

    def __init__(
        self, feeds: Callable[[], asyncio.Protocol], http_port: int, room: Room | None = None
    ) -> None:
        self._feeds = feeds
        self._http_port = http_port
        self.room = room or Room()
        self._opening: set[asyncio.Task[None]] = set()
        self._clients: set[_End] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self.peers: dict[int, Peer] = {}

    @contextlib.asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[None]:
        """Accepts connections. Raises ServerFailedError."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Arrival(self), sock=listening_socket(host, port))
        try:
            yield
        finally:
            server.close()

    async def flushed(self) -> None:
        """Waits, but not for long, until clients have the last answers; call it when granian has ended."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_ANSWERS_SECONDS):
                await self._empty.wait()

    def take(self, transport: asyncio.Transport, head: bytes) -> None:
        """Gives a connection to the server that its first bytes ask for."""
        if head.startswith(_FEED) and _UPGRADE.search(head):
            feed = self._feeds()
            transport.set_protocol(feed)
            feed.connection_made(transport)
            feed.data_received(head)
            return
        if not self.room.take_http(health=head.startswith(_HEALTH)):
            transport.write(no_room())
            transport.close()
            return
        transport.pause_reading()
        client = _End(transport, self._leave)
        transport.set_protocol(client)
        self._clients.add(client)
        self._empty.clear()
        task = asyncio.get_running_loop().create_task(self._pass_on(client, head))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _pass_on(self, client: "_End", head: bytes) -> None:
        loop = asyncio.get_running_loop()
        try:
            transport, _ = await loop.create_connection(asyncio.Protocol, LOOPBACK, self._http_port)
        except OSError:
            client.transport.write(no_room())
            client.transport.close()
            return
        peer = client.transport.get_extra_info("peername")
        if peer is None or client.transport.is_closing() or transport.is_closing():  # one left meanwhile
            transport.abort()
            client.transport.abort()
            return
        port = transport.get_extra_info("sockname")[1]
        self.peers[port] = peer[:2]
        transport.set_protocol(_End(transport, lambda _: self.peers.pop(port), other=client.transport))
        client.other = transport
        transport.write(head)
        client.transport.resume_reading()

    def _leave(self, client: "_End") -> None:
        self._clients.discard(client)
        self.room.http -= 1
        if not self._clients:
            self._empty.set()

    def naming_clients(self, app: App) -> App:
        """The application as granian sees it: with the client's address in place of our own.

        A request that came to granian's port by another way is 403.
        """

        async def named(scope: Any, receive: Any, send: Any) -> None:
            client = self.peers.get(int(scope["client"][1]))
            if client is None:
                await respond(send, 403, [])
                return
            scope["client"] = client
            await app(scope, receive, send)

        return named


class _Arrival(asyncio.Protocol):
    """A connection that has not said yet what it wants."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._head = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP's
        self._transport = transport
        self._front.room.wait(transport)
        self._deadline = asyncio.get_running_loop().call_later(FIRST_BYTES_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        self._head += data
        if not self._is_undecided():
            self._deadline.cancel()
            self._front.room.leave(self._transport)
            self._front.take(self._transport, self._head)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._deadline.cancel()
        self._front.room.leave(self._transport)

    def _is_undecided(self) -> bool:
        if not self._head.startswith(_FEED):
            return _FEED.startswith(self._head)
        return _END_OF_HEAD not in self._head and len(self._head) < MAX_HEAD_BYTES


class _End(asyncio.Protocol):
    """One end of a connection that is passed on: what it receives, the other end sends.

    Neither end reads faster than the other one writes. When one closes, so does the other.
    """

    __slots__ = ("_gone", "other", "transport")

    def __init__(
        self,
        transport: asyncio.Transport,
        gone: Callable[["_End"], object],
        other: asyncio.Transport | None = None,
    ) -> None:
        self.transport = transport
        self.other = other
        self._gone = gone

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
        self._gone(self)
        if self.other is not None:
            self.other.close()
