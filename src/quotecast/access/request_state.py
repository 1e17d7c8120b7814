"""The state of a request: findings of the outer layers, for the inner ones and the route."""

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any, Final

from msgspec import Struct

from quotecast.access.grant import Grant
from quotecast.access.usage import Counts
from quotecast.errors import QuotecastError
from quotecast.limits.decision import Decision, LimitedPath, Step
from quotecast.users.tokens import Claims

#: The entry of a request's scope.
_STATE: Final = "quotecast"


class NoClaims(Enum):
    """Reasons why a request has no claims."""

    UNREAD = "nobody has read its token"
    ABSENT = "it has no token"
    INVALID = "its token is invalid"


class RequestState(Struct, eq=False):
    """The state of one request or socket."""

    #: Empty for sockets: their clients get the id of the connection.
    request_id: str = ""
    #: Whether the answer has no body: the request was HEAD.
    is_bodiless: bool = False
    #: The rights of its client; None without bounds of a plan.
    grant: Grant | None = None
    #: The MarketServices that the client's plan shows; None for all of the market.
    view: Any = None
    claims: Claims | NoClaims = NoClaims.UNREAD
    #: The counts of its API key, to which a stream adds its frames.
    counts: Counts | None = None
    #: What a cache in front asks of the worker; None for requests of clients.
    step: Step | None = None
    #: The path that the request counts for, the decision on it, and how its slot is freed.
    path: LimitedPath | None = None
    decision: Decision | None = None
    slot: tuple[Callable[[str], Awaitable[None]], str] | None = None
    #: The read behind its answer, which repeats it without routing and parsing.
    again: Callable[[], Any] | None = None
    #: The error that another layer answers.
    refusal: QuotecastError | None = None


def request_state(scope: Any) -> RequestState:
    """Returns the state of a request, made at first."""
    state: RequestState | None = scope.get(_STATE)
    if state is None:
        state = scope[_STATE] = RequestState()
    return state
