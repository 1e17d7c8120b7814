"""A WebSocket server for feeds alone, beside the HTTP server and on the worker's own event loop.

What is received is parsed by `websockets`; what is sent are bytes that connections share, written
straight to the socket, without a copy per client. It is an ASGI server: feeds are the same application
on either port.
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Final

import structlog
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request, Response
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from quotecast.feed.encoding import DEFLATE
from quotecast.feed.pace import Pace
from quotecast.stream.deflate import EXTENSION
from quotecast.stream.framing import Written
from quotecast.stream.handshakes import answer_handshake, refusal_for, scope_of
from quotecast.stream.messages import Assembly, BadMessageError, is_whole
from quotecast.stream.room import Room

App = Callable[[Any, Any, Any], Awaitable[None]]

#: The ASGI extension that hands a feed its socket's `write`: frames of a tick need no events around them.
WRITE: Final = "quotecast.write"
HANDSHAKE_SECONDS: Final = 10.0
#: How long a client is given to take the close frame and to answer it.
CLOSE_SECONDS: Final = 3.0
#: More than any command may have, so that one too long is still told so by the feed.
MAX_MESSAGE_BYTES: Final = 1 << 18
#: Messages that may wait for the application before reading pauses.
MAX_WAITING: Final = 16
#: Pings, pongs and fragments that a client may send in a second; past it reading pauses.
EXTRA_FRAMES_PER_SECOND: Final = 100
#: Bytes that are parsed before the bounds are looked at again: some 170 of the smallest frames.
SLICE_BYTES: Final = 1024

log = structlog.get_logger()


class Socket(asyncio.Protocol):
    """One connection. It is what its own sends return: done when the socket has taken all of them.

    A client costs bounded memory and time: bytes wait unparsed, and unread in the kernel, while the
    socket has not taken what was sent, while messages wait for the application, and while the client
    sends control frames and fragments faster than `EXTRA_FRAMES_PER_SECOND`.
    """

    __slots__ = (
        "_app",
        "_assembly",
        "_deadline",
        "_deflates",
        "_inbox",
        "_leaving",
        "_open",
        "_pace",
        "_pausing",
        "_protocol",
        "_received",
        "_response",
        "_room",
        "_taken",
        "_task",
        "_transport",
        "_unparsed",
        "_written",
    )

    def __init__(self, app: App, written: Written, room: Room) -> None:
        self._app = app
        self._written = written
        self._room = room
        self._protocol = ServerProtocol(max_size=MAX_MESSAGE_BYTES, extensions=[EXTENSION])
        #: To the handshake, until the application accepts or refuses.
        self._response: Response | None = None
        self._open = False
        #: Whether the client reads compressed messages.
        self._deflates = False
        #: Whether the deadline is that of the farewell.
        self._leaving = False
        #: Bytes that the client sent and nobody parsed yet.
        self._unparsed = bytearray()
        self._assembly = Assembly()
        self._pace = Pace(EXTRA_FRAMES_PER_SECOND)
        #: Ends the pause of a client that was too fast.
        self._pausing: asyncio.TimerHandle | None = None
        #: What was received; None at its end.
        self._inbox: list[str | bytes | None] = []
        #: Pending while the application waits for a message.
        self._received: asyncio.Future[None] | None = None
        #: Pending while the socket has not taken everything.
        self._taken: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP's
        """The client has to ask for a feed soon."""
        self._transport = transport
        self._room.wait(transport)
        # So that we are told whenever a write leaves something in the buffer, and when that is gone.
        transport.set_write_buffer_limits(0)
        self._deadline = asyncio.get_running_loop().call_later(HANDSHAKE_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Parses as much as the bounds allow; the protocol answers pings and farewells by itself."""
        self._unparsed += data
        self._go_on()

    def eof_received(self) -> None:
        """The client has closed its side."""
        self._protocol.receive_eof()
        self._flush()

    def pause_writing(self) -> None:
        """The socket has not taken everything: a client that does not read is not read either."""
        self._taken = asyncio.get_running_loop().create_future()
        self._steer()

    def resume_writing(self) -> None:
        """The socket has taken everything."""
        if self._taken is not None:
            self._taken.set_result(None)
            self._taken = None
            self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tells whoever waits."""
        del exc
        self._open = False
        self._room.leave(self._transport)
        self._deadline.cancel()
        self._unparsed.clear()
        if self._pausing is not None:
            self._pausing.cancel()
        self.resume_writing()
        self._put(None)

    def write(self, frame: str | bytes) -> "Socket":
        """Starts sending a frame; nothing happens if the client is gone."""
        if self._open:
            self._transport.write(self._written(frame, deflates=self._deflates))
        return self

    def done(self) -> bool:
        """Whether the socket has taken everything that was sent."""
        return self._taken is None

    def __await__(self) -> Generator[Any, None, None]:
        """Until the socket has taken everything that was sent, or is gone."""
        if self._taken is not None:
            yield from asyncio.shield(self._taken).__await__()

    def _go_on(self) -> None:
        """Parses what waits, a slice at a time, until a bound says stop."""
        while self._unparsed and self._may_read():
            part = bytes(self._unparsed[:SLICE_BYTES])
            del self._unparsed[:SLICE_BYTES]
            self._protocol.receive_data(part)
            self._flush()
            self._obey(self._protocol.events_received())
        self._steer()

    def _may_read(self) -> bool:
        return self._taken is None and self._pausing is None and len(self._inbox) <= MAX_WAITING

    def _steer(self) -> None:
        """Reads on or pauses."""
        transport = self._transport
        if transport.is_closing():
            return
        if self._may_read() and not self._unparsed:
            transport.resume_reading()
        else:
            transport.pause_reading()

    def _obey(self, events: list[Request | Response | Frame]) -> None:
        extra = 0
        for event in events:
            if isinstance(event, Request):
                self._begin(event)
            elif isinstance(event, Frame):
                extra += not is_whole(event)
                self._take(event)
        if extra:
            loop = asyncio.get_running_loop()
            if pause := self._pace.spend(extra, loop.time()):
                self._pausing = loop.call_later(pause, self._rested)

    def _rested(self) -> None:
        self._pausing = None
        self._go_on()

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
        scope = scope_of(request, self._transport) | {"extensions": {WRITE: self.write}}
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
        if not self._inbox:
            self._go_on()
        return {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}

    def _send(self, event: dict[str, Any]) -> "Socket":
        """Does at once what an ASGI event says. Raises ConnectionResetError if the client is gone."""
        match event["type"]:
            case "websocket.send":
                if not self._open:
                    raise ConnectionResetError("the client has left")
                text = event.get("text")
                self.write(event["bytes"] if text is None else text)
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
        self._open = True
        self._answer(response)

    def _close(self, code: int, reason: str) -> None:
        """Begins the farewell; one who was not accepted yet is refused."""
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
        """Sends what the protocol has to say."""
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()
        if self._protocol.close_expected() and not self._leaving:
            # Once: a client that goes on sending must not put its own end off.
            self._leaving = True
            self._open = False
            self._deadline.cancel()
            self._deadline = asyncio.get_running_loop().call_later(CLOSE_SECONDS, self._transport.abort)

    def _take(self, frame: Frame) -> None:
        try:
            message = self._assembly.add(frame)
        except BadMessageError as error:
            self._protocol.fail(error.code, error.reason)
            self._flush()
        else:
            if message is not None:
                self._put(message)

    def _put(self, message: str | bytes | None) -> None:
        self._inbox.append(message)
        if self._received is not None and not self._received.done():
            self._received.set_result(None)
