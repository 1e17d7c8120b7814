"""Listening sockets of a worker, with the kernel's limits for each connection that they accept."""

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
from quotecast.stream.occupancy import Occupancy
from quotecast.stream.server import Socket

#: Connections that may wait for the event loop.
BACKLOG: Final = 4096
#: Seconds after which the kernel closes a connection whose client acknowledges no bytes.
UNREAD_SECONDS: Final = 20.0
_INTERNET: Final = frozenset({socket.AF_INET, socket.AF_INET6})
#: Bytes that the kernel buffers for a client that does not read, its own overhead included.
SEND_BUFFER_BYTES: Final = 256 * 1024


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
