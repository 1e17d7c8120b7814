"""What the routes need, given to the application as one value when it is built."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from litestar import Request
from litestar.datastructures import State
from msgspec import Struct

from quotecast.accounts.database import Database
from quotecast.accounts.passwords import Passwords
from quotecast.accounts.tokens import Tokens
from quotecast.api.logins import LoginWindow
from quotecast.api.names import Names
from quotecast.cache.base import Cache
from quotecast.errors import NoData, ProviderMissing
from quotecast.feed.documents import Copy, Documents
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from quotecast.providers.base import Admission, FinancialsProvider, HistoryProvider

T = TypeVar("T")

HttpRequest = Request[Any, Any, State]

#: The provider of a feed that the operator switched off.
NO_PROVIDER: Final = "none"


class Accounts(Struct, frozen=True, kw_only=True):
    """Who may log in, and what is theirs."""

    database: Database
    tokens: Tokens
    passwords: Passwords
    logins: LoginWindow
    #: The address that an attempt to log in is counted under.
    address_of: Callable[[Mapping[str, Any]], str]


class Services(Struct, frozen=True, kw_only=True):
    """Everything behind the routes.

    `checks` name what readiness tells of; each returns a word such as `ok` and may raise or hang.
    """

    mirrors: Mapping[Feed, Mirror]
    documents: Documents
    names: Names
    #: Shares outstanding by ticker, as far as they are known.
    shares: Mapping[str, int]
    #: What a stock has to reach to be a mover.
    floors: Floors
    #: Who tells of companies; None when the operator switched that off.
    financials: FinancialsProvider | None
    #: Awaited before that upstream is asked about a company that nobody lists.
    unlisted: Admission
    #: Upstreams of bars by feed, and there by the provider whose quotes the bars end with.
    history: Mapping[Feed, Mapping[str, HistoryProvider]]
    #: What is kept of upstreams' answers to requests.
    cache: Cache
    accounts: Accounts
    #: Configured provider of each feed, or `none`.
    providers: Mapping[Feed, str]
    #: Unix time.
    clock: Callable[[], float]
    #: The clock that the mirrors' `heard_at` is read from.
    monotonic: Callable[[], float]
    checks: Mapping[str, Callable[[], Awaitable[str]]]
    #: Whether this worker is about to stop.
    draining: Callable[[], bool]

    def configured(self) -> list[Feed]:
        """The feeds that have a provider."""
        return [feed for feed in self.mirrors if self.providers[feed] != NO_PROVIDER]


def services_of(request: HttpRequest) -> Services:
    """Returns the services that the request's application was built with."""
    services: Services = request.app.state.services
    return services


def require_mirror(services: Services, feed: Feed) -> Mirror:
    """A feed's mirror that has data. Raises ProviderMissing or NoData."""
    if services.providers[feed] == NO_PROVIDER:
        raise ProviderMissing(feed)
    mirror = services.mirrors[feed]
    if not mirror.loaded:
        raise NoData(feed)
    return mirror


def combined_state(services: Services, feeds: Iterable[Feed]) -> FeedState:
    """`live` while each of the feeds is, else `stale`."""
    now = services.monotonic()
    return "live" if all(services.mirrors[feed].state(now) == "live" for feed in feeds) else "stale"


def require_items(services: Services, copy: Copy[T]) -> Sequence[T]:
    """What a document holds. Raises ProviderMissing or NoData."""
    if services.providers[copy.feed] == NO_PROVIDER:
        raise ProviderMissing(copy.name)
    if copy.items is None:
        raise NoData(copy.name)
    return copy.items
