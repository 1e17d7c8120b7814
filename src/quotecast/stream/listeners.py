"""The listening sockets of a worker, with what the kernel bounds for each connection that they accept."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from quotecast.asgi import App
from quotecast.errors import ServerFailedError
from quotecast.stream.framing import shared
from quotecast.stream.room import Room
from quotecast.stream.server import Socket

#: Connections that may wait for the event loop.
BACKLOG: Final = 4096
#: Seconds after which the kernel gives up a client that takes none of the bytes sent to it.
UNREAD_SECONDS: Final = 20.0
_INTERNET: Final = frozenset({socket.AF_INET, socket.AF_INET6})
#: Bytes that the kernel holds for a client that does not read; it counts its own overhead too.
SEND_BUFFER_BYTES: Final = 256 * 1024


def listening_socket(host: str, port: int) -> socket.socket:
    """Listens on a port that workers share. Raises ServerFailedError.

    Accepted connections inherit the options (Linux's tcp(7)): a client that reads nothing costs one send
    buffer for `UNREAD_SECONDS`.
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
    bound_what_waits(listening)
    return listening


def bound_what_waits(listening: socket.socket) -> None:
    """Sets the bounds above for the connections that a listening socket will accept."""
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux has it, macOS does not
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_SECONDS * 1000))


def listeners_of(port: int) -> Iterator[socket.socket]:
    """Duplicates of this process's sockets that listen on a port; none where there is no /proc."""
    links = Path("/proc/self/fd")
    for link in links.iterdir() if links.is_dir() else ():
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(link.name))) as found:
            listens = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if listens and found.family in _INTERNET and found.getsockname()[1] == port:
                yield found


def connections_to(app: App, room: Room | None = None) -> Callable[[], Socket]:
    """Makes the WebSocket connections of an application; they share a room, and the last frame's bytes."""
    return partial(Socket, app, shared(), room or Room())


@contextlib.asynccontextmanager
async def serving_feeds(app: App, host: str, port: int, room: Room | None = None) -> AsyncIterator[int]:
    """Serves WebSockets alone; yields the port. Raises ServerFailedError."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(connections_to(app, room), sock=listening_socket(host, port))
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
