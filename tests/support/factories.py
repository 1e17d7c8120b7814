"""Quotes, mirrors and whole applications for tests."""

import copy
import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

import httpx
from litestar import Litestar
from litestar.datastructures import State

from quotecast.alerts.networks import LOOPBACK
from quotecast.alerts.outbound import Outbound
from quotecast.api.alert_services import Alerts
from quotecast.api.app import build_app
from quotecast.api.edge.middleware import Edge, Observer
from quotecast.api.names import Names
from quotecast.api.past import Past
from quotecast.api.private import private_prefixes
from quotecast.api.searching import Searches
from quotecast.api.services import Services
from quotecast.bus.base import FeedInfo, Snapshot, StoredQuote
from quotecast.cache.base import Cached, Policy
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from quotecast.market.quotes import DovizQuote, Quote
from quotecast.providers.base import unlimited
from support.market_made import INFO, pair, stock
from support.nothing_stored import NothingStored

EPOCH = "0000000000aa00000001"
#: A Friday, 10:30 in New York.
NOW = 1_795_188_600.0
MONOTONIC = 1000.0

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
    outbound = Outbound(schemes=("https", "http"), networks=LOOPBACK)
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
        "history": {},
        "past_reads": lambda _upstream: unlimited,
        "stored_bars": NothingStored(),
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
def _routes() -> Litestar:
    return build_app(services(empty_mirrors()))


def app_of(parts: Services, **app: Any) -> Litestar:
    """Returns the application; those without parameters share their routes, which take most of the time."""
    if app:
        return build_app(parts, **app)
    shared = copy.copy(_routes())
    shared.state = State({**shared.state, "services": parts})
    return shared


def edge_of(parts: Services, *, observers: Sequence[Observer] = (), **app: Any) -> Edge:
    """Returns the application behind its edge; its observers see that each request takes half a second."""
    routed = app_of(parts, **app)
    return Edge(
        routed,
        private=private_prefixes(routed),
        cors_origins=["*"],
        account_origins=[],
        websocket_origins=["*"],
        observers=observers,
        clock=partial(next, itertools.count(0.0, 0.5)),
    )


def client_to(edge: Edge) -> httpx.AsyncClient:
    """Returns a client that accepts no compression by default."""
    transport = httpx.ASGITransport(app=edge)
    return httpx.AsyncClient(
        transport=transport, base_url="http://quotecast", headers={"accept-encoding": "identity"}
    )


def client_of(services: Services, **app: Any) -> httpx.AsyncClient:
    return client_to(edge_of(services, **app))
