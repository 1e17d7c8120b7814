"""The programs of a world: the service's own compositions, without granian and PostgreSQL."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from quotecast import garbage, parent
from quotecast.access import rollup
from quotecast.alerts import delivery
from quotecast.api import main as api_main
from quotecast.api.market.services import NO_PROVIDER, Services
from quotecast.api.metrics.metrics import WorkerParts
from quotecast.api.worker import account_services, composition
from quotecast.api.worker.account_services import window_of
from quotecast.api.worker.composition import in_front, make_parts, make_throttle
from quotecast.api.worker.lifetime import run_loops
from quotecast.asgi import App
from quotecast.bus import wire
from quotecast.bus.remote import RemoteBus
from quotecast.feed.mirror import Mirror
from quotecast.ingest import alerts as ingest_alerts
from quotecast.ingest import main as ingest_main
from quotecast.ingest import recording, sources
from quotecast.market.feeds import Feed
from quotecast.settings.model import Settings
from quotecast.stream import outlet, ticker
from quotecast.stream.server import connection_factory
from support.made.factories import app_of, services
from world import webhooks
from world.clock import PROCESS
from world.reader import LIMIT
from world.upstream import Upstream, Venue

PORT: Final = 8000
#: Seconds between two roll-ups of usage: few, as a world is short.
ROLL_UP_SECONDS: Final = 2.0
DATABASE_PORT: Final = 5432
DATABASE: Final = f"postgresql://quotecast@postgres:{DATABASE_PORT}/quotecast?sslmode=disable"
#: Milliseconds between heartbeats: short, so that pages notice a dead server soon.
HEARTBEAT_MS: Final = 2000
SECRET: Final = "known-to-every-process-of-a-world"


def settings_of(feeds: Sequence[Feed], redis_url: str, delay_seconds: int = 0, history: str = "") -> Settings:
    """Returns the settings of every process; the other feeds have no provider.

    With a folder for it, ingests record what they publish.
    """
    others: Any = {str(feed): "none" for feed in Feed if feed not in feeds}
    others |= {f"limit_{feed.spec.name}": LIMIT for feed in Feed}
    return Settings(
        redis_url=redis_url,
        redis_prefix="world",
        database_url=DATABASE,
        metrics_port=0,
        admin="off",
        mcp="off",
        financials="none",
        jwt_secret=SECRET,
        relay_secret=SECRET,
        origin_secret=SECRET,
        sockets_per_worker=10_000,
        sockets_per_address=0,
        delay_seconds=delay_seconds,
        heartbeat_ms=HEARTBEAT_MS,
        history="1h" if history else "off",
        history_store=history,
        **others,
    )


def prepare(venues: Mapping[Feed, Venue], announce: Any, make_recorder: Any) -> None:
    """Replaces what reaches outside of the world: vendors, the terminal, threads and sockets.

    Nobody logs in; the routes are made once. Claims and pauses of deliveries are short, as a world is.
    """
    for module, name, other in (
        (sources, "quote_providers", lambda *_: [Upstream(venue) for venue in venues.values()]),
        (sources, "document_sources", lambda *_: []),
        (composition, "history_providers", lambda *_: {}),
        (api_main, "build_app", _app_of),
        (account_services, "Passwords", contextlib.nullcontext),
        (recording, "SegmentRecorder", make_recorder),
        (rollup, "ROLL_UP_SECONDS", ROLL_UP_SECONDS),
        (ingest_alerts, "make_outbound", webhooks.make_outbound),
        (delivery, "LEASE_SECONDS", webhooks.CLAIM_SECONDS),
        (delivery, "FIRST_PAUSE", 0.5),
        (delivery, "LONGEST_PAUSE", 2.0),
        (wire, "encode", partial(_encoded, wire.encode)),
        (parent, "announce", announce),
        (garbage, "freeze_present_objects", lambda: None),
        (outlet, "direct_socket", lambda transport: transport.get_extra_info("socket")),
    ):
        setattr(module, name, other)


def _encoded(encode: Callable[[Any], bytes], value: Any) -> bytes:
    """Returns a value for the bus; a newer release adds what the present one does not know."""
    data = encode(value)
    if not PROCESS.get().host.is_newer or not isinstance(value, msgspec.Struct):
        return data
    fields = msgspec.msgpack.decode(data)
    if isinstance(fields, dict):
        fields["added"] = {"by": ["a newer release"]}
    else:
        fields.append("added")
    return encode(fields)


async def run_ingest(settings: Settings) -> None:
    """Runs the ingest."""
    await ingest_main._serve(settings)


async def run_worker(settings: Settings) -> None:
    """Runs a worker that serves the feeds, live and delayed."""
    async with contextlib.AsyncExitStack() as stack:
        worker = await api_main._worker(stack, settings)
        await _serve(worker.app, worker.app, worker.parts, settings, worker.loops)


async def run_edge(settings: Settings, origin: str) -> None:
    """Runs an edge that follows a worker."""
    bus = RemoteBus(f"ws://{origin}:{PORT}", SECRET)
    async with contextlib.AsyncExitStack() as stack:
        window = await stack.enter_async_context(window_of(settings))
        market = _services(settings)
        throttle = make_throttle(window, settings, market.names.find, client_host)
        http = in_front(app_of(market, throttle=throttle), throttle, settings)
        parts = make_parts(bus, market, window, http, settings)
        await _serve(parts.streams, http, parts, settings)


async def _serve(
    app: App,
    http: App,
    parts: WorkerParts,
    settings: Settings,
    loops: Sequence[Coroutine[Any, Any, None]] = (),
) -> None:
    """Serves until the process stops: feeds over connections, `http` for readers."""
    factory = connection_factory(app, parts.occupancy)
    async with run_loops(parts.listener.run(), ticker.run(parts.hubs.values()), *loops):
        server = await asyncio.get_running_loop().create_server(factory, settings.host, PORT)
        process = PROCESS.get()
        process.parts, process.http = parts, http
        try:
            await asyncio.Event().wait()
        finally:
            process.http = None
            server.close()
            await parts.streams.drain()


def _app_of(services: Services, *, middleware: Sequence[Any], **_: Any) -> Any:
    """Returns the routes, which all workers share, behind the limits of a worker."""
    (limits,) = middleware
    return app_of(services, throttle=limits.__self__)


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
