"""The parts of a worker, made from its settings."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import asyncpg
from litestar import Litestar
from msgspec import Struct

from quotecast import parent
from quotecast.access.plans import Plan
from quotecast.access.usage import Usage
from quotecast.alerts.outbound import make_outbound
from quotecast.alerts.push import make_vapid
from quotecast.api.bars.market import exchange_of
from quotecast.api.gate.addresses import client_address, identify_by_address, networks
from quotecast.api.gate.admissions import Finder
from quotecast.api.gate.gate import Everybody, Gate
from quotecast.api.limits.caches import CacheLimits
from quotecast.api.limits.repeats import Repeats
from quotecast.api.limits.requests import Requests, access_log
from quotecast.api.limits.throttle import Find, Throttle
from quotecast.api.market.names import Names
from quotecast.api.market.past import Past
from quotecast.api.market.searching import Searches
from quotecast.api.market.services import Alerts, MarketServices, Services
from quotecast.api.metrics.metrics import WorkerParts
from quotecast.api.middleware.middleware import Middleware, Observer
from quotecast.api.route_table import RouteTable
from quotecast.api.views.views import Views
from quotecast.api.worker.account_services import open_accounts, window_of
from quotecast.asgi import App
from quotecast.bus.redis import RedisBus
from quotecast.bus.remote import RemoteBus
from quotecast.cache.redis import RedisCache
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.documents import Documents
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.history.bucket import open_store
from quotecast.history.feed_days import FeedDays
from quotecast.history.known_actions import KnownActions
from quotecast.history.known_bars import KnownBars
from quotecast.history.reader import StoredBars
from quotecast.history.segments import Store
from quotecast.limits.alone import WindowAlone
from quotecast.limits.budget import budget
from quotecast.limits.window import Window
from quotecast.market import reference
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from quotecast.providers.base import (
    ActionsProvider,
    Admission,
    FinancialsProvider,
    HistoryProvider,
    unlimited,
)
from quotecast.providers.offer import FINANCIALS, Budgets, ExchangeNow
from quotecast.providers.offers import NONE, offer_of
from quotecast.settings.model import LIMIT_GROUPS, Settings, history_folder
from quotecast.stream.capacity import OWN_FILES, Capacity, capacity, memory, open_files
from quotecast.stream.endpoint import Streams
from quotecast.stream.hubs import FeedHubs, hub_of
from quotecast.stream.occupancy import Occupancy
from quotecast.stream.relays import Relays
from quotecast.stream.replay import Replays
from quotecast.users.tokens import Claims

#: Returns `ok`; raises if a store does not answer.
Check = Callable[[], Awaitable[str]]
#: Seconds for which the result of a check is shared.
REMEMBERED_SECONDS: Final = 2.0
#: Seconds in which PostgreSQL has to take a connection, and to answer on it.
CONNECT_SECONDS: Final = 0.9
#: Reads of bars of the past per upstream and minute, over all workers; the present ones do not count.
PAST_READS: Final = 120


class Opened(Struct, frozen=True, kw_only=True):
    """The services of a worker, with the parts of them that metrics and feeds use."""

    services: Services
    bus: RedisBus
    cache: RedisCache
    #: Calls that remain in each upstream's plan, by name.
    left: Mapping[str, int]


@contextlib.asynccontextmanager
async def open_services(
    settings: Settings, plans: Mapping[str, Plan], draining: asyncio.Event
) -> AsyncIterator[Opened]:
    """Opens the services of the routes; the mirrors and documents are still empty."""
    bus = RedisBus(settings.redis_url, settings.redis_prefix)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(bus.close)
        cache = await stack.enter_async_context(RedisCache(settings.redis_url, settings.redis_prefix))
        accounts = await stack.enter_async_context(open_accounts(settings, plans))
        window = await stack.enter_async_context(window_of(settings, ":budgets"))
        left: dict[str, int] = {}
        budgets = partial(budget, window.check, left=left)
        mirrors, documents = {feed: Mirror(feed) for feed in Feed}, Documents()
        services = Services(
            mirrors=mirrors,
            documents=documents,
            names=Names(mirrors, documents),
            searches=Searches(mirrors, documents),
            history=history_providers(settings, budgets, lambda: exchange_of(mirrors[Feed.STOCKS].info)),
            financials=financials_provider(settings, budgets),
            actions=actions_providers(settings, budgets),
            unlisted=unlisted_admission(settings, budgets),
            past_reads=lambda upstream: budget(window.check, f"{upstream}'s past bars", PAST_READS),
            stored_bars=StoredBars(accounts.database),
            known_actions=KnownActions(accounts.database),
            known_bars=KnownBars(accounts.database),
            feed_days=FeedDays(accounts.database, settings.bars_1m_days),
            cache=cache,
            accounts=accounts,
            alerts=make_alerts(settings),
            past=Past(history_store(settings)),
            shares={stock.ticker: stock.shares for stock in reference.stocks()},
            floors=Floors(settings.movers_min_price, settings.movers_min_volume),
            providers={feed: ",".join(settings.providers_of(feed)) or NONE for feed in Feed},
            clock=time.time,
            monotonic=time.monotonic,
            checks={
                "redis": cached_check(bus.check),
                "postgres": cached_check(postgres_check(settings.database_url)),
            },
            draining=draining.is_set,
        )
        yield Opened(services=services, bus=bus, cache=cache, left=left)


def make_alerts(settings: Settings) -> Alerts:
    """Returns the parts of the alerts' routes. Raises SettingsError for a key that is none."""
    vapid = make_vapid(settings.vapid_private_key, settings.vapid_contact)
    return Alerts(
        per_user=settings.alerts_per_user,
        outbound=make_outbound(settings.webhook_networks, production=settings.mode == "production"),
        public_key=vapid.public_key if vapid else None,
    )


