"""An edge: a worker near its clients that follows the feeds of another installation over one socket.

It has no database, no upstream and no bus of its own. It answers what the feeds answer, and forwards all
other requests to the origin. Edges can follow edges.
"""

import argparse
import asyncio
import contextlib
import re
import time
from functools import partial
from typing import Final

import uvloop
from litestar import Litestar
from msgspec.structs import replace

from quotecast.access.book import Holder
from quotecast.access.errors import OutOfScope
from quotecast.access.usage import Usage
from quotecast.api.edge.feed_routes import ROUTERS
from quotecast.api.edge.forward import Forward, dispatch, refuse
from quotecast.api.gate.addresses import client_address, identify_by_address, networks
from quotecast.api.gate.admissions import credential_of
from quotecast.api.gate.gate import Everybody, Gate
from quotecast.api.limits.repeats import Repeats
from quotecast.api.limits.requests import Requests, span_attributes
from quotecast.api.limits.throttle import Throttle
from quotecast.api.market.names import Names
from quotecast.api.market.past import Past
from quotecast.api.market.searching import Searches
from quotecast.api.market.services import NO_PROVIDER, MarketServices
from quotecast.api.metrics.metrics import Worker, feed_families
from quotecast.api.middleware.ambiguity import is_ambiguous
from quotecast.api.route_table import Table
from quotecast.api.routes.market.health import readiness_on_private_port
from quotecast.api.views.views import Views
from quotecast.api.worker.account_services import window_of
from quotecast.api.worker.app import build_app
from quotecast.api.worker.composition import capacity_of, limits_of, make_edge, observers_of, with_caches
from quotecast.api.worker.lifetime import run_loops, serve_until_stopped, wait_for_data
from quotecast.asgi import App, Scope
from quotecast.bus.relay import RelayBus
from quotecast.environment import PREFIX, value_of
from quotecast.errors import SettingsError
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.feed.relay import Relay
from quotecast.limits.alone import WindowAlone
from quotecast.limits.window import Window
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from quotecast.observe import metrics, tracing
from quotecast.observe.logs import configure_logs
from quotecast.providers import reference
from quotecast.providers.quotecast.offer import Origin
from quotecast.redis import counts
from quotecast.settings.checks import UNENCRYPTED, sends_secret_unencrypted
from quotecast.settings.model import Settings
from quotecast.settings.plans import plans_of
from quotecast.stream import ticker
from quotecast.stream.endpoint import Streams
from quotecast.stream.feed_hubs import FeedHubs
from quotecast.stream.hubs import hub_of
from quotecast.stream.relays import Relays
from quotecast.stream.room import Room

