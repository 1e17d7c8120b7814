"""One API worker: a mirror of every feed behind HTTP and WebSocket, on one event loop.

granian runs inside our own loop, so the worker can close its clients' connections before the server stops.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

import uvloop

from quotecast import parent
from quotecast.api.account_services import open_accounts, window_of
from quotecast.api.app import build_app
from quotecast.api.composition import capacity_of, make_edge, make_services, make_streams, make_throttle
from quotecast.api.edge.pages import Pages, built_pages
from quotecast.api.edge.repeats import Repeats
from quotecast.api.edge.requests import Requests, span_attributes
from quotecast.api.metrics import Worker, families
from quotecast.api.private import private_prefixes
from quotecast.api.routes.health import readiness_on_private_port
from quotecast.api.services import Services
from quotecast.api.serving import serve
from quotecast.asgi import App
from quotecast.bus.redis import RedisBus
from quotecast.cache.redis import RedisCache
from quotecast.environment import PREFIX
from quotecast.errors import ServerFailedError, SettingsError
from quotecast.feed.relay import Relay
from quotecast.limits.budget import budget
from quotecast.observe import metrics, tracing
from quotecast.observe.logs import configure_logs
from quotecast.redis import counts
from quotecast.settings.model import Settings
from quotecast.stream import ticker
from quotecast.stream.capacity import Capacity
from quotecast.stream.hubs import hub_of
from quotecast.stream.room import Room

FIRST_DATA_SECONDS: Final = 5.0
BUS_SECONDS: Final = 30.0
#: Reads of bars of the past per upstream and minute, over all workers; the present ones do not count.
PAST_READS: Final = 120


def run(settings: Settings) -> int:
    """Runs until it receives a signal to stop; returns the exit code."""
    _check(settings)
    configure_logs(level=settings.log_level, as_json=settings.mode == "production")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings))
    return 0


def _check(settings: Settings) -> None:
    """Raises SettingsError for settings that `up` gives its workers and that are missing here."""
    needed = {
        "REDIS_URL": (settings.redis_url, "name a Redis; `quotecast up` starts one of its own"),
        "DATABASE_URL": (settings.database_url, "name a PostgreSQL; `quotecast up` starts one of its own"),
        "JWT_SECRET": (settings.jwt_secret, "give a secret; `quotecast up` makes one of its own"),
    }
    missing = [f"{PREFIX}{name}: {what}" for name, (value, what) in needed.items() if not value]
    if missing:
        raise SettingsError("\n".join(missing))


async def _serve(settings: Settings) -> None:
    """The composition root: opens everything here, and closes it in the reverse order."""
    draining, serves = asyncio.Event(), asyncio.Event()
    redis = (settings.redis_url, settings.redis_prefix)
    async with contextlib.AsyncExitStack() as stack:
        traced = stack.enter_context(tracing.export_traces("quotecast-api"))
        bus = RedisBus(*redis)
        stack.push_async_callback(bus.close)
        window = await stack.enter_async_context(window_of(settings))
        cache = await stack.enter_async_context(RedisCache(*redis))
        accounts = await stack.enter_async_context(open_accounts(settings))
        budgets = await stack.enter_async_context(window_of(settings, ":budgets"))
        left: dict[str, int] = {}
        services = make_services(
            settings,
            bus=bus,
            cache=cache,
            accounts=accounts,
            budgets=partial(budget, budgets.check, left=left),
            past_reads=lambda upstream: budget(budgets.check, f"{upstream}'s past bars", PAST_READS),
            draining=draining,
        )
        hubs = {feed: hub_of(services.mirrors[feed], settings.heartbeat_ms) for feed in services.configured()}
        room = Room(capacity_of(settings))
        throttle = make_throttle(services, window, settings)
        routed = build_app(services, middleware=[throttle.middleware] if settings.limits == "on" else [])
        http = Repeats(routed, throttle=throttle, parameters=routed.state.documents.parameters)
        streams = make_streams(http, hubs, settings)
        requests = Requests()
        edge = traced(make_edge(streams, private_prefixes(routed), requests, settings), span_attributes)
        # The relay ignores data on the bus of a feed that no longer has a provider.
        relay = Relay(
            bus, {feed: services.mirrors[feed] for feed in services.configured()}, services.documents
        )
        await stack.enter_async_context(_run_loops(relay.run(), ticker.run(hubs.values())))
        counting = Worker(
            requests=requests,
            window=window,
            hubs=hubs,
            streams=streams,
            room=room,
            relay=relay,
            cache=cache,
            database=accounts.database,
            logins=accounts.logins,
            budgets=left,
            monotonic=time.monotonic,
        )
        ready = partial(readiness_on_private_port, services, serves.is_set)
        scraped = await stack.enter_async_context(_metrics_port(settings, partial(families, counting), ready))
        await _serve_until_stopped(
            edge,
            services,
            settings,
            relay=relay,
            room=room,
            drain=streams.drain,
            draining=draining,
            serves=serves,
            scraped=scraped,
        )


def _metrics_port(
    settings: Settings, worker: metrics.Source, ready: metrics.Readiness
) -> contextlib.AbstractAsyncContextManager[str]:
    return metrics.serve_metrics(
        settings.metrics_host, settings.metrics_port, worker, counts.families, readiness=ready
    )


async def _serve_until_stopped(
    edge: App,
    services: Services,
    settings: Settings,
    *,
    relay: Relay,
    room: Room,
    drain: Callable[[], Awaitable[None]],
    draining: asyncio.Event,
    serves: asyncio.Event,
    scraped: str,
) -> None:
    """Serves clients until a signal to stop. Raises ServerFailedError.

    Sets `serves` once the ports are open, and `draining` before they close.
    """
    stop = asyncio.create_task(parent.wait_for_stop())
    first = asyncio.create_task(_wait_for_data(services, relay))
    if parent.has_parent():
        # Other workers listen on the same port: a worker without data leaves the clients to them.
        await _wait_for_first(stop, first)
    if stop.done():
        return
    async with serve(Pages(edge, built_pages()), edge, settings, room, drain) as ended:
        serves.set()
        await _wait_for_first(ended, stop, first)
        first.cancel()
        if not ended.done():
            await _announce(_introduction(services, settings, room.capacity) + scraped, ended, stop)
        stop.cancel()
        if ended.done():
            raise ServerFailedError(f"the HTTP server ended; is port {settings.port} taken?")
        draining.set()


async def _announce(line: str, *tasks: asyncio.Task[None]) -> None:
    """Announces that the worker serves, and sends heartbeats to its parent until one of the tasks ends."""
    parent.announce(line)
    async with _run_loops(parent.beat()):
        await _wait_for_first(*tasks)


async def _wait_for_first(*tasks: asyncio.Task[None]) -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


@contextlib.asynccontextmanager
async def _run_loops(*loops: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
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


async def _wait_for_data(services: Services, relay: Relay) -> None:
    """Waits for the first data, so that a worker that calls itself ready can answer.

    Waits FIRST_DATA_SECONDS for feeds without data, and BUS_SECONDS for a bus that does not answer.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    feeds = services.configured()
    # Polls: it happens once, at the start, and is not worth an event in the mirror.
    while not all(services.mirrors[feed].loaded for feed in feeds):
        if loop.time() - began > (FIRST_DATA_SECONDS if relay.has_asked else BUS_SECONDS):
            return
        await asyncio.sleep(0.01)


def _introduction(services: Services, settings: Settings, most: Capacity) -> str:
    served = ", ".join(services.configured()) or "no feed"
    infos = {feed: services.mirrors[feed].info for feed in services.configured()}
    simulated = ", ".join(feed for feed, info in infos.items() if info and info.simulated)
    note = f"; simulated data: {simulated}" if simulated else ""
    feeds = f", feeds on ws://{settings.host}:{settings.feed_port}" if settings.feed_port else ""
    room = f"; at most {most.feeds:,} feeds ({most.reason})"
    return f"API worker on http://{settings.host}:{settings.port}{feeds}: {served}{note}{room}"
