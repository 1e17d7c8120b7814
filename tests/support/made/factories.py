"""Quotes, mirrors and whole applications for tests."""

import copy
import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any, Final

import httpx
from litestar import Litestar
from litestar.datastructures import State
from litestar.types import ControllerRouterHandler

from quotecast.alerts.networks import LOOPBACK
from quotecast.alerts.outbound import Outbound
from quotecast.api.gate.operators import Admin
from quotecast.api.limits.throttle import Throttle
from quotecast.api.market.names import Names
from quotecast.api.market.past import Past
from quotecast.api.market.searching import Searches
from quotecast.api.market.services import Alerts, Services
from quotecast.api.middleware.middleware import Middleware, Observer
from quotecast.api.worker.app import build_app, private_prefixes
from quotecast.asgi import App, Receive, Scope, Send
from quotecast.bus.base import FeedInfo, Snapshot, StoredQuote
from quotecast.cache.base import Cached, Policy
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from quotecast.market.quotes import DovizQuote, Quote
from quotecast.providers.base import unlimited
from support.clients.plain_http import NO_TLS
from support.made.market import INFO, pair, stock
from support.made.nothing_stored import NoDays, NoDaysKnown, NothingKnown, NothingStored

EPOCH = "0000000000aa00000001"
#: A Friday, 10:30 in New York.
NOW = 1_795_188_600.0
MONOTONIC = 1000.0
_PRIVATE: Final = "private prefixes"

STOCKS = [stock("MSFT"), stock("AAPL"), stock("BRK.B")]
PAIRS = [pair("ETH/USDT"), pair("BTC/USDT")]


def doviz(symbol: str, category: str, source: str = "Serbest Piyasa") -> DovizQuote:
    return DovizQuote(
        provider="test",
        symbol=symbol,
        name=f"The {symbol}",
        category=category,
        source=source,
        unit="gram",
        currency="TRY",
        buying=41.0,
        selling=42.0,
        price=42.0,
        change=0.5,
        change_percent=1.2,
        timestamp="2026-11-20T15:00:00.000Z",
    )


DOVIZ = [
    doviz("USD", "currency"),
    doviz("akbank-USD", "currency", "Akbank"),
    doviz("gram-altin", "gold"),
    doviz("gumus", "silver"),
]


def snapshot_of(
    feed: Feed, quotes: Iterable[Quote], *, epoch: str = EPOCH, seq: int = 7, info: FeedInfo = INFO
) -> Snapshot:
    return Snapshot(feed, epoch, seq, info, {quote.key: StoredQuote(seq, seq, quote) for quote in quotes})


def mirror_of(feed: Feed, quotes: Iterable[Quote], *, info: FeedInfo = INFO) -> Mirror:
    """Returns a mirror that has just received a beat of the bus."""
    mirror = Mirror(feed)
    mirror.load(snapshot_of(feed, quotes, info=info))
    mirror.heard_at = MONOTONIC
    return mirror


def full_mirrors() -> dict[Feed, Mirror]:
    return {
        Feed.STOCKS: mirror_of(Feed.STOCKS, STOCKS),
        Feed.CRYPTO: mirror_of(Feed.CRYPTO, PAIRS),
        Feed.DOVIZ: mirror_of(Feed.DOVIZ, DOVIZ),
    }


def empty_mirrors() -> dict[Feed, Mirror]:
    return {feed: Mirror(feed) for feed in Feed}


class KeepsNothing:
    """A cache that fetches on every read."""

    async def read(self, _key: str, policy: Policy, fetch: Callable[[], Awaitable[bytes]]) -> Cached:
        return Cached(await fetch(), "MISS", 0, policy.fresh_seconds)


class _Raising:
    """A database that fails every call: tests of public routes must not use it."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"accounts.{name} was used")


NO_ACCOUNTS: Any = _Raising()


def alert_parts(**other: Any) -> Alerts:
    """Returns the parts of the alerts' routes, which reach this machine and have no VAPID key."""
    outbound = Outbound(schemes=("https", "http"), networks=LOOPBACK, tls=NO_TLS)
    given: dict[str, Any] = {"per_user": 100, "outbound": outbound, "public_key": None}
    return Alerts(**(given | other))


def services(mirrors: dict[Feed, Mirror], **other: Any) -> Services:
    documents = other.pop("documents", None) or Documents()
    given: dict[str, Any] = {
        "documents": documents,
        "names": Names(mirrors, documents),
        "searches": Searches(mirrors, documents),
        "unlisted": unlimited,
        "shares": {},
        "floors": Floors(),
        "financials": None,
        "actions": (),
        "history": {},
        "past_reads": lambda _upstream: unlimited,
        "stored_bars": NothingStored(),
        "known_actions": NothingKnown(),
        "known_bars": NoDaysKnown(),
        "feed_days": NoDays(),
        "cache": KeepsNothing(),
        "accounts": NO_ACCOUNTS,
        "alerts": alert_parts(),
        "past": Past(None),
        "providers": dict.fromkeys(Feed, "simulator"),
        "clock": lambda: NOW,
        "monotonic": lambda: MONOTONIC,
        "checks": {},
        "draining": lambda: False,
    }
    return Services(mirrors=mirrors, **(given | other))


@cache
def _routes(*more: ControllerRouterHandler, with_admin: bool, limited: bool) -> Litestar:
    admin: Any = object() if with_admin else None
    middleware = [_limits_of_state] if limited else []
    app = build_app(services(empty_mirrors()), extra_handlers=more, admin=admin, middleware=middleware)
    app.state[_PRIVATE] = private_prefixes(app)
    return app


def _limits_of_state(app: App) -> App:
    """Limits a route by the throttle of the application's copy."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        await scope["app"].state.throttle.middleware(app)(scope, receive, send)

    return limited


def app_of(
    parts: Services,
    *,
    extra_handlers: Sequence[Any] = (),
    admin: Admin | None = None,
    throttle: Throttle | None = None,
) -> Litestar:
    """Returns the application; all with the same handlers share their routes, which take most of the time."""
    routes = _routes(*extra_handlers, with_admin=admin is not None, limited=throttle is not None)
    shared = copy.copy(routes)
    own = {"services": parts, "throttle": throttle, "admin": admin}
    shared.state = State({**shared.state, **own})
    return shared


def private_of(app: Litestar) -> tuple[str, ...]:
    """Returns the private prefixes of the application's routes."""
    found: tuple[str, ...] = app.state[_PRIVATE]
    return found


def edge_of(parts: Services, *, observers: Sequence[Observer] = (), **app: Any) -> Middleware:
    """Returns the application behind its edge; its observers see that each request takes half a second."""
    routed = app_of(parts, **app)
    return Middleware(
        routed,
        private=private_of(routed),
        cors_origins=["*"],
        account_origins=[],
        websocket_origins=["*"],
        observers=observers,
        clock=partial(next, itertools.count(0.0, 0.5)),
    )


def client_to(edge: Middleware) -> httpx.AsyncClient:
    """Returns a client that accepts no compression by default."""
    transport = httpx.ASGITransport(app=edge)
    return httpx.AsyncClient(
        transport=transport, base_url="http://quotecast", headers={"accept-encoding": "identity"}
    )


def client_of(services: Services, **app: Any) -> httpx.AsyncClient:
    return client_to(edge_of(services, **app))
