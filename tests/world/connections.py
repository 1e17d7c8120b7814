"""The two ends of a simulated connection, and the pipes between them.

A pipe holds what one kernel has taken and the other process has not read, at most WINDOW bytes: back-pressure
begins there. Segments arrive in order; a partition holds them until it heals, as retransmission does.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from world.loop import Process

if TYPE_CHECKING:
    from world.network import Network

#: Bytes that both kernels hold for a process that does not read: few, so that back-pressure begins soon.
WINDOW: Final = 8 * 1024
#: Bytes that one read returns at most.
_READ: Final = 256 * 1024
#: A write of at least so many bytes may arrive in two pieces.
_SPLIT_BYTES: Final = 64

Factory = Callable[[], asyncio.BaseProtocol]


class KernelSocket:
    """The socket of an endpoint, for those who send past the transport."""

    family, type, proto = socket.AF_INET, socket.SOCK_STREAM, 0

    def __init__(
        self, endpoint: "Endpoint | None", name: tuple[str, int], peer: tuple[str, int] | None = None
    ) -> None:
        self._endpoint = endpoint
        self._name, self._peer = name, peer

    def getsockname(self) -> tuple[str, int]:
        """Returns the address of this side."""
        return self._name

    def getpeername(self) -> tuple[str, int] | None:
        """Returns the address of the other side."""
        return self._peer

    def setsockopt(self, *_: object) -> None:
        """Does nothing."""

    def send(self, data: bytes | memoryview) -> int:
        """Sends what the kernel takes at once. Raises BlockingIOError and OSError."""
        assert self._endpoint is not None
        if self._endpoint.is_closed:
            raise BrokenPipeError("the connection is closed")
        sent = self._endpoint.outgoing.send(data)
        if not sent:
            raise BlockingIOError
        return sent

    def detach(self) -> int:
        """Does nothing: the endpoint owns the connection."""
        return -1


class Pipe:
    """One direction of a connection."""

    def __init__(self, network: "Network", source: "Endpoint", target: "Endpoint") -> None:
        self._network = network
        self._source, self._target = source, target
        self._hosts = source.process.host.name, target.process.host.name
        #: Segments that a partition holds; None is the end.
        self._held: deque[bytes | OSError | None] = deque()
        self._last = 0.0
        #: Bytes on their way and in the target's kernel.
        self.unread = 0

    def send(self, data: bytes | memoryview) -> int:
        """Takes as many bytes as the window has room for; returns their number."""
        size = min(len(data), WINDOW - self.unread)
        if size <= 0:
            return 0
        self.unread += size
        taken = bytes(data[:size])
        if size >= _SPLIT_BYTES and self._network.chance.random() < 0.05:
            middle = self._network.chance.randrange(1, size)
            self._fly(taken[:middle])
            self._fly(taken[middle:])
        else:
            self._fly(taken)
        return size

    def finish(self, error: OSError | None = None) -> None:
        """Sends the end of the stream behind the bytes; with an error the reset of the connection."""
        self._fly(error)

    def release(self) -> None:
        """Sends what a partition held, unless it lasts."""
        if self._held and not self._network.is_cut(*self._hosts):
            held = [*self._held]
            self._held.clear()
            for each in held:
                self._fly(each)

    def drop(self) -> None:
        """Loses what a partition holds: its sender's machine is gone."""
        self._held.clear()

    def _fly(self, segment: bytes | OSError | None) -> None:
        loop = self._network.loop
        self._last = max(self._last, loop.now + self._network.latency(*self._hosts))
        loop.deliver_at(self._last, self._arrive, segment)

    def _arrive(self, segment: bytes | OSError | None) -> None:
        if self._held or self._network.is_cut(*self._hosts):
            self._held.append(segment)
            return
        self._target.receive(segment)


