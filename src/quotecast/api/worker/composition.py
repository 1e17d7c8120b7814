"""The parts of a worker, made from its settings."""

import asyncio
import time
from collections.abc import Callable, Mapping

from quotecast import parent
from quotecast.access.plans import Plan
from quotecast.alerts.outbound import make_outbound
from quotecast.alerts.push import make_vapid
from quotecast.api.accounts.alert_services import Alerts
from quotecast.api.bars.market import exchange_of
from quotecast.api.gate.addresses import client_address, identify_by_address, networks
from quotecast.api.gate.gate import Everybody, Gate
from quotecast.api.gate.identity import identify_by_user, valid_claims
from quotecast.api.limits.access_log import access_log
from quotecast.api.limits.caches import CacheLimits
from quotecast.api.limits.requests import Requests
from quotecast.api.limits.throttle import Throttle
from quotecast.api.market.names import Names
from quotecast.api.market.past import Past
from quotecast.api.market.searching import Searches
from quotecast.api.market.services import Accounts, Services
from quotecast.api.middleware.middleware import Edge, Observer
from quotecast.api.route_table import Table
from quotecast.api.views.delayed import DelayedMarket
from quotecast.api.views.views import Views
from quotecast.api.worker import checks, sources
from quotecast.asgi import App
from quotecast.bus.redis import RedisBus
from quotecast.cache.base import Cache
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.history.opening import open_store
from quotecast.history.reader import StoredBars
from quotecast.history.segments import Store
from quotecast.limits.window import Window
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from quotecast.providers import reference
from quotecast.providers.base import Admission
from quotecast.providers.offer import Budgets
from quotecast.providers.offers import NONE
from quotecast.settings.model import Settings, history_folder
from quotecast.stream.capacity import OWN_FILES, Capacity, capacity, memory, open_files
from quotecast.stream.endpoint import Streams
from quotecast.stream.feed_hubs import FeedHubs
from quotecast.stream.relays import Relays
from quotecast.stream.replay import Replays


def make_services(
    settings: Settings,
    *,
    bus: RedisBus,
    cache: Cache,
    accounts: Accounts,
    budgets: Budgets,
    past_reads: Callable[[str], Admission],
    draining: asyncio.Event,
) -> Services:
    """Returns the services of the routes; the mirrors and documents are still empty."""
    mirrors, documents = {feed: Mirror(feed) for feed in Feed}, Documents()
    return Services(
        mirrors=mirrors,
        documents=documents,
        names=Names(mirrors, documents),
        searches=Searches(mirrors, documents),
        history=sources.history_providers(settings, budgets, lambda: exchange_of(mirrors[Feed.STOCKS].info)),
        financials=sources.financials_provider(settings, budgets),
        unlisted=sources.unlisted_admission(settings, budgets),
        past_reads=past_reads,
        stored_bars=StoredBars(accounts.database),
        cache=cache,
        accounts=accounts,
        alerts=make_alerts(settings),
        past=Past(history_store(settings)),
        shares={stock.ticker: stock.shares for stock in reference.stocks()},
        floors=Floors(settings.movers_min_price, settings.movers_min_volume),
        providers={feed: ",".join(settings.providers_of(feed)) or NONE for feed in Feed},
        clock=time.time,
        monotonic=time.monotonic,
        checks=_checks(bus, settings),
        draining=draining.is_set,
    )


def make_alerts(settings: Settings) -> Alerts:
    """Returns the parts of the alerts' routes. Raises SettingsError for a key that is none."""
    vapid = make_vapid(settings.vapid_private_key, settings.vapid_contact)
    return Alerts(
        per_user=settings.alerts_per_user,
        outbound=make_outbound(settings.webhook_networks, production=settings.mode == "production"),
        public_key=vapid.public_key if vapid else None,
    )


def make_throttle(services: Services, window: Window, settings: Settings) -> Throttle:
    """Returns the rate limits of all paths."""
    accounts = services.accounts
    return Throttle(
        window.decide,
        window.give_back,
        limits=limits_of(settings),
        find=services.names.find,
        identify=identify_by_user(accounts.tokens, accounts.address_of),
        by_address=accounts.address_of,
    )


def with_caches(app: App, settings: Settings) -> App:
    """Returns the application behind the recognition of caches in front, where they count requests."""
    if settings.limits != "edge":
        return app
    return CacheLimits(app, key=settings.edge_key, trusted_proxies=settings.trusted_proxies)


def make_streams(http: App, hubs: FeedHubs, settings: Settings, relays: Relays) -> Streams:
    """Returns the feeds' endpoints in front of the HTTP application."""
    return Streams(
        http,
        hubs,
        heartbeat_ms=settings.heartbeat_ms,
        sockets_per_address=settings.sockets_per_address,
        address_of=identify_by_address(settings.trusted_proxies),
        replays=Replays(
            history_store(settings),
            per_address=settings.replays_per_address,
            per_worker=settings.replays_per_worker,
            heartbeat_ms=settings.heartbeat_ms,
        ),
        relays=relays,
    )


def history_store(settings: Settings) -> Store | None:
    """Returns the recorded segments; None where history is off."""
    if settings.history == "off":
        return None
    return open_store(settings.history_store, history_folder(settings))


def make_gate(
    app: App,
    services: Services,
    plans: Mapping[str, Plan],
    settings: Settings,
    delayed: DelayedMarket | None,
    *,
    http: App,
    table: Table,
) -> Gate:
    """Returns the application behind the recognition of API keys and the bounds of plans.

    `app` serves feeds and passes all else on to `http`; `table` has the routes of both.
    """
    accounts, trusted = services.accounts, networks(settings.trusted_proxies)
    return Gate(
        app,
        table,
        http=http,
        finder=accounts.keys,
        usage=accounts.keys.usage,
        everybody=Everybody.of(plans),
        views=Views(services, delayed),
        address_of=accounts.address_of,
        client_of=lambda scope: client_address(scope, trusted),
        claims_of=valid_claims(accounts.tokens),
        clock=services.clock,
    )


def observers_of(requests: Requests, settings: Settings) -> list[Observer]:
    """Returns what counts and logs requests."""
    logged = [] if settings.access_log == "off" else [access_log(settings.access_log)]
    return [requests.observe, *logged]


def make_edge(app: App, private: tuple[str, ...], requests: Requests, settings: Settings) -> Edge:
    """Returns the application behind everything that each request passes."""
    return Edge(
        app,
        cors_origins=settings.cors_origins,
        account_origins=settings.account_origins,
        local_accounts=settings.mode == "development",
        websocket_origins=settings.websocket_origins,
        private=private,
        observers=observers_of(requests, settings),
    )


def _checks(bus: RedisBus, settings: Settings) -> dict[str, checks.Check]:
    return {
        "redis": checks.cached_check(bus.check),
        "postgres": checks.cached_check(checks.postgres_check(settings.database_url)),
    }


def limits_of(settings: Settings) -> dict[str, int]:
    """Returns the requests per minute and path of each group."""
    names = [name for name in settings.__struct_fields__ if name.startswith("limit_")]
    return {name.removeprefix("limit_"): getattr(settings, name) for name in names}


def capacity_of(settings: Settings) -> Capacity:
    """Returns this worker's capacity; the workers of one `up` share its memory."""
    return capacity(
        files=open_files(),
        own=OWN_FILES + settings.database_connections,
        memory=memory() // (settings.workers if parent.has_parent() else 1),
        requested=settings.sockets_per_worker,
        split=settings.feed_port != 0,
    )
