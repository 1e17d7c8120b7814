"""The life of a worker: it waits for data, serves until a signal to stop, and closes its clients first.

Granian serves HTTP and our own server the feeds, on one public port or on one each.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any, Final

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server
from msgspec import Struct
from prometheus_client import Metric

from quotecast import parent
from quotecast.api.market.services import MarketServices
from quotecast.api.metrics.metrics import WorkerParts
from quotecast.api.middleware.pages import Pages, build_time, built_folder, built_pages, can_build
from quotecast.api.routes.market.health import readiness_on_private_port
from quotecast.asgi import App
from quotecast.background import fail_with_awaited_tasks
from quotecast.errors import ServerFailedError
from quotecast.garbage import freeze_present_objects
from quotecast.observe import metrics
from quotecast.redis import counts
from quotecast.settings.model import Settings
from quotecast.stream import ticker
from quotecast.stream.capacity import SPARE_CONNECTIONS
from quotecast.stream.front import LOOPBACK, Front
from quotecast.stream.occupancy import Occupancy
from quotecast.stream.server import (
    BACKLOG,
    connection_factory,
    limit_unread_bytes,
    listeners_of,
    serve_feeds,
)

FIRST_DATA_SECONDS: Final = 5.0
BUS_SECONDS: Final = 30.0
#: Bytes of a request's head; granian answers 431 to a longer one.
MAX_HEAD_BYTES: Final = 32 * 1024
#: Seconds between two checks whether granian listens.
_LOOK_SECONDS: Final = 0.005
#: Seconds to wait for granian's socket; without /proc it never appears.
_LIMIT_SECONDS: Final = 1.0


class Worker(Struct, frozen=True, kw_only=True):
    """The application of a process, and the loops that it runs meanwhile."""

    #: The name of the process in its introduction.
    name: str
    settings: Settings
    services: MarketServices
    app: App
    parts: WorkerParts
    families: Callable[[], Iterator[Metric]]
    #: Endless loops beside those of the feeds.
    loops: Sequence[Coroutine[Any, Any, None]] = ()
    #: Set before the ports close.
    draining: asyncio.Event
    on_stop: Callable[[], None] = lambda: None
    #: Whether the operator's page is served too.
    with_admin: bool = False
    #: What the introduction says of this worker beside its feeds, such as `; delayed plans, 900 s late`.
    notes: str = ""


async def serve(compose: Callable[[contextlib.AsyncExitStack], Awaitable[Worker]]) -> None:
    """Runs a worker's feeds, loops and port of metrics, and serves clients until a signal to stop.

    `compose` opens what the worker needs; it is closed in the reverse order. Raises ServerFailedError.
    """
    async with contextlib.AsyncExitStack() as stack:
        worker = await compose(stack)
        settings, parts, serves = worker.settings, worker.parts, asyncio.Event()
        port = metrics.serve_metrics(
            settings.metrics_host,
            settings.metrics_port,
            worker.families,
            counts.families,
            readiness=partial(readiness_on_private_port, worker.services, serves.is_set),
        )
        loops = run_loops(parts.listener.run(), ticker.run(parts.hubs.values()), *worker.loops)
        async with loops, port as scraped:
            await _serve_until_stopped(worker, serves, scraped)


async def _serve_until_stopped(worker: Worker, serves: asyncio.Event, scraped: str) -> None:
    """Sets `serves` once the ports are open; announces the worker when it has the first data."""
    settings, parts = worker.settings, worker.parts
    stop = asyncio.create_task(parent.wait_for_stop())
    first = asyncio.ensure_future(_wait_for_data(worker))
    if parent.has_parent():
        # Other workers listen on the same port: a worker without data leaves the clients to them.
        await _wait_for_first(stop, first)
    if stop.done():
        return
    folder = built_folder()
    built = build_time(folder)
    pages = Pages(worker.app, built_pages(folder, with_admin=worker.with_admin))
    builds = [pages.follow_builds(folder, built, with_admin=worker.with_admin)] if can_build(folder) else []
    servers = _open_servers(pages, worker.app, settings, parts.occupancy, parts.streams.drain)
    async with run_loops(*builds), servers as ended:
        serves.set()
        await _wait_for_first(ended, stop, first)
        first.cancel()
        freeze_present_objects()
        if not ended.done():
            parent.announce(_introduction(worker) + scraped)
            async with run_loops(parent.beat()):
                await _wait_for_first(ended, stop)
        stop.cancel()
        if ended.done():
            raise ServerFailedError(f"the HTTP server ended; is port {settings.port} taken?")
        worker.draining.set()
        worker.on_stop()


def _introduction(worker: Worker) -> str:
    settings, services, most = worker.settings, worker.services, worker.parts.occupancy.capacity
    infos = {feed: services.mirrors[feed].info for feed in services.configured()}
    simulated = ", ".join(feed for feed, info in infos.items() if info and info.simulated)
    note = f"; simulated data: {simulated}" if simulated else ""
    feeds = f", feeds on ws://{settings.host}:{settings.feed_port}" if settings.feed_port else ""
    served = f"{', '.join(infos) or 'no feed'}{note}{worker.notes}"
    most_feeds = f"; at most {most.feeds:,} feeds ({most.reason})"
    return f"{worker.name} on http://{settings.host}:{settings.port}{feeds}: {served}{most_feeds}"


async def _wait_for_first(*tasks: asyncio.Future[None]) -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


@contextlib.asynccontextmanager
async def run_loops(*loops: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs endless loops. If one fails, the whole worker ends with it."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_run(each)) for each in loops]
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as errors:
        # The first error says what happened, in one line.
        raise errors.exceptions[0] from None
    finally:
        # Python warns of a loop that was cancelled before it began.
        for each in loops:
            each.close()


async def _run(loop: Coroutine[Any, Any, None]) -> None:
    with fail_with_awaited_tasks():
        await loop


async def _wait_for_data(worker: Worker) -> None:
    """Waits for the first data, so that a worker that calls itself ready can answer.

    Waits FIRST_DATA_SECONDS for feeds without data, and BUS_SECONDS for a bus that does not answer.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    mirrors = [worker.services.mirrors[feed] for feed in worker.services.configured()]
    # Polls: it happens once, at the start, and is not worth an event in the mirror.
    while not all(mirror.loaded for mirror in mirrors):
        if loop.time() - began > (FIRST_DATA_SECONDS if worker.parts.listener.has_asked else BUS_SECONDS):
            return
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def _open_servers(
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
