"""A WebSocket server for feeds, beside the HTTP server and on the worker's own event loop.

`websockets` parses what clients send. What the server sends are bytes that connections share, written
straight to the socket without a copy per client. It is an ASGI server: one application serves feeds on either
port.
"""

import asyncio
import socket
from collections.abc import Generator
from typing import Any, Final

import structlog
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request, Response
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from quotecast.asgi import App
from quotecast.feed.encoding import DEFLATE
from quotecast.feed.framing import Frame as FeedFrame
from quotecast.feed.pace import CommandPace
from quotecast.stream.deflate import EXTENSION
from quotecast.stream.direct import direct_socket, send_now
from quotecast.stream.handshakes import answer_handshake, refusal_for, scope_of
from quotecast.stream.messages import Assembly, BadMessageError, is_whole
from quotecast.stream.room import Room

#: The ASGI extension that holds the socket: feeds write their frames to it without ASGI events.
WRITER: Final = "quotecast.writer"
HANDSHAKE_SECONDS: Final = 10.0
#: Seconds that a client has to read the close frame and to answer it.
CLOSE_SECONDS: Final = 3.0
#: Above the limit of a command, so that the feed itself answers one that is too long.
MAX_MESSAGE_BYTES: Final = 1 << 18
#: Messages that may wait for the application before reading pauses.
MAX_WAITING: Final = 16
#: Pings, pongs and fragments that a client may send in a second; past it reading pauses.
EXTRA_FRAMES_PER_SECOND: Final = 100
#: Bytes to parse between two checks of the bounds: some 170 of the smallest frames.
SLICE_BYTES: Final = 1024

log = structlog.get_logger()


