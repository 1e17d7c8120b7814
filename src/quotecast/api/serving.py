"""A worker's servers: granian for HTTP, our own for feeds, on one public port or on one each."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from quotecast.asgi import App
from quotecast.settings.model import Settings
from quotecast.stream.capacity import SPARE_CONNECTIONS
from quotecast.stream.front import LOOPBACK, Front
from quotecast.stream.listeners import BACKLOG, bound_what_waits, connections_to, listeners_of, serving_feeds
from quotecast.stream.room import Room

#: Bytes of a request's head; granian answers 431 to more.
MAX_HEAD_BYTES: Final = 32 * 1024
#: Seconds between looks at whether granian listens yet.
_LOOK_SECONDS: Final = 0.005
#: Seconds after which there is no more waiting for it, where sockets cannot be listed.
_BOUNDED_SECONDS: Final = 1.0


@contextlib.asynccontextmanager
async def serving(http: App, feeds: App, settings: Settings, room: Room) -> AsyncIterator[asyncio.Task[None]]:
    """Serves until left; the task ends early only when granian fails. Raises ServerFailedError.

    Without a port for feeds one port has both: its connections are feeds, or are passed on to granian, on
    a port of the loopback interface that only this worker uses. With one, each server has its own port.
    """
    if settings.feed_port:
        async with (
            serving_feeds(feeds, settings.host, settings.feed_port, room),
            _granian(http, settings.host, settings.port, room.capacity.http) as ended,
        ):
            await _bounded(settings.port, ended)
            yield ended
        return
    with _reserved_port() as port:
        front = Front(connections_to(feeds, room), port, room)
        # The front refuses before granian would let clients wait.
        most = room.capacity.http + 2 * SPARE_CONNECTIONS
        async with _granian(front.naming_clients(http), LOOPBACK, port, most) as ended:
            await _listens(port, ended)
            async with front.listening(settings.host, settings.port):
                yield ended
        await front.flushed()


@contextlib.asynccontextmanager
async def _granian(app: App, host: str, port: int, most: int) -> AsyncIterator[asyncio.Task[None]]:
    """Serves HTTP; beyond `most` connections at once clients wait in the kernel's queue."""
    # Granian says that embedding is experimental; docs/adr/0001 says why we do it all the same.
    logging.getLogger("_granian").setLevel(logging.ERROR)
    server: Any = Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        # It answers pings of a client that reads no pongs until memory is full: docs/adr/0008.
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
    """A free port of the loopback interface; nobody else's program gets it while granian does."""
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind((LOOPBACK, 0))
        yield reserved.getsockname()[1]


async def _bounded(port: int, ended: asyncio.Task[None]) -> None:
    """Bounds what waits for clients of granian's listening socket, which has no setting for it."""
    deadline = asyncio.get_running_loop().time() + _BOUNDED_SECONDS
    while not ended.done() and asyncio.get_running_loop().time() < deadline:
        for listening in listeners_of(port):
            bound_what_waits(listening)
            return
        await asyncio.sleep(_LOOK_SECONDS)


async def _listens(port: int, ended: asyncio.Task[None]) -> None:
    """Waits until granian listens; it does not say when."""
    while not ended.done():
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(LOOPBACK, port)
            writer.close()
            return
        await asyncio.sleep(_LOOK_SECONDS)