def make_throttle(
    window: Window | WindowAlone,
    settings: Settings,
    find: Find,
    identify: Callable[[Any], str],
) -> Throttle:
    """Returns the rate limits of all paths."""
    return Throttle(
        window.decide,
        window.give_back,
        limits=limits_of(settings),
        find=find,
        identify=identify,
        by_address=identify_by_address(settings.trusted_proxies),
    )


def in_front(routed: Litestar, throttle: Throttle, settings: Settings) -> App:
    """Returns the application that answers repeated reads before the routes do.

    Behind caches that count requests, it also recognises those caches.
    """
    app = Repeats(routed, throttle=throttle)
    if settings.limits != "edge":
        return app
    return CacheLimits(app, key=settings.edge_key, trusted_proxies=settings.trusted_proxies)


def make_parts(
    bus: RedisBus | RemoteBus,
    services: MarketServices,
    window: Window | WindowAlone,
    http: App,
    settings: Settings,
    *,
    late_hubs: Mapping[Feed, Hub] = {},
    replays: Replays | None = None,
) -> WorkerParts:
    """Returns the feeds of a process in front of its HTTP application, with all that metrics read of them."""
    hubs = {feed: hub_of(services.mirrors[feed], settings.heartbeat_ms) for feed in services.configured()}
    all_hubs = FeedHubs(hubs, late_hubs, settings.delay_seconds)
    relays = Relays(bus, settings.relay_secret)
    # The listener ignores data on the bus of a feed that no longer has a provider.
    mirrors = {feed: hub.mirror for feed, hub in hubs.items()}
    return WorkerParts(
        requests=Requests(),
        window=window,
        hubs=all_hubs.named(),
        streams=Streams(
            http,
            all_hubs,
            heartbeat_ms=settings.heartbeat_ms,
            sockets_per_address=settings.sockets_per_address,
            address_of=identify_by_address(settings.trusted_proxies),
            replays=replays,
            relays=relays,
        ),
        occupancy=Occupancy(capacity_of(settings)),
        listener=BusListener(bus, mirrors, services.documents, on_message=relays.publish),
        relays=relays,
        monotonic=time.monotonic,
    )


def make_replays(settings: Settings) -> Replays:
    """Returns the replays of recorded segments."""
    return Replays(
        history_store(settings),
        per_address=settings.replays_per_address,
        per_worker=settings.replays_per_worker,
        heartbeat_ms=settings.heartbeat_ms,
    )


def history_store(settings: Settings) -> Store | None:
    """Returns the recorded segments; None where history is off."""
    if settings.history == "off":
        return None
    return open_store(settings.history_store, history_folder(settings))


