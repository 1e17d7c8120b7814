"""The sockets of API keys, which count what they send; sockets without a key are not wrapped."""

from collections.abc import Generator
from typing import Any, Final

from quotecast.access.usage import Counts
from quotecast.asgi import Scope
from quotecast.feed.framing import Frame
from quotecast.stream.client import Socket

#: The entry of a request's scope for the counts of its API key.
COUNTS: Final = "quotecast.counts"


class MeteredSocket:
    """A socket that adds each frame to the counts of its key: the same few steps for a frame of any size."""

    __slots__ = ("_counts", "_socket", "_write")

    def __init__(self, socket: Socket, counts: Counts) -> None:
        self._socket = socket
        self._write = socket.write
        self._counts = counts

    @property
    def ready(self) -> bool:
        """Whether the socket has taken everything that was written."""
        return self._socket.ready

    @property
    def paused_at(self) -> float:
        """Monotonic time since which it is not ready."""
        return self._socket.paused_at

    def write(self, frame: Frame) -> object:
        """Starts to send a frame and counts it."""
        counts = self._counts
        counts.quotes += frame.items
        counts.bytes += len(frame)
        return self._write(frame)

    def __await__(self) -> Generator[Any, None, Any]:
        """Waits until the socket has taken everything."""
        return self._socket.__await__()


def metered(scope: Scope, socket: Socket) -> Socket:
    """Returns the socket, which counts if the request has an API key."""
    counts: Counts | None = scope.get(COUNTS)
    return socket if counts is None else MeteredSocket(socket, counts)
