"""What the routes need, given to the application as one value when it is built."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from msgspec import Struct

from quotecast.errors import NoData, ProviderMissing
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed

HttpRequest = Request[Any, Any, State]

#: The provider of a feed that the operator switched off.
NO_PROVIDER: Final = "none"


class Parts(Struct, frozen=True, kw_only=True):
    """Everything behind the routes.

    `checks` name what readiness tells of; each returns a word such as `ok` and may raise or hang.
    """

    mirrors: Mapping[Feed, Mirror]
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


def parts_of(request: HttpRequest) -> Parts:
    """The parts that the request's application was built with."""
    parts: Parts = request.app.state.parts
    return parts


def loaded(request: HttpRequest, feed: Feed) -> Mirror:
    """A feed's mirror that has data. Raises ProviderMissing or NoData."""
    parts = parts_of(request)
    if parts.providers[feed] == NO_PROVIDER:
        raise ProviderMissing(feed)
    mirror = parts.mirrors[feed]
    if not mirror.loaded:
        raise NoData(feed)
    return mirror