class Endpoint(asyncio.Transport):
    """One side of a connection: a transport of asyncio."""

    outgoing: Pipe
    peer: "Endpoint"

    def __init__(
        self, network: "Network", process: Process, name: tuple[str, int], peer_name: tuple[str, int]
    ) -> None:
        super().__init__()
        self.process = process
        self._network = network
        self._names = {"sockname": name, "peername": peer_name, "socket": KernelSocket(self, name, peer_name)}
        self._protocol: Any = None
        self._inbox = bytearray()
        self._has_ended = False
        self._error: OSError | None = None
        self._is_reading = True
        self._is_told = False
        self._buffer = bytearray()
        self._high, self._low = 64 * 1024, 16 * 1024
        self._has_paused = False
        self._closing = False
        self.is_closed = False

    def open(self, protocol: Any) -> None:
        """Connects the protocol."""
        self._protocol = protocol
        protocol.connection_made(self)
        self._tell()

    def accept(self, factory: Factory) -> None:
        """Connects a new protocol of a server, unless the client has gone."""
        if self._error is None:
            self.open(factory())
        else:
            self._network.leave(self)

    def die(self, *, silently: bool) -> None:
        """Ends with its process: the kernel closes the connection, a machine without power does not."""
        self.is_closed = True
        if silently:
            self.outgoing.drop()
        else:
            self.outgoing.finish(ConnectionResetError("the peer was killed") if self._inbox else None)

    def fail(self) -> None:
        """Loses the connection."""
        self.receive(ConnectionResetError("connection reset by the network"))

    def receive(self, segment: bytes | OSError | None) -> None:
        """Takes what arrives from the network."""
        if not self.process.host.has_power:
            return
        if self.is_closed or self._error is not None:
            if isinstance(segment, bytes):
                self.outgoing.finish(ConnectionResetError("the peer has closed the connection"))
            return
        if segment is None:
            self._has_ended = True
        elif isinstance(segment, OSError):
            self._error = segment
        else:
            self._inbox += segment
        self._tell()

    def _tell(self) -> None:
        """Lets the process read in one of its next turns."""
        if self._protocol is not None and not self._is_told and not self.is_closed:
            self._is_told = True
            self.process.call(self._read)

    def _read(self) -> None:
        self._is_told = False
        if self.is_closed:
            return
        if self._error is not None:
            self._end(self._error)
            return
        if not self._is_reading or self._closing:
            return
        if self._inbox:
            data = bytes(self._inbox[:_READ])
            del self._inbox[: len(data)]
            self.peer.outgoing.unread -= len(data)
            self.peer.find_room()
            self._protocol.data_received(data)
            if self._inbox or self._has_ended or self._error:
                self._tell()
        elif self._has_ended:
            self._is_reading = False
            if not self._protocol.eof_received():
                self.close()

    def find_room(self) -> None:
        """Sends on, in a later turn of the process."""
        if self._buffer and not self.is_closed:
            self.process.call(self._flush)

    def _flush(self) -> None:
        if self.is_closed:
            return
        sent = self.outgoing.send(bytes(self._buffer))
        del self._buffer[:sent]
        if self._has_paused and len(self._buffer) <= self._low:
            self._has_paused = False
            self._protocol.resume_writing()
        if self._closing and not self._buffer:
            self._finish()

    def write(self, data: Any) -> None:
        """Sends bytes; keeps those for which there is no room."""
        if self._closing or self.is_closed or self._error is not None:
            return
        sent = 0 if self._buffer else self.outgoing.send(data)
        if sent < len(data):
            self._buffer += data[sent:]
            if len(self._buffer) > self._high and not self._has_paused:
                self._has_paused = True
                self._protocol.pause_writing()

    def close(self) -> None:
        """Closes once everything is sent."""
        if self._closing or self.is_closed:
            return
        self._closing = True
        if not self._buffer:
            self._finish()

    def abort(self) -> None:
        """Closes at once."""
        if self.is_closed:
            return
        self._closing = True
        self._buffer.clear()
        self._finish(ConnectionResetError("the peer aborted the connection"))

    def _finish(self, error: OSError | None = None) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        self.outgoing.finish(error)
        self._network.leave(self)
        if self._protocol is not None:
            self.process.call(self._protocol.connection_lost, None)

    def _end(self, error: OSError) -> None:
        self.is_closed = self._closing = True
        self._buffer.clear()
        self._network.leave(self)
        self._protocol.connection_lost(error)

    def is_closing(self) -> bool:
        """Returns whether it is closed or about to be."""
        return self._closing or self.is_closed

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Returns an address or the socket."""
        return self._names.get(name, default)

    def set_protocol(self, protocol: Any) -> None:
        """Replaces the protocol."""
        self._protocol = protocol

    def get_protocol(self) -> Any:
        """Returns the protocol."""
        return self._protocol

    def pause_reading(self) -> None:
        """Leaves what arrives unread."""
        self._is_reading = False

    def resume_reading(self) -> None:
        """Reads on."""
        if not self._is_reading and not self._closing:
            self._is_reading = True
            self._tell()

    def is_reading(self) -> bool:
        """Returns whether it reads."""
        return self._is_reading

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Sets the bounds of unsent bytes."""
        self._high = 64 * 1024 if high is None else high
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_size(self) -> int:
        """Returns the number of unsent bytes."""
        return len(self._buffer)

    def can_write_eof(self) -> bool:
        """Returns False: nobody needs it here."""
        return False
