"""One API worker: a mirror of every feed behind HTTP and WebSocket, on one event loop.

granian runs inside our own loop, so the worker can close its clients' connections before the server stops.
"""

import argparse
import asyncio
import contextlib
import sys
import time
from functools import partial
from typing import Final

import uvloop
from litestar import Litestar

from quotecast.access.reserve import Reserve
from quotecast.access.rollup import RollUp
from quotecast.alerts.events import users_after
from quotecast.api.accounts.alert_waits import Waker
from quotecast.api.gate.admin_services import Admin, open_admin
from quotecast.api.integrations.mcp import mcp_route
from quotecast.api.limits.repeats import Repeats
from quotecast.api.limits.requests import Requests, span_attributes
from quotecast.api.market.services import Services
from quotecast.api.metrics.metrics import ApiWorker, families
from quotecast.api.metrics.worker_report import report_loops
from quotecast.api.routes.market.health import readiness_on_private_port
from quotecast.api.worker.account_services import open_accounts, window_of
from quotecast.api.worker.app import build_app
from quotecast.api.worker.composition import (
    capacity_of,
    make_edge,
    make_gate,
    make_services,
    make_streams,
    make_throttle,
    with_caches,
)
from quotecast.api.worker.delayed_feeds import delayed_feeds
from quotecast.api.worker.lifetime import run_loops, serve_until_stopped, wait_for_data
from quotecast.api.worker.private import private_prefixes
from quotecast.asgi import App, Receive, Scope, Send
from quotecast.bus.redis import RedisBus
from quotecast.cache.redis import RedisCache
from quotecast.database.database import Database
from quotecast.environment import PREFIX
from quotecast.errors import SettingsError
from quotecast.feed.relay import Relay
from quotecast.limits.budget import budget
from quotecast.limits.window import Window
from quotecast.mcp.door import Door
from quotecast.observe import metrics, tracing
from quotecast.observe.logs import configure_logs
from quotecast.redis import counts
from quotecast.settings.mcp import serves_mcp
from quotecast.settings.model import Settings
from quotecast.settings.plans import plans_of
from quotecast.stream import ticker
from quotecast.stream.capacity import Capacity
from quotecast.stream.client import connection_id
from quotecast.stream.feed_hubs import FeedHubs
from quotecast.stream.hubs import hub_of
from quotecast.stream.relays import Relays
from quotecast.stream.room import Room

#: Reads of bars of the past per upstream and minute, over all workers; the present ones do not count.
PAST_READS: Final = 120
#: Seconds for which a thread that reads bars may keep the interpreter from the event loop. The default is ten
#: times as long, and every request waits for it several times.
SWITCH_SECONDS: Final = 0.0005


