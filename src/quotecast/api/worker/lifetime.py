"""The life of a worker: it waits for data, serves until a signal to stop, and closes its clients first."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final

from quotecast import parent
from quotecast.api.middleware.pages import Pages, build_time, built_folder, built_pages, can_build
from quotecast.api.worker.serving import serve
from quotecast.asgi import App
from quotecast.errors import ServerFailedError
from quotecast.feed.hub import Hub
from quotecast.feed.relay import Relay
from quotecast.garbage import freeze_present_objects
from quotecast.market.feeds import Feed
from quotecast.settings.model import Settings
from quotecast.stream.room import Room

FIRST_DATA_SECONDS: Final = 5.0
BUS_SECONDS: Final = 30.0


async def serve_until_stopped(
    app: App,
    settings: Settings,
    *,
    loaded: Callable[[], Awaitable[None]],
    introduction: Callable[[], str],
    room: Room,
    drain: Callable[[], Awaitable[None]],
    draining: asyncio.Event,
    serves: asyncio.Event,
    on_stop: Callable[[], None] = lambda: None,
    with_admin: bool = False,
) -> None:
    """Serves clients until a signal to stop, `with_admin` the operator's page too. Raises ServerFailedError.

    Sets `serves` once the ports are open, and `draining` before they close; announces the worker when it has
    `loaded` the first data.
    """
    stop = asyncio.create_task(parent.wait_for_stop())
    first = asyncio.ensure_future(loaded())
    if parent.has_parent():
        # Other workers listen on the same port: a worker without data leaves the clients to them.
        await _wait_for_first(stop, first)
    if stop.done():
        return
    folder = built_folder()
    built = build_time(folder)
    pages = Pages(app, built_pages(folder, with_admin=with_admin))
    builds = [pages.follow_builds(folder, built, with_admin=with_admin)] if can_build(folder) else []
    async with run_loops(*builds), serve(pages, app, settings, room, drain) as ended:
        serves.set()
        await _wait_for_first(ended, stop, first)
        first.cancel()
        freeze_present_objects()
        if not ended.done():
            await _announce(introduction(), ended, stop)
        stop.cancel()
        if ended.done():
            raise ServerFailedError(f"the HTTP server ended; is port {settings.port} taken?")
        draining.set()
        on_stop()


async def _announce(line: str, *tasks: asyncio.Task[None]) -> None:
    """Announces that the worker serves, and sends heartbeats to its parent until one of the tasks ends."""
    parent.announce(line)
    async with run_loops(parent.beat()):
        await _wait_for_first(*tasks)


async def _wait_for_first(*tasks: asyncio.Future[None]) -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


@contextlib.asynccontextmanager
async def run_loops(*loops: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs endless loops. If one ends or fails, the whole worker ends with it."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in loops]
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as errors:
        # The first error says what happened, in one line.
        raise errors.exceptions[0] from None


async def wait_for_data(relay: Relay, hubs: Mapping[Feed, Hub]) -> None:
    """Waits for the first data, so that a worker that calls itself ready can answer.

    Waits FIRST_DATA_SECONDS for feeds without data, and BUS_SECONDS for a bus that does not answer.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    # Polls: it happens once, at the start, and is not worth an event in the mirror.
    while not all(hub.mirror.loaded for hub in hubs.values()):
        if loop.time() - began > (FIRST_DATA_SECONDS if relay.has_asked else BUS_SECONDS):
            return
        await asyncio.sleep(0.01)
