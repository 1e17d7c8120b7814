"""The HTTP side of an event stream: one request on a connection of its own, which the answer closes.

It is an ASGI server of one request. The request's head comes from the WebSocket server, which parses the
first bytes of every connection of the feeds.
"""

import asyncio
from http import HTTPStatus
from typing import Any, Final

import structlog
from websockets.http11 import Request

from quotecast.asgi import EVENTS_PATH, App
from quotecast.feed.sse import chunk
from quotecast.framing import Frame
from quotecast.stream.handshakes import http_scope_of
from quotecast.stream.occupancy import Occupancy
from quotecast.stream.outlet import WRITER, Outlet

#: Bytes that a client may send after its request; nobody reads them.
MAX_EXTRA_BYTES: Final = 64 * 1024
#: Seconds that a client has to take the last bytes.
CLOSE_SECONDS: Final = 3.0

_LAST_CHUNK: Final = b"0\r\n\r\n"

log = structlog.get_logger()


def asks_for_events(request: Request) -> bool:
    """Returns whether a request is for an event stream, and no handshake."""
    return request.path.startswith(EVENTS_PATH) and "Upgrade" not in request.headers


class EventSocket(Outlet):
    """The connection of one event stream; its bytes are compressed if `compresses`."""

    __slots__ = ("_app", "_chunks", "_deadline", "_extra", "_left", "_occupancy", "_task", "compresses")

    def __init__(self, app: App, occupancy: Occupancy) -> None:
        super().__init__()
        self._app = app
        self._occupancy = occupancy
        self._left = asyncio.Event()
        #: Bytes that the client has sent after its request.
        self._extra = 0
        #: Whether the body is in chunks: its length is unknown.
        self._chunks = False
        self._deadline: asyncio.TimerHandle | None = None
        self.compresses = False

    def take_over(self, transport: asyncio.Transport, request: Request, extra: int) -> None:
        """Answers a request whose connection the WebSocket server had."""
        if transport.get_extra_info("peername") is None:  # reset before its request was read
            transport.abort()
            return
        transport.set_protocol(self)
        self.connection_made(transport)
        transport.resume_reading()
        self._count(extra)
        scope = http_scope_of(request, transport) | {"extensions": {WRITER: self}}
        self._task = asyncio.get_running_loop().create_task(self._run(scope))

    def take_place(self) -> bool:
        """Counts the connection as a feed; returns False if the worker is full.

        A client that has left meanwhile takes no place, as nobody would free it.
        """
        return self._left.is_set() or self._occupancy.take_feed(self._transport)

    def write(self, frame: Frame) -> None:
        """Starts to send a frame; does nothing once the stream has ended."""
        self._write(frame.compressed() if self.compresses else frame.plain)

    def data_received(self, data: bytes) -> None:
        """Drops what follows the request: its answer is the connection's last."""
        self._count(len(data))

    def connection_lost(self, exc: Exception | None) -> None:
        """Frees the connection's place and ends its application."""
        self._occupancy.leave(self._transport)
        if self._deadline is not None:
            self._deadline.cancel()
        self._left.set()
        super().connection_lost(exc)

    def _count(self, extra: int) -> None:
        self._extra += extra
        if self._extra > MAX_EXTRA_BYTES:
            self._transport.abort()

    async def _run(self, scope: dict[str, Any]) -> None:
        try:
            await self._app(scope, self._receive, self._send)
        except Exception:  # any failure ends this connection only
            log.exception("an event stream failed")
        finally:
            self._end()

    async def _receive(self) -> dict[str, Any]:
        """Waits until the client leaves; the request has no body."""
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, event: dict[str, Any]) -> None:
        """Carries out an ASGI event."""
        if self._transport.is_closing():
            return  # the client has left
        if event["type"] == "http.response.start":
            headers = event["headers"]
            self._chunks = all(name != b"content-length" for name, _ in headers)
            more = [(b"transfer-encoding", b"chunked")] if self._chunks else []
            status = event["status"]
            lines = [b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode())]
            lines += [b"%b: %b" % header for header in [*headers, *more]]
            self._transport.write(b"\r\n".join([*lines, b"connection: close", b"", b""]))
            self._open_directly()
            return
        if body := event.get("body", b""):
            self._write(chunk(body) if self._chunks else body)
        if not event.get("more_body", False):
            self._write(_LAST_CHUNK if self._chunks else b"")
            self._end()

    def _end(self) -> None:
        """Closes the connection when the client has taken everything, or after CLOSE_SECONDS."""
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(CLOSE_SECONDS, self._transport.abort)
            self._transport.close()