#: The name of the provider of every feed.
ORIGIN: Final = "origin"


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Runs until it receives a signal to stop; returns the exit code."""
    if arguments.origin:
        settings = replace(settings, origin=value_of(f"{PREFIX}ORIGIN", arguments.origin, Origin))
    _check(settings)
    configure_logs(level=settings.log_level, as_json=settings.mode == "production")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings))
    return 0


def _check(settings: Settings) -> None:
    needed = {
        "ORIGIN": (settings.origin, "name an installation: `quotecast edge wss://quotes.example.com`"),
        "ORIGIN_SECRET": (settings.origin_secret, "give the QUOTECAST_RELAY_SECRET of the origin"),
    }
    problems = [f"{PREFIX}{name}: {what}" for name, (value, what) in needed.items() if not value]
    if settings.delay_seconds:
        problems.append(f"{PREFIX}DELAY_SECONDS: an edge has live feeds only; leave it at 0")
    if settings.limits == "edge":
        problems.append(
            f"{PREFIX}LIMITS=edge: caches ask only the workers of an installation; an edge takes `on`"
        )
    if settings.mode == "production" and sends_secret_unencrypted(settings):
        problems.append(f"{PREFIX}ORIGIN: {UNENCRYPTED}")
    if problems:
        raise SettingsError("\n".join(problems))


#: Paths that the origin alone has, however many slashes they have: it takes several for one. Feeds of an edge
#: know no users, so their clients need no tickets.
_ORIGIN_ONLY: Final = re.compile("/+((api/+)?admin(/|$)|api/+auth/+ticket/*$)")


async def _serve(settings: Settings) -> None:
    """The composition root: opens everything here, and closes it in the reverse order."""
    draining, serves = asyncio.Event(), asyncio.Event()
    bus = RelayBus(settings.origin, settings.origin_secret)
    services = _services(bus, settings, draining)
    hubs = {feed: hub_of(services.mirrors[feed], settings.heartbeat_ms) for feed in services.configured()}
    all_hubs = FeedHubs(hubs)
    room, requests = Room(capacity_of(settings)), Requests()
    async with contextlib.AsyncExitStack() as stack:
        traced = stack.enter_context(tracing.export_traces("quotecast-edge"))
        window = await stack.enter_async_context(window_of(settings)) if settings.redis_url else WindowAlone()
        routed, http = _routes(services, window, settings)
        relays = Relays(bus, settings.relay_secret)
        streams = Streams(
            http,
            all_hubs,
            heartbeat_ms=settings.heartbeat_ms,
            sockets_per_address=settings.sockets_per_address,
            address_of=identify_by_address(settings.trusted_proxies),
            relays=relays,
        )
        gate = _gate(streams, routed.state.table, services, settings)
        local = traced(make_edge(gate, (), requests, settings), span_attributes)
        forward = Forward(
            settings.origin,
            settings.trusted_proxies,
            refusing=make_edge(refuse, (), requests, settings),
            observers=observers_of(requests, settings),
        )
        stack.push_async_callback(forward.close)
        app = dispatch(local, forward, partial(is_local, routed.state.table))
        mirrors = {feed: hub.mirror for feed, hub in hubs.items()}
        relay = Relay(bus, mirrors, services.documents, on_message=relays.publish)
        await stack.enter_async_context(run_loops(relay.run(), ticker.run(hubs.values())))
        counting = Worker(
            requests=requests,
            window=window,
            hubs=all_hubs.named(),
            streams=streams,
            room=room,
            relay=relay,
            relays=relays,
            monotonic=time.monotonic,
        )
        scraped = await stack.enter_async_context(
            metrics.serve_metrics(
                settings.metrics_host,
                settings.metrics_port,
                partial(feed_families, counting),
                counts.families,
                readiness=partial(readiness_on_private_port, services, serves.is_set),
            )
        )
        await serve_until_stopped(
            app,
            settings,
            loaded=partial(wait_for_data, relay, hubs),
            introduction=lambda: _introduction(services, settings, window, room) + scraped,
            room=room,
            drain=streams.drain,
            draining=draining,
            serves=serves,
        )


def _routes(
    services: MarketServices, window: Window | WindowAlone, settings: Settings
) -> tuple[Litestar, App]:
    """Returns the routed application, and the one in front that answers repeated reads."""
    address_of = identify_by_address(settings.trusted_proxies)
    throttle = Throttle(
        window.check,
        window.give_back,
        limits=limits_of(settings),
        find=services.names.find,
        identify=address_of,
        by_address=address_of,
    )
    routed = build_app(
        services, routers=ROUTERS, middleware=[throttle.middleware] if settings.limits != "off" else []
    )
    repeats = Repeats(routed, throttle=throttle, parameters=routed.state.documents.parameters)
    return routed, with_caches(repeats, settings)


class _NoKeys:
    """Refuses keys and tickets, which only the origin knows."""

    state = None

    async def find(self, _text: str, _address: str) -> Holder:
        """Raises OutOfScope."""
        raise OutOfScope("This edge opens feeds without API keys; connect to the origin with yours")

    async def use_ticket(self, _ticket: str) -> Holder:
        """Raises OutOfScope."""
        return await self.find("", "")

    async def find_session(self, _session_id: str) -> Holder:
        """Raises OutOfScope."""
        return await self.find("", "")

    async def is_open_session(self, _session_id: str) -> bool:
        """Returns False."""
        return False

    async def take_place(self, _holder: Holder, _name: str) -> bool:
        """Returns False."""
        return False

    async def leave_place(self, _holder: Holder, _name: str) -> None:
        """Does nothing."""


def _gate(app: App, table: Table, services: MarketServices, settings: Settings) -> Gate:
    """Returns the application behind the bounds of the plan of everybody."""
    trusted = networks(settings.trusted_proxies)
    return Gate(
        app,
        table,
        finder=_NoKeys(),
        usage=Usage(),
        everybody=Everybody.of(plans_of(settings)),
        views=Views(services),
        address_of=identify_by_address(settings.trusted_proxies),
        client_of=lambda scope: client_address(scope, trusted),
        claims_of=lambda _scope: None,
        clock=services.clock,
    )


def is_local(table: Table, scope: Scope) -> bool:
    """Whether the edge answers a request itself. It has no history and knows no keys."""
    route = table.route_of(scope)
    if route is not None and route.is_stream:
        return True
    # An edge is near the internet: it answers 404, whether the origin has the operator's page or not.
    if _ORIGIN_ONLY.match(scope["path"]):
        return True
    if credential_of(scope, table) is not None:
        return False
    # A proxy may understand an ambiguous request differently: it is refused here.
    return is_ambiguous(scope) or (route is not None and not route.moments(scope["query_string"]))


def _services(bus: RelayBus, settings: Settings, draining: asyncio.Event) -> MarketServices:
    mirrors, documents = {feed: Mirror(feed) for feed in Feed}, Documents()
    return MarketServices(
        mirrors=mirrors,
        documents=documents,
        names=Names(mirrors, documents),
        searches=Searches(mirrors, documents),
        shares={stock.ticker: stock.shares for stock in reference.stocks()},
        floors=Floors(settings.movers_min_price, settings.movers_min_volume),
        past=Past(None),
        providers={feed: ORIGIN if settings.providers_of(feed) else NO_PROVIDER for feed in Feed},
        clock=time.time,
        monotonic=time.monotonic,
        checks={"origin": bus.check},
        draining=draining.is_set,
    )


def _introduction(
    services: MarketServices, settings: Settings, window: Window | WindowAlone, room: Room
) -> str:
    infos = {feed: services.mirrors[feed].info for feed in services.configured()}
    simulated = ", ".join(feed for feed, info in infos.items() if info and info.simulated)
    note = f"; simulated data: {simulated}" if simulated else ""
    feeds = f", feeds on ws://{settings.host}:{settings.feed_port}" if settings.feed_port else ""
    limits = "; limits of this worker alone" if isinstance(window, WindowAlone) else ""
    most = f"; at most {room.capacity.feeds:,} feeds ({room.capacity.reason})"
    served = f"{', '.join(infos) or 'no feed'}{note}{limits}{most}"
    return f"edge of {settings.origin} on http://{settings.host}:{settings.port}{feeds}: {served}"
