"""A WebSocket server for feeds, beside the HTTP server and on the worker's own event loop.

`websockets` parses what clients send, except handshakes in the usual form. What the server sends are bytes
that connections share, written straight to the socket without a copy per client. It is an ASGI server: one
application serves feeds on either port. The listening sockets set the kernel's limits for each connection.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import structlog
from websockets.frames import CloseCode
from websockets.http11 import Request, Response
from websockets.protocol import OPEN

from quotecast.asgi import App
from quotecast.errors import ServerFailedError
from quotecast.feed.encoding import DEFLATE
from quotecast.framing import Frame as FeedFrame
from quotecast.stream.event_socket import EventSocket, asks_for_events
from quotecast.stream.handshakes import (
    Upgrade,
    accepting,
    answer_handshake,
    read_upgrade,
    refusal_for,
    scope_of,
    scope_of_upgrade,
)
from quotecast.stream.incoming import new_connection
from quotecast.stream.inlet import Inlet
from quotecast.stream.occupancy import Occupancy
from quotecast.stream.outlet import WRITER

HANDSHAKE_SECONDS: Final = 10.0
#: Seconds that a client has to read the close frame and to answer it.
CLOSE_SECONDS: Final = 3.0
#: Connections that may wait for the event loop.
BACKLOG: Final = 4096
#: Seconds after which the kernel closes a connection whose client acknowledges no bytes.
UNREAD_SECONDS: Final = 20.0
_INTERNET: Final = frozenset({socket.AF_INET, socket.AF_INET6})
#: Bytes that the kernel buffers for a client that does not read, its own overhead included.
SEND_BUFFER_BYTES: Final = 256 * 1024

log = structlog.get_logger()


class Socket(Inlet):
    """One WebSocket connection. Its sends return the connection itself: an awaitable, done when all is sent.

    A client costs bounded memory and time.
    """

    __slots__ = ("_app", "_closing", "_deadline", "_deflates", "_occupancy", "_open", "_pending", "_task")

    def __init__(self, app: App, occupancy: Occupancy) -> None:
        super().__init__()
        self._app = app
        self._occupancy = occupancy
        #: The handshake, or the answer to it, until the application accepts or refuses it.
        self._pending: Upgrade | Response | None = None
        self._open = False
        #: Whether the client reads compressed messages.
        self._deflates = False
        #: Whether the close frame is sent or received; `_deadline` then ends the connection.
        self._closing = False
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP's
        """Starts the deadline of the handshake."""
        super().connection_made(transport)
        self._occupancy.wait(transport)
        self._deadline = asyncio.get_running_loop().call_later(HANDSHAKE_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Answers a handshake in the usual form; parses any other bytes."""
        if self._incoming is None and not self._open and self._pending is None:
            upgrade = read_upgrade(data)
            if upgrade is not None:
                if not self._is_reset():
                    self._admit(
                        upgrade, scope_of_upgrade(upgrade, self._transport.get_extra_info("peername")[:2])
                    )
                return
            self._incoming = new_connection()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Frees the connection's place and wakes every waiter."""
        self._open = False
        self._occupancy.leave(self._transport)
        self._end_deadline()
        super().connection_lost(exc)

    def write(self, frame: FeedFrame) -> None:
        """Starts to send a frame; does nothing once the connection is closed."""
        if self._open:
            self._write(frame.compressed() if self._deflates else frame.plain)

    def _accepts_frames(self) -> bool:
        return self._open

    def _handle_request(self, request: Request) -> None:
        if asks_for_events(request):
            # The stream of events that the request asks for takes over the connection.
            self._end_deadline()
            EventSocket(self._app, self._occupancy).take_over(
                self._transport, request, len(self._unparsed or b"")
            )
            self._unparsed = None
            return
        response = answer_handshake(self._parser().protocol, request)
        if response.status_code != 101:
            self._occupancy.refused["malformed"] += 1
            self._answer(response)
            return
        if not self._is_reset():
            self._admit(response, scope_of(request, self._transport))
            request.headers.clear()  # the parser holds the request as long as the connection lasts

    def _is_reset(self) -> bool:
        """Returns whether the client left before its request was read; then ends the connection."""
        if self._transport.get_extra_info("peername") is not None:
            return False
        self._transport.abort()
        return True

    def _admit(self, pending: Upgrade | Response, scope: dict[str, Any]) -> None:
        """Starts the application for a valid handshake, unless the worker is full."""
        if not self._occupancy.take_feed(self._transport):
            self._refuse("worker_full")
            return
        self._pending = pending
        scope["extensions"] = {WRITER: self}
        self._task = asyncio.get_running_loop().create_task(self._run(scope))

    async def _run(self, scope: dict[str, Any]) -> None:
        code = CloseCode.NORMAL_CLOSURE
        try:
            await self._app(scope, self._receive, self._send)
        except Exception:  # any failure ends this connection only
            log.exception("a feed's connection failed")
            code = CloseCode.INTERNAL_ERROR
        finally:
            self._close(code, "")

    async def _receive(self) -> dict[str, Any]:
        if self._pending is not None:
            return {"type": "websocket.connect"}
        while not self._inbox:
            self._message_waiter = asyncio.get_running_loop().create_future()
            await self._message_waiter
        if self._inbox[0] is None:
            closed = self._incoming and self._incoming.protocol.close_rcvd
            return {"type": "websocket.disconnect", "code": closed.code if closed else 1006}
        message, *waiting = self._inbox
        self._inbox = tuple(waiting)
        if not self._inbox:
            self._parse()
        return {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}

    def _send(self, event: dict[str, Any]) -> "Socket":
        """Carries out an ASGI event at once. Raises ConnectionResetError if the client has disconnected."""
        match event["type"]:
            case "websocket.send":
                if not self._open:
                    raise ConnectionResetError("the client has left")
                text = event.get("text")
                self.write(
                    FeedFrame(event["bytes"], binary=True) if text is None else FeedFrame(text.encode())
                )
            case "websocket.accept":
                self._accept(event.get("subprotocol"))
            case "websocket.close":
                self._close(event["code"], event.get("reason") or "")
        return self

    def _accept(self, subprotocol: str | None) -> None:
        pending, self._pending = self._pending, None
        if pending is None or self._transport.is_closing():
            return
        self._end_deadline()
        if isinstance(pending, Upgrade):
            self._inflates = bool(pending.extensions)
        else:
            self._inflates = bool(self._parser().protocol.extensions)
        self._deflates = self._inflates and subprotocol != DEFLATE.subprotocol
        self._open_directly()
        self._open = True
        if isinstance(pending, Upgrade):
            self._hold(accepting(pending, subprotocol, time.time()))
            self._parse()  # what the client has sent without waiting for the answer
            return
        if subprotocol:
            pending.headers["Sec-WebSocket-Protocol"] = subprotocol
        self._answer(pending)

    def _close(self, code: int, reason: str) -> None:
        """Sends the close frame; refuses the handshake of a connection that is not accepted yet."""
        if self._pending is not None:
            self._pending = None
            self._refuse(reason)
        elif (
            self._open if self._incoming is None else self._incoming.protocol.state is OPEN
        ) and not self._transport.is_closing():
            self._open = False
            self._parser().protocol.send_close(code, reason)
            self._flush()

    def _refuse(self, reason: str) -> None:
        self._occupancy.refused[reason] += 1
        if self._incoming is None:
            self._incoming = new_connection()
        self._answer(refusal_for(self._incoming.protocol, reason))

    def _answer(self, response: Response) -> None:
        self._parser().protocol.send_response(response)
        self._flush()

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _flush(self) -> None:
        """Writes the bytes that the protocol has ready."""
        self._send_held()
        protocol = self._parser().protocol
        for data in protocol.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()
        if protocol.close_expected() and not self._closing:
            # Once: a client that continues to send must not extend the deadline.
            self._closing = True
            self._open = False
            self._end_deadline()
            self._deadline = asyncio.get_running_loop().call_later(CLOSE_SECONDS, self._transport.abort)


