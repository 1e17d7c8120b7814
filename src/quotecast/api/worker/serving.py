"""The servers of a worker: granian for HTTP, our own for feeds, on one public port or on one each."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Final

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from quotecast.asgi import App
from quotecast.settings.model import Settings
from quotecast.stream.capacity import SPARE_CONNECTIONS
from quotecast.stream.front import LOOPBACK, Front
from quotecast.stream.listeners import (
    BACKLOG,
    connection_factory,
    limit_unread_bytes,
    listeners_of,
    serve_feeds,
)
from quotecast.stream.occupancy import Occupancy

#: Bytes of a request's head; granian answers 431 to a longer one.
MAX_HEAD_BYTES: Final = 32 * 1024
#: Seconds between two checks whether granian listens.
_LOOK_SECONDS: Final = 0.005
#: Seconds to wait for granian's socket; without /proc it never appears.
_LIMIT_SECONDS: Final = 1.0


@contextlib.asynccontextmanager
async def open_servers(
    http: App, feeds: App, settings: Settings, occupancy: Occupancy, drain: Callable[[], Awaitable[None]]
) -> AsyncIterator[asyncio.Task[None]]:
    """Serves until the context ends; the task ends early only when granian fails. Raises ServerFailedError.

    `drain` closes the feeds once the worker has left their port: clients then reconnect to another one.

    Without a port for feeds one port serves both: the front keeps feeds and forwards other connections to
    granian, on a port of the loopback interface that only this worker uses. With one, each server has its own
    port.
    """
    if settings.feed_port:
        async with _granian(http, settings.host, settings.port, occupancy.capacity.http) as ended:
            async with serve_feeds(feeds, settings.host, settings.feed_port, occupancy):
                await _limit_unread_bytes(settings.port, ended)
                yield ended
            await drain()
        return
    with _reserved_port() as port:
        front = Front(connection_factory(feeds, occupancy), port, occupancy)
        # The front refuses connections before granian lets clients wait.
        most = occupancy.capacity.http + 2 * SPARE_CONNECTIONS
        async with _granian(front.with_client_addresses(http), LOOPBACK, port, most) as ended:
            await _wait_until_listening(port, ended)
            async with front.listen(settings.host, settings.port):
                yield ended
            await drain()
        await front.flush()


@contextlib.asynccontextmanager
async def _granian(app: App, host: str, port: int, most: int) -> AsyncIterator[asyncio.Task[None]]:
    """Serves HTTP; beyond `most` connections at once clients wait in the kernel's queue."""
    # Granian calls embedding experimental; docs/adr/0001 has the reasons for it.
    logging.getLogger("_granian").setLevel(logging.ERROR)
    server: Any = Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        # Its pongs to a client that does not read them fill the memory: docs/adr/0008.
        websockets=False,
        http1_settings=HTTP1Settings(max_buffer_size=MAX_HEAD_BYTES),
        backlog=BACKLOG,
        backpressure=most,
        log_enabled=False,
    )
    ended: asyncio.Task[None] = asyncio.create_task(server.serve())
    try:
        yield ended
    finally:
        if not ended.done():
            server.stop()
        await asyncio.gather(ended, return_exceptions=True)


@contextlib.contextmanager
def _reserved_port() -> Iterator[int]:
    """Yields a free port of the loopback interface and holds it, so that only granian can share it."""
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind((LOOPBACK, 0))
        yield reserved.getsockname()[1]


async def _limit_unread_bytes(port: int, ended: asyncio.Task[None]) -> None:
    """Sets the kernel's limits on granian's listening socket; granian has no setting for them."""
    deadline = asyncio.get_running_loop().time() + _LIMIT_SECONDS
    while not ended.done() and asyncio.get_running_loop().time() < deadline:
        for listening in listeners_of(port):
            limit_unread_bytes(listening)
            return
        await asyncio.sleep(_LOOK_SECONDS)


async def _wait_until_listening(port: int, ended: asyncio.Task[None]) -> None:
    """Waits until granian accepts connections; it sends no signal when it does."""
    while not ended.done():
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(LOOPBACK, port)
            writer.close()
            return
        await asyncio.sleep(_LOOK_SECONDS)