def make_gate(
    app: App,
    table: RouteTable,
    settings: Settings,
    *,
    http: App | None = None,
    finder: Finder,
    usage: Usage,
    plans: Mapping[str, Plan],
    views: Views,
    claims_of: Callable[[Any], Claims | None],
    clock: Callable[[], float] = time.time,
) -> Gate:
    """Returns the application behind the recognition of API keys and the bounds of plans.

    `app` serves feeds and passes all else on to `http`; `table` has the routes of both.
    """
    trusted = networks(settings.trusted_proxies)
    return Gate(
        app,
        table,
        http=http,
        finder=finder,
        usage=usage,
        everybody=Everybody.of(plans),
        views=views,
        address_of=identify_by_address(settings.trusted_proxies),
        client_of=lambda scope: client_address(scope, trusted),
        claims_of=claims_of,
        clock=clock,
    )


def observers_of(requests: Requests, settings: Settings) -> list[Observer]:
    """Returns what counts and logs requests."""
    logged = [] if settings.access_log == "off" else [access_log(settings.access_log)]
    return [requests.observe, *logged]


def make_middleware(
    app: App, private: tuple[str, ...], settings: Settings, observers: Sequence[Observer] = ()
) -> Middleware:
    """Returns the application behind everything that each request passes."""
    return Middleware(
        app,
        cors_origins=settings.cors_origins,
        account_origins=settings.account_origins,
        local_accounts=settings.mode == "development",
        websocket_origins=settings.websocket_origins,
        private=private,
        observers=observers,
    )


def cached_check(check: Check) -> Check:
    """Calls the check at most once in REMEMBERED_SECONDS; concurrent callers share one call."""
    asked: asyncio.Future[str] | None = None
    asked_at = 0.0

    async def ask() -> str:
        nonlocal asked, asked_at
        if asked is None or time.monotonic() - asked_at > REMEMBERED_SECONDS:
            asked, asked_at = asyncio.ensure_future(check()), time.monotonic()
            # The callers get the failure; reading it here silences asyncio when none of them waits any more.
            asked.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(asked)

    return ask


def postgres_check(database_url: str) -> Check:
    """Returns a check that runs a statement: PgBouncer accepts clients even while PostgreSQL is away."""

    async def check() -> str:
        connection = await asyncpg.connect(database_url, timeout=CONNECT_SECONDS)
        try:
            await connection.execute("SELECT 1", timeout=CONNECT_SECONDS)
        finally:
            await connection.close(timeout=CONNECT_SECONDS)
        return "ok"

    return check


def limits_of(settings: Settings) -> dict[str, int]:
    """Returns the requests per minute and path of each group."""
    return {group: getattr(settings, f"limit_{group}") for group in LIMIT_GROUPS}


def capacity_of(settings: Settings) -> Capacity:
    """Returns this worker's capacity; the workers of one `up` share its memory."""
    return capacity(
        files=open_files(),
        own=OWN_FILES + settings.database_connections,
        memory=memory() // (settings.workers if parent.has_parent() else 1),
        requested=settings.sockets_per_worker,
        split=settings.feed_port != 0,
    )


def history_providers(
    settings: Settings, budgets: Budgets, exchange: ExchangeNow
) -> dict[Feed, dict[str, HistoryProvider]]:
    """Returns the providers of bars for each feed, by name."""
    providers: dict[Feed, dict[str, HistoryProvider]] = {feed: {} for feed in Feed}
    for feed, by_name in providers.items():
        for name in settings.providers_of(feed):
            offer = offer_of(name)
            if feed in offer.history:
                bars = offer.history[feed](settings.own[name], budgets, exchange)
                by_name[bars.name] = bars
    return providers


def financials_provider(settings: Settings, budgets: Budgets) -> FinancialsProvider | None:
    """Returns the provider of company data; None if the operator chose none."""
    for name in settings.providers_of(FINANCIALS):
        if make := offer_of(name).financials:
            return make(settings.own[name], budgets)
    return None


def actions_providers(settings: Settings, budgets: Budgets) -> list[ActionsProvider]:
    """Returns the providers of corporate actions: that of the stocks first, then that of company data."""
    names = dict.fromkeys([*settings.providers_of(Feed.STOCKS), *settings.providers_of(FINANCIALS)])
    offers = [(name, make) for name in names if (make := offer_of(name).actions)]
    return [make(settings.own[name], budgets) for name, make in offers]


def unlisted_admission(settings: Settings, budgets: Budgets) -> Admission:
    """Returns the admission of requests about companies that are not listed."""
    for name in settings.providers_of(FINANCIALS):
        if make := offer_of(name).unlisted:
            return make(settings.own[name], budgets)
    return unlimited
