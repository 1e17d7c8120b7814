"""The programs of a world: the service's own compositions, without granian and PostgreSQL."""

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from quotecast import garbage, parent
from quotecast.access.grant import Grant
from quotecast.access.plans import Plan
from quotecast.access.request_state import request_state
from quotecast.api.limits.repeats import Repeats
from quotecast.api.market.services import NO_PROVIDER, Services
from quotecast.api.worker.account_services import window_of
from quotecast.api.worker.composition import make_parts, make_throttle
from quotecast.api.worker.delayed_feeds import delayed_feeds
from quotecast.api.worker.lifetime import run_loops
from quotecast.bus.redis import RedisBus
from quotecast.bus.remote import RemoteBus
from quotecast.feed.mirror import Mirror
from quotecast.ingest import main as ingest_main
from quotecast.ingest import sources
from quotecast.limits.window import Window
from quotecast.market.feeds import Feed
from quotecast.settings.model import Settings
from quotecast.stream import outlet, ticker
from quotecast.stream.listeners import connection_factory
from support.made.factories import app_of, services
from world.clock import PROCESS
from world.reader import LIMIT
from world.upstream import Upstream, Venue

PORT: Final = 8000
#: Milliseconds between heartbeats: short, so that pages notice a dead server soon.
HEARTBEAT_MS: Final = 2000
SECRET: Final = "known-to-every-process-of-a-world"
_DELAYED: Final = Plan(freshness="delayed")


def settings_of(feeds: Sequence[Feed], delay_seconds: int) -> Settings:
    """Returns the settings of every process; the other feeds have no provider."""
    others: Any = {str(feed): "none" for feed in Feed if feed not in feeds}
    others |= {f"limit_{feed.spec.name}": LIMIT for feed in Feed}
    return Settings(
        redis_url="redis://redis:6379",
        redis_prefix="world",
        metrics_port=0,
        admin="off",
        relay_secret=SECRET,
        origin_secret=SECRET,
        sockets_per_worker=10_000,
        sockets_per_address=0,
        delay_seconds=delay_seconds,
        heartbeat_ms=HEARTBEAT_MS,
        **others,
    )


def prepare(venues: Mapping[Feed, Venue], announce: Any) -> None:
    """Replaces what reaches outside of the world: vendors, the terminal, and sockets past the transport."""
    sources.quote_providers = lambda *_: [Upstream(venue) for venue in venues.values()]
    sources.document_sources = lambda *_: []
    parent.announce = announce
    garbage.freeze_present_objects = lambda: None
    outlet.direct_socket = lambda transport: transport.get_extra_info("socket")


async def run_ingest(settings: Settings) -> None:
    """Runs the ingest."""
    await ingest_main._serve(settings)


async def run_worker(settings: Settings) -> None:
    """Runs a worker that serves the feeds, live and delayed."""
    bus = RedisBus(settings.redis_url, settings.redis_prefix)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(bus.close)
        window = await stack.enter_async_context(window_of(settings, leasing=True))
        await _serve(stack, settings, bus, window)


async def run_edge(settings: Settings, origin: str) -> None:
    """Runs an edge that follows a worker."""
    bus = RemoteBus(f"ws://{origin}:{PORT}", SECRET)
    async with contextlib.AsyncExitStack() as stack:
        window = await stack.enter_async_context(window_of(settings))
        await _serve(stack, settings, bus, window)


async def _serve(
    stack: contextlib.AsyncExitStack, settings: Settings, bus: RedisBus | RemoteBus, window: Window
) -> None:
    market = _services(settings)
    late = await stack.enter_async_context(delayed_feeds(settings, market.configured()))
    throttle = make_throttle(window, settings, market.names.find, client_host)
    routed = app_of(market, throttle=throttle)
    http = Repeats(routed, throttle=throttle, parameters=routed.state.documents.parameters)
    parts = make_parts(bus, market, window, http, settings, late_hubs=late.hubs)
    factory = connection_factory(partial(_with_grant, parts.streams), parts.occupancy)
    loops = run_loops(parts.relay.run(), ticker.run(parts.hubs.values()), *late.loops)
    async with loops:
        server = await asyncio.get_running_loop().create_server(factory, settings.host, PORT)
        try:
            process = PROCESS.get()
            process.parts, process.http = parts, http
            await asyncio.Event().wait()
        finally:
            process.http = None
            server.close()
            await parts.streams.drain()


async def _with_grant(app: Any, scope: Any, receive: Any, send: Any) -> None:
    """Gives the clients of the path `/late` the rights of a delayed plan."""
    if scope["path"].startswith("/late"):
        scope["path"] = scope["path"].removeprefix("/late")
        request_state(scope).grant = Grant("late", _DELAYED)
    await app(scope, receive, send)


def client_host(scope: Any) -> str:
    """Returns the address of a client."""
    host: str = scope["client"][0]
    return host


def _services(settings: Settings) -> Services:
    return services(
        {feed: Mirror(feed) for feed in Feed},
        providers={feed: ",".join(settings.providers_of(feed)) or NO_PROVIDER for feed in Feed},
        clock=time.time,
        monotonic=time.monotonic,
    )
