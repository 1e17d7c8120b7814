"""One API worker: a mirror of every feed behind HTTP and WebSocket, on one event loop.

granian runs inside our own loop, so the worker can close its clients' connections before the server stops.
"""

import argparse
import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import uvloop
from litestar import Litestar
from msgspec import Struct, structs

from quotecast.access.rollup import Reserve, RollUp
from quotecast.alerts.events import users_after
from quotecast.api.accounts.alert_waits import Waker
from quotecast.api.gate.identity import identify_by_user, valid_claims
from quotecast.api.gate.operators import Admin, open_admin
from quotecast.api.integrations.mcp import McpApp, mcp_route
from quotecast.api.limits.requests import span_attributes
from quotecast.api.market.services import Accounts, Services
from quotecast.api.metrics.metrics import ApiWorkerParts, families
from quotecast.api.metrics.worker_report import report_loops
from quotecast.api.views.delayed import DelayedMarket
from quotecast.api.views.views import Views
from quotecast.api.worker.account_services import window_of
from quotecast.api.worker.app import build_app, private_prefixes
from quotecast.api.worker.composition import (
    in_front,
    make_gate,
    make_middleware,
    make_parts,
    make_replays,
    make_throttle,
    observers_of,
    open_services,
)
from quotecast.api.worker.lifetime import Worker, serve
from quotecast.asgi import App, Receive, Scope, Send
from quotecast.bus.redis import RedisBus
from quotecast.environment import PREFIX
from quotecast.errors import SettingsError
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.documents import Documents
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.limits.window import Window
from quotecast.market.feeds import Feed
from quotecast.observe import tracing
from quotecast.observe.logs import configure_logs
from quotecast.settings.mcp import serves_mcp
from quotecast.settings.model import Settings
from quotecast.settings.plans import delayed_prefix, plans_of
from quotecast.stream.client import connection_id
from quotecast.stream.hubs import hub_of

#: Seconds for which a thread that reads bars may keep the interpreter from the event loop. The default is ten
#: times as long, and every request waits for it several times.
SWITCH_SECONDS: Final = 0.0005


class _DelayedFeeds(Struct, frozen=True):
    """The delayed market, its hubs, and the endless loops that the worker runs for them."""

    market: DelayedMarket | None
    hubs: Mapping[Feed, Hub]
    loops: Sequence[Coroutine[Any, Any, None]]


def run(settings: Settings, _: argparse.Namespace) -> int:
    """Runs until it receives a signal to stop; returns the exit code."""
    _check(settings)
    configure_logs(level=settings.log_level, as_json=settings.mode == "production")
    sys.setswitchinterval(SWITCH_SECONDS)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(partial(_worker, settings=settings)))
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


