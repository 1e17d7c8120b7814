"""The sending half of a client's connection, with its back-pressure."""

import asyncio
import socket
import time
from collections.abc import Generator
from typing import Any, Final

#: The ASGI extension that holds the socket: feeds write their frames to it without ASGI events.
WRITER: Final = "quotecast.writer"


#: More is not joined: the copy would cost more than the call that it saves.
MAX_HELD_BYTES: Final = 64 * 1024


class Outlet(asyncio.Protocol):
    """Writes a connection's bytes; awaitable, done when the socket has taken everything."""

    __slots__ = ("_direct", "_drained", "_held", "_transport", "paused_at", "ready")

    def __init__(self) -> None:
        #: Sends while the transport has nothing to send; None until the connection is open.
        self._direct: socket.socket | None = None
        #: Whether the kernel has taken everything that was sent.
        self.ready = True
        #: Monotonic time since which it has not.
        self.paused_at = 0.0
        #: Pending while a sender waits for that.
        self._drained: asyncio.Future[None] | None = None
        #: Bytes that go to the kernel together, at the end of this turn of the event loop.
        self._held: list[bytes] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP's
        """Makes asyncio report every byte that the kernel does not take at once."""
        self._transport = transport
        # asyncio then calls pause_writing for any byte in the buffer, and resume_writing when it is empty.
        transport.set_write_buffer_limits(0)

    def pause_writing(self) -> None:
        """Notes that the socket has not taken everything that was sent."""
        self.ready = False
        self.paused_at = time.monotonic()

    def resume_writing(self) -> None:
        """Wakes the senders: the socket has taken everything that was sent."""
        self.ready = True
        if self._drained is not None:
            self._drained.set_result(None)
            self._drained = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Wakes the senders, which find a closed connection."""
        del exc
        self._held = None
        if self._direct is not None:
            self._direct.detach()
            self._direct = None
        self.resume_writing()

    def __await__(self) -> Generator[Any, None, None]:
        """Waits until the socket has taken everything that was sent, or is closed."""
        if not self.ready:
            if self._drained is None:
                self._drained = asyncio.get_running_loop().create_future()
            yield from asyncio.shield(self._drained).__await__()

    @property
    def unsent(self) -> int:
        """Bytes that the socket has not taken yet."""
        return self._transport.get_write_buffer_size()

    def _open_directly(self) -> None:
        """Sends past the transport from now on."""
        self._direct = direct_socket(self._transport)

    def _write(self, data: bytes) -> None:
        """Starts to send; does nothing unless the connection is open."""
        if self._held is not None:
            if sum(map(len, self._held)) + len(data) <= MAX_HELD_BYTES:
                self._held.append(data)
                return
            self._send_held()
        if self._direct is None:
            return
        rest = send_now(self._direct, data) if self.ready else data
        if rest:
            self._transport.write(rest)

    def _hold(self, data: bytes) -> None:
        """Sends in one piece with whatever follows before the event loop turns.

        An answer to a handshake and the frames that greet the client are one call of the kernel then.
        """
        self._held = [data]
        asyncio.get_running_loop().call_soon(self._send_held)

    def _send_held(self) -> None:
        held, self._held = self._held, None
        if held:
            self._write(b"".join(held))


def direct_socket(transport: asyncio.Transport) -> socket.socket:
    """Returns a socket on the transport's own descriptor; detach it when the connection is lost.

    By it a frame goes to the kernel in one call; ADR 11 has the figures. The transport still owns the
    descriptor, sends what the kernel does not take at once, and handles errors.
    """
    own = transport.get_extra_info("socket")
    return socket.socket(own.family, own.type, own.proto, fileno=own.fileno())


def send_now(connection: socket.socket, data: bytes | memoryview) -> bytes | memoryview:
    """Sends as much as the kernel takes at once; returns the rest, a part of the same memory.

    Clients share a frame of megabytes, which most sockets take in parts. After an error the rest is
    everything: the transport meets the error again and closes the connection.
    """
    try:
        sent = connection.send(data)
    except OSError:
        return data
    return memoryview(data)[sent:] if sent < len(data) else b""
