"""A WebSocket server for feeds alone, beside the HTTP server and on the worker's own event loop.

What is received is parsed by `websockets`; what is sent are bytes that connections share, written
straight to the socket, without a copy per client. It is an ASGI server: feeds are the same application
on either port.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

import structlog
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from quotecast.api.framing import Written, shared
from quotecast.errors import ServerFailedError

App = Callable[[Any, Any, Any], Awaitable[None]]

#: The ASGI extension that hands a feed its socket's `write`: frames of a tick need no events around them.
WRITE: Final = "quotecast.write"
BACKLOG: Final = 4096
HANDSHAKE_SECONDS: Final = 10.0
#: How long a client is given to take the close frame and to answer it.
CLOSE_SECONDS: Final = 3.0
#: More than any command may have, so that one too long is still told so by the feed.
MAX_MESSAGE_BYTES: Final = 1 << 18
#: Messages that may wait for the application before reading pauses.
MAX_WAITING: Final = 16

log = structlog.get_logger()


@contextlib.asynccontextmanager
async def listening(app: App, host: str, port: int) -> AsyncIterator[int]:
    """Serves WebSockets on a port that workers share; yields the port. Raises ServerFailedError."""
    connection = partial(Socket, app, shared())
    loop = asyncio.get_running_loop()
    try:
        server = await loop.create_server(connection, host, port, backlog=BACKLOG, reuse_port=True)
    except OSError as error:
        raise ServerFailedError(f"no feeds on port {port} of {host}: {error.strerror}") from error
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


class Socket(asyncio.Protocol):
    """One connection. It is what its own sends return: done when the socket has taken all of them."""

    __slots__ = (
        "_app",
        "_deadline",
        "_fragments",
        "_inbox",
        "_is_text",
        "_open",
        "_protocol",
        "_received",
        "_response",
        "_taken",
        "_task",
        "_transport",
        "_written",
    )

    def __init__(self, app: App, written: Written) -> None:
        self._app = app
        self._written = written
        self._protocol = ServerProtocol(max_size=MAX_MESSAGE_BYTES)
        #: To the handshake, until the application accepts or refuses.
        self._response: Response | None = None
        self._open = False
        #: What was received; None at its end.
        self._inbox: list[str | bytes | None] = []
        self._fragments: list[bytes] = []
        self._is_text = True
        #: Pending while the application waits for a message.
        self._received: asyncio.Future[None] | None = None
        #: Pending while the socket has not taken everything.
        self._taken: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP's
        """The client has to ask for a feed soon."""
        self._transport = transport
        # So that we are told whenever a write leaves something in the buffer, and when that is gone.
        transport.set_write_buffer_limits(0)
        self._deadline = asyncio.get_running_loop().call_later(HANDSHAKE_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Parses what came; the protocol answers pings and farewells by itself."""
        self._protocol.receive_data(data)
        self._flush()
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._begin(event)
            elif isinstance(event, Frame):
                self._take(event)

    def eof_received(self) -> None:
        """The client has closed its side."""
        self._protocol.receive_eof()
        self._flush()

    def pause_writing(self) -> None:
        """The socket has not taken everything."""
        self._taken = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """The socket has taken everything."""
        if self._taken is not None:
            self._taken.set_result(None)
            self._taken = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Tells whoever waits."""
        del exc
        self._open = False
        self._deadline.cancel()
        self.resume_writing()
        self._put(None)

    def write(self, frame: str | bytes) -> "Socket":
        """Starts sending a frame; nothing happens if the client is gone."""
        if self._open:
            self._transport.write(self._written(frame))
        return self

    def done(self) -> bool:
        """Whether the socket has taken everything that was sent."""
        return self._taken is None

    def cancel(self) -> None:
        """A frame that was begun has to end before another; who does not take it is cut off at the close."""

    def __await__(self) -> Generator[Any, None, None]:
        """Until the socket has taken everything that was sent, or is gone."""
        if self._taken is not None:
            yield from asyncio.shield(self._taken).__await__()

    def _begin(self, request: Request) -> None:
        response = self._protocol.accept(request)
        if response.status_code != 101:
            self._answer(response)
            return
        if self._transport.get_extra_info("peername") is None:  # reset before its request was read
            self._transport.abort()
            return
        self._response = response
        scope = _scope(request, self._transport) | {"extensions": {WRITE: self.write}}
        self._task = asyncio.get_running_loop().create_task(self._run(scope))

    async def _run(self, scope: dict[str, Any]) -> None:
        code = CloseCode.NORMAL_CLOSURE
        try:
            await self._app(scope, self._receive, self._send)
        except Exception:  # whatever it is, it ends this connection alone
            log.exception("a feed's connection failed")
            code = CloseCode.INTERNAL_ERROR
        finally:
            self._close(code, "")

    async def _receive(self) -> dict[str, Any]:
        if self._response is not None:
            return {"type": "websocket.connect"}
        while not self._inbox:
            self._received = asyncio.get_running_loop().create_future()
            await self._received
        if self._inbox[0] is None:
            closed = self._protocol.close_rcvd
            return {"type": "websocket.disconnect", "code": closed.code if closed else 1006}
        message = self._inbox.pop(0)
        if not self._inbox and not self._transport.is_closing():
            self._transport.resume_reading()
        return {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}

    def _send(self, event: dict[str, Any]) -> "Socket":
        """Does at once what an ASGI event says. Raises ConnectionResetError if the client is gone."""
        match event["type"]:
            case "websocket.send":
                if not self._open:
                    raise ConnectionResetError("the client has left")
                text = event.get("text")
                self._transport.write(self._written(event["bytes"] if text is None else text))
            case "websocket.accept":
                self._accept(event.get("subprotocol"))
            case "websocket.close":
                self._close(event["code"], event.get("reason") or "")
        return self

    def _accept(self, subprotocol: str | None) -> None:
        response, self._response = self._response, None
        if response is None or self._transport.is_closing():
            return
        if subprotocol:
            response.headers["Sec-WebSocket-Protocol"] = subprotocol
        self._deadline.cancel()
        self._open = True
        self._answer(response)

    def _close(self, code: int, reason: str) -> None:
        """Begins the farewell; one who was not accepted yet is refused."""
        if self._response is not None:
            self._response = None
            self._answer(self._protocol.reject(403, "This feed is not open to you, or there is none here.\n"))
        elif self._protocol.state is OPEN and not self._transport.is_closing():
            self._open = False
            self._protocol.send_close(code, reason)
            self._flush()

    def _answer(self, response: Response) -> None:
        self._protocol.send_response(response)
        self._flush()

    def _flush(self) -> None:
        """Sends what the protocol has to say."""
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()
        if self._protocol.close_expected():
            self._open = False
            self._deadline.cancel()
            self._deadline = asyncio.get_running_loop().call_later(CLOSE_SECONDS, self._transport.abort)

    def _take(self, frame: Frame) -> None:
        if frame.opcode in {Opcode.TEXT, Opcode.BINARY}:
            self._is_text = frame.opcode is Opcode.TEXT
        elif frame.opcode is not Opcode.CONT:
            return
        self._fragments.append(bytes(frame.data))
        if frame.fin:
            message, self._fragments = b"".join(self._fragments), []
            self._put_message(message)

    def _put_message(self, message: bytes) -> None:
        try:
            self._put(message.decode() if self._is_text else message)
        except UnicodeDecodeError:
            self._protocol.fail(CloseCode.INVALID_DATA, "text that is no UTF-8")
            self._flush()

    def _put(self, message: str | bytes | None) -> None:
        self._inbox.append(message)
        if self._received is not None and not self._received.done():
            self._received.set_result(None)
        if len(self._inbox) > MAX_WAITING and self._transport.is_reading():
            self._transport.pause_reading()


def _scope(request: Request, transport: asyncio.Transport) -> dict[str, Any]:
    path, _, query = request.path.partition("?")
    headers = [
        (name.lower().encode(), value.encode("latin-1")) for name, value in request.headers.raw_items()
    ]
    offered = ",".join(request.headers.get_all("Sec-WebSocket-Protocol")).split(",")
    return {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": transport.get_extra_info("peername")[:2],
        "server": transport.get_extra_info("sockname")[:2],
        "subprotocols": [name.strip() for name in offered if name.strip()],
    }
