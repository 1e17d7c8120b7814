"""The services behind the routes, one value that the application is built with, and the store of bars."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeVar

from litestar import Request
from litestar.datastructures import State
from msgspec import Struct, field

from quotecast.access.plans import Reach
from quotecast.access.request_state import request_state
from quotecast.alerts.outbound import Outbound
from quotecast.api.accounts.alert_waits import Waits
from quotecast.api.accounts.key_access import KeyAccess
from quotecast.api.accounts.logins import LoginWindow
from quotecast.api.answers.answers import Answer
from quotecast.api.market.names import Names
from quotecast.api.market.past import Past
from quotecast.api.market.searching import Searches
from quotecast.cache.base import Cache
from quotecast.database.database import Database
from quotecast.errors import NoData, ProviderMissing
from quotecast.feed.documents import Copy, Documents
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.history.feed_days import FeedDays
from quotecast.history.known_actions import KnownActions
from quotecast.history.known_bars import KnownBars
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from quotecast.market.own_bars import LiveInterval, OwnBar, series_name
from quotecast.providers.base import ActionsProvider, Admission, FinancialsProvider, HistoryProvider
from quotecast.users.passwords import Passwords
from quotecast.users.tokens import Tokens

T = TypeVar("T")

HttpRequest = Request[Any, Any, State]

#: The name of the provider of a feed that the operator switched off.
NO_PROVIDER: Final = "none"
#: Tries of webhooks at once on a worker.
MAX_TRIALS: Final = 4


class BarStore(Protocol):
    """The final bars of all feeds, as far as they are written."""

    async def read(
        self, series: str, symbols: Sequence[str], interval: LiveInterval, start: datetime, end: datetime
    ) -> Mapping[str, Sequence[OwnBar]]:
        """Returns the bars of each symbol of a series that open in [start, end), ascending.

        Raises DatabaseAway.
        """
        ...


def series_of(mirror: Mirror) -> str:
    """Returns the name of the stored bars that belong to a mirror's quotes."""
    return series_name(mirror.feed, mirror.info.market if mirror.info is not None else "")


class Accounts(Struct, frozen=True, kw_only=True):
    """Everything that account routes need."""

    database: Database
    tokens: Tokens
    passwords: Passwords
    logins: LoginWindow
    keys: KeyAccess
    #: Returns the address under which to count an attempt to log in.
    address_of: Callable[[Mapping[str, Any]], str]


class Alerts(Struct, frozen=True, kw_only=True):
    """The bounds and parts of the alerts' routes."""

    per_user: int
    outbound: Outbound
    #: The key that browsers want at a subscription; None without Web Push.
    public_key: str | None
    waits: Waits = field(default_factory=Waits)
    trials: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_TRIALS))


class MarketServices(Struct, frozen=True, kw_only=True):
    """Everything behind the routes that read the feeds only.

    `checks` are the checks of readiness by name; each returns a word such as `ok` and may raise or hang.
    """

    mirrors: Mapping[Feed, Mirror]
    documents: Documents
    names: Names
    searches: Searches
    #: Shares outstanding by ticker; some are unknown.
    shares: Mapping[str, int]
    #: The least price and volume of a mover.
    floors: Floors
    #: The recorded moments of the feeds.
    past: Past
    #: Configured provider of each feed, or `none`.
    providers: Mapping[Feed, str]
    #: Unix time.
    clock: Callable[[], float]
    #: The clock of the mirrors' `heard_at`, in seconds.
    monotonic: Callable[[], float]
    checks: Mapping[str, Callable[[], Awaitable[str]]]
    #: Whether this worker is about to stop.
    draining: Callable[[], bool]
    #: The name of the view of the market; empty for the whole of it.
    view: str = ""
    #: Names of the symbols and groups that lists show; empty for all.
    only: tuple[str, ...] = ()
    #: How far back the view reaches; None for the whole past.
    reach: Reach | None = None
    #: Seconds by which the view is late.
    delay_seconds: int = 0

    #: The Unix time whose knowledge the view shows; None for all that is known.
    as_of: float | None = None

    def now(self) -> float:
        """Returns the Unix time of the market that the view shows."""
        return self.clock() - self.delay_seconds if self.as_of is None else self.as_of

    def moment(self) -> datetime:
        """Returns the same time as a datetime in UTC."""
        return datetime.fromtimestamp(self.now(), UTC)

    def wall_time(self) -> datetime:
        """Returns the present time in UTC, whatever market the view shows."""
        return datetime.fromtimestamp(self.clock(), UTC)

    def configured(self) -> list[Feed]:
        """Returns the feeds that have a provider."""
        return [feed for feed in self.mirrors if self.providers[feed] != NO_PROVIDER]


class Services(MarketServices, frozen=True, kw_only=True):
    """Everything behind the routes."""

    #: The provider of company data; None when the operator switched it off.
    financials: FinancialsProvider | None
    #: Providers of corporate actions, the preferred one first.
    actions: Sequence[ActionsProvider]
    #: Admits a request to the provider of company data about a company that is not listed.
    unlisted: Admission
    #: Providers of bars by feed, then by the name of the provider whose quotes complete the last bar.
    history: Mapping[Feed, Mapping[str, HistoryProvider]]
    #: Admits a read of bars of the past from an upstream, by its name.
    past_reads: Callable[[str], Admission]
    #: Final bars made from our own quotes.
    stored_bars: BarStore
    #: What providers said about corporate actions and about days, and when.
    known_actions: KnownActions
    known_bars: KnownBars
    #: The figures of the feeds' days.
    feed_days: FeedDays
    #: Answers of upstreams to requests.
    cache: Cache
    accounts: Accounts
    alerts: Alerts
    #: This worker's encoded sparklines, and when it made them, by feed and symbol.
    sparklines: dict[tuple[Feed, str], tuple[float, bytes]] = field(default_factory=dict)
    #: This worker's newest answers with lists of prices, by view and query.
    recent_prices: dict[Hashable, Answer] = field(default_factory=dict)


def services_of(request: HttpRequest) -> Services:
    """Returns the services of the request's view, else those that its application was built with."""
    view = request_state(request.scope).view
    services: Services = request.app.state.services if view is None else view
    return services


def require_mirror(services: MarketServices, feed: Feed) -> Mirror:
    """Returns a feed's mirror that has data. Raises ProviderMissing or NoData."""
    if services.providers[feed] == NO_PROVIDER:
        raise ProviderMissing(feed)
    mirror = services.mirrors[feed]
    if not mirror.loaded:
        raise NoData(feed, services.delay_seconds)
    return mirror


async def mirror_at(services: MarketServices, feed: Feed, at: str | None) -> Mirror:
    """Returns a feed's mirror, or one of a recorded moment. Raises InvalidValue too."""
    if at is None:
        return require_mirror(services, feed)
    mirror = await services.past.mirror(feed, at, services.monotonic())
    mirror.renames = services.mirrors[feed].renames
    return mirror


def combined_state(services: MarketServices, feeds: Iterable[Feed]) -> FeedState:
    """Returns `live` while all of the feeds are live, else `stale`."""
    now = services.monotonic()
    return "live" if all(services.mirrors[feed].state(now) == "live" for feed in feeds) else "stale"


def require_items(services: MarketServices, copy: Copy[T]) -> Sequence[T]:
    """Returns the items of a document. Raises ProviderMissing or NoData."""
    if services.providers[copy.feed] == NO_PROVIDER:
        raise ProviderMissing(copy.name)
    if copy.items is None:
        raise NoData(copy.name, services.delay_seconds)
    return copy.items