class Socket(asyncio.Protocol):
    """One WebSocket connection. Its sends return the connection itself: an awaitable, done when all is sent.

    A client costs bounded memory and time. Back-pressure leaves its bytes unparsed, and unread in the kernel,
    while the socket has not taken what was sent, while messages wait for the application, and while the
    client sends control frames and fragments faster than `EXTRA_FRAMES_PER_SECOND`.
    """

    __slots__ = (
        "_app", "_assembly", "_closing", "_deadline", "_deflates", "_direct", "_drained", "_inbox",
        "_message_waiter", "_open", "_pace", "_pause", "_protocol", "_response", "_room", "_task",
        "_transport", "_unparsed", "ready",
    )  # fmt: skip

    def __init__(self, app: App, room: Room) -> None:
        self._app = app
        self._room = room
        self._protocol = ServerProtocol(max_size=MAX_MESSAGE_BYTES, extensions=[EXTENSION])
        #: The response to the handshake, until the application accepts or refuses it.
        self._response: Response | None = None
        self._open = False
        #: Sends frames while the transport has nothing to send; None until the connection is open.
        self._direct: socket.socket | None = None
        #: Whether the client accepts compressed messages.
        self._deflates = False
        #: Whether the close frame is sent or received; `_deadline` then ends the connection.
        self._closing = False
        #: Received bytes that are not parsed yet.
        self._unparsed = bytearray()
        self._assembly = Assembly()
        self._pace = CommandPace(EXTRA_FRAMES_PER_SECOND)
        #: The timer that ends the pause of a client that was too fast.
        self._pause: asyncio.TimerHandle | None = None
        #: Received messages; None marks the end of the connection.
        self._inbox: list[str | bytes | None] = []
        #: Pending while the application waits for a message.
        self._message_waiter: asyncio.Future[None] | None = None
        #: Whether the kernel has taken everything that was sent.
        self.ready = True
        #: Pending while a sender waits for that.
        self._drained: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP's
        """Starts the deadline of the handshake."""
        self._transport = transport
        self._room.wait(transport)
        # asyncio then calls pause_writing for any byte in the buffer, and resume_writing when it is empty.
        transport.set_write_buffer_limits(0)
        self._deadline = asyncio.get_running_loop().call_later(HANDSHAKE_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Parses as much as the bounds allow; the protocol answers pings and close frames by itself."""
        self._unparsed += data
        self._parse()

    def eof_received(self) -> None:
        """Handles the client's end of input."""
        self._protocol.receive_eof()
        self._flush()

    def pause_writing(self) -> None:
        """Stops reading: the socket has not taken everything that was sent."""
        self.ready = False
        self._update_reading()

    def resume_writing(self) -> None:
        """Reads on: the socket has taken everything that was sent."""
        if self.ready:
            return
        self.ready = True
        if self._drained is not None:
            self._drained.set_result(None)
            self._drained = None
        self._parse()

    def connection_lost(self, exc: Exception | None) -> None:
        """Frees the connection's place and wakes every waiter."""
        del exc
        self._open = False
        if self._direct is not None:
            self._direct.detach()
        self._room.leave(self._transport)
        self._deadline.cancel()
        self._unparsed.clear()
        if self._pause is not None:
            self._pause.cancel()
        self.resume_writing()
        self._deliver(None)

    def write(self, frame: FeedFrame) -> None:
        """Starts to send a frame; does nothing once the connection is closed."""
        if self._open and self._direct is not None:
            data = frame.compressed() if self._deflates else frame.plain
            if self.ready:
                data = send_now(self._direct, data)
            if data:
                self._transport.write(data)

    def __await__(self) -> Generator[Any, None, None]:
        """Waits until the socket has taken everything that was sent, or is closed."""
        if not self.ready:
            if self._drained is None:
                self._drained = asyncio.get_running_loop().create_future()
            yield from asyncio.shield(self._drained).__await__()

    def _parse(self) -> None:
        """Parses received bytes a slice at a time, until a bound is reached."""
        while self._unparsed and self._may_read():
            part = bytes(self._unparsed[:SLICE_BYTES])
            del self._unparsed[:SLICE_BYTES]
            self._protocol.receive_data(part)
            self._flush()
            self._handle_events(self._protocol.events_received())
        self._update_reading()

    def _may_read(self) -> bool:
        return self.ready and self._pause is None and len(self._inbox) <= MAX_WAITING

    def _update_reading(self) -> None:
        """Resumes or pauses reading."""
        transport = self._transport
        if transport.is_closing():
            return
        if self._may_read() and not self._unparsed:
            transport.resume_reading()
        else:
            transport.pause_reading()

    def _handle_events(self, events: list[Request | Response | Frame]) -> None:
        extra = 0
        for event in events:
            if isinstance(event, Request):
                self._begin(event)
            elif isinstance(event, Frame):
                extra += not is_whole(event)
                self._add_frame(event)
        if extra:
            loop = asyncio.get_running_loop()
            if pause := self._pace.spend(extra, loop.time()):
                self._pause = loop.call_later(pause, self._end_pause)

    def _end_pause(self) -> None:
        self._pause = None
        self._parse()

    def _begin(self, request: Request) -> None:
        response = answer_handshake(self._protocol, request)
        if response.status_code != 101:
            self._room.refused["malformed"] += 1
            self._answer(response)
            return
        if self._transport.get_extra_info("peername") is None:  # reset before its request was read
            self._transport.abort()
            return
        if not self._room.take_feed(self._transport):
            self._refuse("worker_full")
            return
        self._response = response
        scope = scope_of(request, self._transport) | {"extensions": {WRITER: self}}
        request.headers.clear()  # the protocol holds the request as long as the connection lasts
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
        if self._response is not None:
            return {"type": "websocket.connect"}
        while not self._inbox:
            self._message_waiter = asyncio.get_running_loop().create_future()
            await self._message_waiter
        if self._inbox[0] is None:
            closed = self._protocol.close_rcvd
            return {"type": "websocket.disconnect", "code": closed.code if closed else 1006}
        message = self._inbox.pop(0)
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
        response, self._response = self._response, None
        if response is None or self._transport.is_closing():
            return
        if subprotocol:
            response.headers["Sec-WebSocket-Protocol"] = subprotocol
        self._deadline.cancel()
        self._deflates = bool(self._protocol.extensions) and subprotocol != DEFLATE.subprotocol
        self._direct = direct_socket(self._transport)
        self._open = True
        self._answer(response)

    def _close(self, code: int, reason: str) -> None:
        """Sends the close frame; refuses the handshake of a connection that is not accepted yet."""
        if self._response is not None:
            self._response = None
            self._refuse(reason)
        elif self._protocol.state is OPEN and not self._transport.is_closing():
            self._open = False
            self._protocol.send_close(code, reason)
            self._flush()

    def _refuse(self, reason: str) -> None:
        self._room.refused[reason] += 1
        self._answer(refusal_for(self._protocol, reason))

    def _answer(self, response: Response) -> None:
        self._protocol.send_response(response)
        self._flush()

    def _flush(self) -> None:
        """Writes the bytes that the protocol has ready."""
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()
        if self._protocol.close_expected() and not self._closing:
            # Once: a client that continues to send must not extend the deadline.
            self._closing = True
            self._open = False
            self._deadline.cancel()
            self._deadline = asyncio.get_running_loop().call_later(CLOSE_SECONDS, self._transport.abort)

    def _add_frame(self, frame: Frame) -> None:
        try:
            message = self._assembly.add(frame)
        except BadMessageError as error:
            self._protocol.fail(error.code, error.reason)
            self._flush()
        else:
            if message is not None:
                self._deliver(message)

    def _deliver(self, message: str | bytes | None) -> None:
        self._inbox.append(message)
        if self._message_waiter is not None and not self._message_waiter.done():
            self._message_waiter.set_result(None)