def listening_socket(host: str, port: int) -> socket.socket:
    """Returns a socket that listens on a port shared by workers. Raises ServerFailedError.

    Accepted connections inherit its options (Linux's tcp(7)): a client that reads nothing costs one send
    buffer for at most `UNREAD_SECONDS`.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server(
            (host, port),
            family=family,
            backlog=BACKLOG,
            reuse_port=True,
            # All addresses of the machine, as elsewhere in this service.
            dualstack_ipv6=host == "::" and socket.has_dualstack_ipv6(),
        )
    except OSError as error:
        raise ServerFailedError(f"cannot listen on port {port} of {host}: {error.strerror}") from error
    limit_unread_bytes(listening)
    return listening


def limit_unread_bytes(listening: socket.socket) -> None:
    """Limits the bytes that slow clients leave in the kernel, for every accepted connection."""
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux has it, macOS does not
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_SECONDS * 1000))


def listeners_of(port: int) -> Iterator[socket.socket]:
    """Yields duplicates of this process's sockets that listen on a port; none where there is no /proc."""
    links = Path("/proc/self/fd")
    for link in links.iterdir() if links.is_dir() else ():
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(link.name))) as found:
            listens = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if listens and found.family in _INTERNET and found.getsockname()[1] == port:
                yield found


def connection_factory(app: App, occupancy: Occupancy | None = None) -> Callable[[], Socket]:
    """Returns a factory of WebSocket connections, which share an occupancy."""
    return partial(Socket, app, occupancy or Occupancy())


@contextlib.asynccontextmanager
async def serve_feeds(
    app: App, host: str, port: int, occupancy: Occupancy | None = None
) -> AsyncIterator[int]:
    """Serves WebSockets only; yields the port. Raises ServerFailedError."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(connection_factory(app, occupancy), sock=listening_socket(host, port))
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
