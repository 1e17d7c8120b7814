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
from litestar import Router
from msgspec.structs import replace

from quotecast.access.errors import OutOfScope
from quotecast.access.key_book import Holder
from quotecast.access.usage import Usage
from quotecast.api.edge.forward import Forward, dispatch, refuse
from quotecast.api.gate.addresses import identify_by_address
from quotecast.api.gate.admissions import credential_of
from quotecast.api.limits.requests import span_attributes
from quotecast.api.market.names import Names
from quotecast.api.market.past import Past
from quotecast.api.market.searching import Searches
from quotecast.api.market.services import NO_PROVIDER, MarketServices
from quotecast.api.metrics.metrics import feed_families
from quotecast.api.middleware.ambiguity import is_ambiguous
from quotecast.api.route_table import RouteTable
from quotecast.api.routes.market import crypto, doviz, events, health, market, search
from quotecast.api.views.views import Views
from quotecast.api.worker.account_services import window_of
from quotecast.api.worker.app import build_app
from quotecast.api.worker.composition import (
    in_front,
    make_gate,
    make_middleware,
    make_parts,
    make_throttle,
    observers_of,
)
from quotecast.api.worker.lifetime import Worker, serve
from quotecast.asgi import Scope
from quotecast.bus.remote import RemoteBus
from quotecast.environment import PREFIX, value_of
from quotecast.errors import SettingsError
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.limits.alone import WindowAlone
from quotecast.market import reference
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from quotecast.observe import tracing
from quotecast.observe.logs import configure_logs
from quotecast.providers.quotecast.offer import Origin
from quotecast.settings.checks import UNENCRYPTED, sends_secret_unencrypted
from quotecast.settings.model import Settings
from quotecast.settings.plans import plans_of


def _with_handlers(router: Router, handlers: list[object]) -> Router:
    return Router(router.path, route_handlers=handlers, tags=router.tags, opt=router.opt)  # type: ignore[arg-type]


#: The routes that an edge answers from its own copy of the feeds; it forwards all others to the origin.
ROUTERS: Final = (
    _with_handlers(market.ROUTER, [*market.FEED_HANDLERS]),
    _with_handlers(crypto.ROUTER, [*crypto.FEED_HANDLERS]),
    _with_handlers(doviz.ROUTER, [*doviz.FEED_HANDLERS]),
    search.ROUTER,
    events.ROUTER,
    health.ROUTER,
)
#: The name of the provider of every feed.
ORIGIN: Final = "origin"


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Runs until it receives a signal to stop; returns the exit code."""
    if arguments.origin:
        settings = replace(settings, origin=value_of(f"{PREFIX}ORIGIN", arguments.origin, Origin))
    _check(settings)
    configure_logs(level=settings.log_level, as_json=settings.mode == "production")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(partial(_worker, settings=settings)))
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


#: Served by the origin only. It collapses repeated slashes, so the pattern allows any number. An edge knows
#: no users, so clients of its feeds need no tickets.
_ORIGIN_ONLY: Final = re.compile("/+((api/+)?admin(/|$)|api/+auth/+ticket/*$)")


async def _worker(stack: contextlib.AsyncExitStack, settings: Settings) -> Worker:
    """The composition root of an edge."""
    traced = stack.enter_context(tracing.export_traces("quotecast-edge"))
    draining, bus = asyncio.Event(), RemoteBus(settings.origin, settings.origin_secret)
    mirrors, documents = {feed: Mirror(feed) for feed in Feed}, Documents()
    services = MarketServices(
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
    window = await stack.enter_async_context(window_of(settings)) if settings.redis_url else WindowAlone()
    throttle = make_throttle(
        window, settings, services.names.find, identify_by_address(settings.trusted_proxies)
    )
    routed = build_app(
        services, routers=ROUTERS, middleware=[throttle.middleware] if settings.limits != "off" else []
    )
    parts = make_parts(bus, services, window, in_front(routed, throttle, settings), settings)
    gate = make_gate(
        parts.streams,
        routed.state.table,
        settings,
        finder=_NoKeys(),
        usage=Usage(),
        plans=plans_of(settings),
        views=Views(services),
        claims_of=lambda _scope: None,
    )
    observers = observers_of(parts.requests, settings)
    forward = Forward(
        settings.origin,
        settings.trusted_proxies,
        refusing=make_middleware(refuse, (), settings, observers),
        observers=observers,
    )
    stack.push_async_callback(forward.close)
    local = traced(make_middleware(gate, (), settings, observers), span_attributes)
    return Worker(
        name=f"edge of {settings.origin}",
        settings=settings,
        services=services,
        app=dispatch(local, forward, partial(is_local, routed.state.table)),
        parts=parts,
        families=partial(feed_families, parts),
        draining=draining,
        notes="; limits of this worker alone" if isinstance(window, WindowAlone) else "",
    )


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


def is_local(table: RouteTable, scope: Scope) -> bool:
    """Whether the edge answers a request itself. It has no history and knows no keys."""
    route = table.route_of(scope)
    if route is not None and route.is_stream:
        return True
    # An edge is near the internet: it answers 404, whether the origin has the operator's page or not.
    if _ORIGIN_ONLY.match(scope["path"]):
        return True
    if credential_of(scope, table) is not None:
        return False
    # A proxy may understand an ambiguous request differently: the edge refuses it itself.
    return is_ambiguous(scope) or (route is not None and not route.moments(scope["query_string"]))