def run(settings: Settings, _: argparse.Namespace) -> int:
    """Runs until it receives a signal to stop; returns the exit code."""
    _check(settings)
    configure_logs(level=settings.log_level, as_json=settings.mode == "production")
    sys.setswitchinterval(SWITCH_SECONDS)
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
        window = await stack.enter_async_context(window_of(settings, leasing=True))
        cache = await stack.enter_async_context(RedisCache(*redis))
        plans = plans_of(settings)
        accounts = await stack.enter_async_context(open_accounts(settings, plans))
        admin = await stack.enter_async_context(open_admin(settings, plans))
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
        late = await stack.enter_async_context(delayed_feeds(settings, hubs))
        all_hubs = FeedHubs(hubs, late.hubs, settings.delay_seconds)
        room = Room(capacity_of(settings))

        async def through_edge(scope: Scope, receive: Receive, send: Send) -> None:
            await edge(scope, receive, send)

        # Tools read as any client does, through the edge, which is made of the routes.
        door = Door(settings, through_edge)
        routed, http = _routes(services, window, door, settings, admin=admin and admin[0])
        relays = Relays(bus, settings.relay_secret)
        streams = make_streams(http, all_hubs, settings, relays)
        accounts.keys.follow(streams.clients)
        gate = make_gate(streams, services, plans, settings, late.market, http=http, table=routed.state.table)
        requests = Requests()
        edge = traced(make_edge(gate, private_prefixes(routed), requests, settings), span_attributes)
        # The relay ignores data on the bus of a feed that no longer has a provider.
        mirrors = {feed: hub.mirror for feed, hub in hubs.items()}
        relay = Relay(bus, mirrors, services.documents, on_message=relays.publish)
        reserve = await stack.enter_async_context(Reserve(*redis))
        roll_up = RollUp(accounts.keys.usage, accounts.database, reserve, worker=connection_id())
        # After the loops and the clients have ended: then nothing counts any more.
        stack.push_async_callback(roll_up.flush)
        waker = Waker(services.alerts.waits, bus.announcements, partial(_users_after, accounts.database))
        await stack.enter_async_context(
            run_loops(
                relay.run(),
                ticker.run(all_hubs.named().values()),
                *late.loops,
                waker.follow_hints(),
                waker.follow_events(),
                door.run(),
                accounts.keys.book.run(),
                accounts.keys.shared.run(),
                roll_up.run(),
            )
        )
        counting = ApiWorker(
            requests=requests,
            window=window,
            hubs=all_hubs.named(),
            streams=streams,
            room=room,
            relay=relay,
            relays=relays,
            cache=cache,
            database=accounts.database,
            logins=accounts.logins,
            keys=accounts.keys,
            waits=services.alerts.waits,
            budgets=left,
            calls=door.calls,
            monotonic=time.monotonic,
        )
        await stack.enter_async_context(run_loops(*report_loops(admin, counting, services.providers)))
        ready = partial(readiness_on_private_port, services, serves.is_set)
        scraped = await stack.enter_async_context(_metrics_port(settings, partial(families, counting), ready))
        await serve_until_stopped(
            edge,
            settings,
            loaded=partial(wait_for_data, relay, hubs),
            introduction=lambda: _introduction(services, settings, room.capacity) + scraped,
            room=room,
            drain=streams.drain,
            draining=draining,
            serves=serves,
            on_stop=services.alerts.waits.end,
            with_admin=admin is not None,
        )


def _routes(
    services: Services, window: Window, door: Door, settings: Settings, *, admin: Admin | None
) -> tuple[Litestar, App]:
    """Returns the routed application, and the one in front that answers repeated reads."""
    throttle = make_throttle(services, window, settings)
    routed = build_app(
        services,
        extra_handlers=[mcp_route(door)] if serves_mcp(settings, settings.mode) else [],
        middleware=[throttle.middleware] if settings.limits != "off" else [],
        admin=admin,
    )
    repeats = Repeats(routed, throttle=throttle, parameters=routed.state.documents.parameters)
    return routed, with_caches(repeats, settings)


async def _users_after(database: Database, event_id: int | None) -> tuple[int, list[str]]:
    return await database.session(partial(users_after, event_id=event_id))


def _metrics_port(
    settings: Settings, worker: metrics.Source, ready: metrics.Readiness
) -> contextlib.AbstractAsyncContextManager[str]:
    return metrics.serve_metrics(
        settings.metrics_host, settings.metrics_port, worker, counts.families, readiness=ready
    )


def _introduction(services: Services, settings: Settings, most: Capacity) -> str:
    served = ", ".join(services.configured()) or "no feed"
    infos = {feed: services.mirrors[feed].info for feed in services.configured()}
    simulated = ", ".join(feed for feed, info in infos.items() if info and info.simulated)
    note = f"; simulated data: {simulated}" if simulated else ""
    feeds = f", feeds on ws://{settings.host}:{settings.feed_port}" if settings.feed_port else ""
    tools = "; tools for language models on /mcp" if serves_mcp(settings, settings.mode) else ""
    late = f"; delayed plans, {settings.delay_seconds} s late" if settings.delay_seconds else ""
    room = f"; at most {most.feeds:,} feeds ({most.reason})"
    return f"API worker on http://{settings.host}:{settings.port}{feeds}: {served}{note}{late}{tools}{room}"