async def _worker(stack: contextlib.AsyncExitStack, settings: Settings) -> Worker:
    """The composition root of a worker."""
    traced = stack.enter_context(tracing.export_traces("quotecast-api"))
    draining, plans = asyncio.Event(), plans_of(settings)
    opened = await stack.enter_async_context(open_services(settings, plans, draining))
    services, accounts = opened.services, opened.services.accounts
    window = await stack.enter_async_context(window_of(settings, leasing=True))
    admin = await stack.enter_async_context(open_admin(settings, plans))
    late = await stack.enter_async_context(_open_delayed_feeds(settings, services.configured()))

    async def whole(scope: Scope, receive: Receive, send: Send) -> None:
        await app(scope, receive, send)

    # Tools read as any client does, through the whole application, which is made of the routes.
    mcp = McpApp(settings, whole)
    routed, http = _routes(services, window, mcp, settings, admin=admin and admin[0])
    feeds = make_parts(
        opened.bus, services, window, http, settings, late_hubs=late.hubs, replays=make_replays(settings)
    )
    parts = ApiWorkerParts(
        **structs.asdict(feeds),
        cache=opened.cache,
        database=accounts.database,
        logins=accounts.logins,
        keys=accounts.keys,
        waits=services.alerts.waits,
        budgets=opened.left,
        calls=mcp.calls,
    )
    accounts.keys.follow(parts.streams.clients)
    gate = make_gate(
        parts.streams,
        routed.state.table,
        settings,
        http=http,
        finder=accounts.keys,
        usage=accounts.keys.usage,
        plans=plans,
        views=Views(services, late.market),
        claims_of=valid_claims(accounts.tokens),
    )
    observers = observers_of(parts.requests, settings)
    app = traced(make_middleware(gate, private_prefixes(routed), settings, observers), span_attributes)
    roll_up = await _roll_up(stack, accounts, settings)
    waker = _waker(opened.bus, services)
    own_loops = [waker.follow_hints(), waker.follow_events(), mcp.run(), roll_up.run()]
    keys_loops = [accounts.keys.book.run(), accounts.keys.shared.run()]
    return Worker(
        name="API worker",
        settings=settings,
        services=services,
        app=app,
        parts=parts,
        families=partial(families, parts),
        loops=[*late.loops, *own_loops, *keys_loops, *report_loops(admin, parts, services.providers)],
        draining=draining,
        on_stop=services.alerts.waits.end,
        with_admin=admin is not None,
        notes=_notes(settings),
    )


@contextlib.asynccontextmanager
async def _open_delayed_feeds(settings: Settings, feeds: Iterable[Feed]) -> AsyncIterator[_DelayedFeeds]:
    """Opens the delayed feeds of the configured ones; none without a delay."""
    seconds = settings.delay_seconds
    if not seconds:
        yield _DelayedFeeds(None, {}, ())
        return
    bus = RedisBus(settings.redis_url, delayed_prefix(settings))
    mirrors, documents = {feed: Mirror(feed) for feed in Feed}, Documents()
    hubs = {feed: hub_of(mirrors[feed], settings.heartbeat_ms, late_seconds=seconds) for feed in feeds}
    listener = BusListener(bus, {feed: hub.mirror for feed, hub in hubs.items()}, documents)
    try:
        yield _DelayedFeeds(DelayedMarket(mirrors, documents, seconds), hubs, [listener.run()])
    finally:
        await bus.close()


def _waker(bus: RedisBus, services: Services) -> Waker:
    """Returns what wakes the requests that wait for events of alerts."""
    session = services.accounts.database.session
    return Waker(
        services.alerts.waits,
        bus.announcements,
        lambda event_id: session(partial(users_after, event_id=event_id)),
    )


def _routes(
    services: Services, window: Window, mcp: McpApp, settings: Settings, *, admin: Admin | None
) -> tuple[Litestar, App]:
    """Returns the routed application, and the one in front that answers repeated reads."""
    accounts = services.accounts
    identify = identify_by_user(accounts.tokens, accounts.address_of)
    throttle = make_throttle(window, settings, services.names.find, identify)
    routed = build_app(
        services,
        extra_handlers=[mcp_route(mcp)] if serves_mcp(settings, settings.mode) else [],
        middleware=[throttle.middleware] if settings.limits != "off" else [],
        admin=admin,
    )
    return routed, in_front(routed, throttle, settings)


async def _roll_up(stack: contextlib.AsyncExitStack, accounts: Accounts, settings: Settings) -> RollUp:
    """Returns the roll-up of the usage of keys."""
    reserve = await stack.enter_async_context(Reserve(settings.redis_url, settings.redis_prefix))
    roll_up = RollUp(accounts.keys.usage, accounts.database, reserve, worker=connection_id())
    # After the loops and the clients have ended: then nothing counts any more.
    stack.push_async_callback(roll_up.flush)
    return roll_up


def _notes(settings: Settings) -> str:
    late = f"; delayed plans, {settings.delay_seconds} s late" if settings.delay_seconds else ""
    tools = "; tools for language models on /mcp" if serves_mcp(settings, settings.mode) else ""
    return late + tools
