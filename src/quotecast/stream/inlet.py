"""The receiving half of a client's WebSocket, with the bounds of its memory and time."""

import asyncio
from typing import Final

from websockets.frames import Frame
from websockets.http11 import Request, Response

from quotecast.feed.pace import CommandPace
from quotecast.stream.incoming import BadMessageError, Incoming, is_whole, open_connection
from quotecast.stream.outlet import Outlet

#: Messages that may wait for the application before reading pauses.
MAX_WAITING: Final = 16
#: Pings, pongs and fragments that a client may send in a second; past it reading pauses.
EXTRA_FRAMES_PER_SECOND: Final = 100
#: Bytes to parse between two checks of the bounds: some 170 of the smallest frames.
SLICE_BYTES: Final = 1024


class Inlet(Outlet):
    """Parses a client's bytes into requests and messages; a subclass handles them.

    Back-pressure leaves bytes unparsed, and unread in the kernel, while the socket has not taken what was
    sent, while messages wait for the application, and while the client sends control frames and fragments
    faster than `EXTRA_FRAMES_PER_SECOND`.
    """

    __slots__ = ("_inbox", "_incoming", "_inflates", "_message_waiter", "_pace", "_pause", "_unparsed")

    def __init__(self) -> None:
        super().__init__()
        #: Parses what the client sends; None before its first byte, and while an open connection is at rest.
        self._incoming: Incoming | None = None
        #: Whether the client may send compressed messages.
        self._inflates = False
        #: Received bytes that are not parsed yet.
        self._unparsed: bytearray | None = None
        self._pace: CommandPace | None = None
        #: The timer that ends the pause of a client that was too fast.
        self._pause: asyncio.TimerHandle | None = None
        #: Received messages; None marks the end of the connection.
        self._inbox: tuple[str | bytes | None, ...] = ()
        #: Pending while the application waits for a message.
        self._message_waiter: asyncio.Future[None] | None = None

    def data_received(self, data: bytes) -> None:
        """Parses as much as the bounds allow; the protocol answers pings and close frames by itself."""
        if self._unparsed is None:
            self._unparsed = bytearray(data)
        else:
            self._unparsed += data
        self._parse()

    def eof_received(self) -> None:
        """Handles the client's end of input; without a parser, the transport closes the connection."""
        if self._incoming is not None:
            self._incoming.protocol.receive_eof()
            self._flush()

    def pause_writing(self) -> None:
        """Stops reading: the socket has not taken everything that was sent."""
        super().pause_writing()
        self._update_reading()

    def resume_writing(self) -> None:
        """Reads on: the socket has taken everything that was sent."""
        if self.ready:
            return
        super().resume_writing()
        self._parse()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drops what is not parsed, and wakes every waiter."""
        self._unparsed = None
        if self._pause is not None:
            self._pause.cancel()
        super().connection_lost(exc)
        self._deliver(None)

    def _handle_request(self, request: Request) -> None:
        """Handles the connection's request."""
        raise NotImplementedError

    def _flush(self) -> None:
        """Writes the bytes that the parser has ready."""
        raise NotImplementedError

    def _accepts_frames(self) -> bool:
        """Returns whether the connection is past a handshake that was not parsed here."""
        raise NotImplementedError

    def _parse(self) -> None:
        """Parses received bytes a slice at a time, until a bound is reached."""
        while self._unparsed and self._may_read():
            part = bytes(self._unparsed[:SLICE_BYTES])
            del self._unparsed[:SLICE_BYTES]
            events = self._parser().receive(part)
            self._flush()
            self._handle_events(events)
        if not self._unparsed:
            self._unparsed = None
            if self._incoming is not None and self._incoming.is_at_rest:
                self._incoming = None
        self._update_reading()

    def _parser(self) -> Incoming:
        """Returns the parser of what the client sends; makes one for an open connection at rest."""
        if self._incoming is None:
            self._incoming = open_connection(compresses=self._inflates)
        return self._incoming

    def _may_read(self) -> bool:
        return (
            self.ready
            and self._pause is None
            and len(self._inbox) <= MAX_WAITING
            and (self._incoming is not None or self._accepts_frames())
        )

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
                self._handle_request(event)
            elif isinstance(event, Frame):
                extra += not is_whole(event)
                incoming = self._parser()
                try:
                    message = incoming.assembly.add(event)
                except BadMessageError as error:
                    incoming.protocol.fail(error.code, error.reason)
                    self._flush()
                else:
                    if message is not None:
                        self._deliver(message)
        if extra:
            loop = asyncio.get_running_loop()
            if self._pace is None:
                self._pace = CommandPace(EXTRA_FRAMES_PER_SECOND)
            if pause := self._pace.spend(extra, loop.time()):
                self._pause = loop.call_later(pause, self._end_pause)

    def _end_pause(self) -> None:
        self._pause = None
        self._parse()

    def _deliver(self, message: str | bytes | None) -> None:
        self._inbox += (message,)
        if self._message_waiter is not None and not self._message_waiter.done():
            self._message_waiter.set_result(None)
