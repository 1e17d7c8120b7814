"""The gate: recognises API keys and tickets, and refuses what a client's plan or key excludes.

It stands before routes and feeds alike. A request without a key passes at once where everybody has the whole
market. What the gate cannot judge, such as the symbols of a socket, it leaves to the route or to the feed,
which find the client's grant in the request's scope.
"""

import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from msgspec import Struct

from quotecast.access.book import Holder
from quotecast.access.grant import Grant
from quotecast.access.key_text import is_ticket
from quotecast.access.keys import Key
from quotecast.access.plans import ANONYMOUS, UNLIMITED, USER, Plan
from quotecast.access.reach import Reach
from quotecast.access.usage import REFUSED, Usage
from quotecast.api.edge.addresses import Address, networks
from quotecast.api.edge.admissions import (
    Admission,
    Admissions,
    Finder,
    credential_of,
    is_feed,
    text_of,
)
from quotecast.api.edge.key_counting import counting
from quotecast.api.edge.needs import needs_of, require_names
from quotecast.api.edge.problems import refuse_request
from quotecast.api.views import Views
from quotecast.asgi import App, Receive, Scope, Send
from quotecast.errors import InvalidValue, OutOfScope, QuotecastError, SocketsInUse
from quotecast.history.moments import parse_moment
from quotecast.stream.client import connection_id
from quotecast.stream.endpoint import refuse_socket
from quotecast.stream.metered import COUNTS

#: The status of a handshake that opens a socket.
_SWITCHING: Final = 101


class Everybody(Struct, frozen=True):
    """The plans of clients without a key; None for the whole market."""

    anonymous: Grant | None
    user: Grant | None

    @classmethod
    def of(cls, plans: Mapping[str, Plan]) -> "Everybody":
        """Returns the reserved plans of a file; without one for users they have that of everybody."""
        anonymous = plans.get(ANONYMOUS, UNLIMITED)
        user = plans.get(USER, anonymous)
        return cls(
            None if anonymous == UNLIMITED else Grant(ANONYMOUS, anonymous),
            None if user == UNLIMITED else Grant(USER, user),
        )


class Gate:
    """ASGI application before routes and feeds.

    `address_of` returns a client's name for limits, `client_of` its address. `is_user` says whether a request
    has a valid token of a user. `clock` is Unix time. `usage` counts the requests and sockets of keys.
    """

    def __init__(
        self,
        app: App,
        *,
        finder: Finder,
        usage: Usage,
        everybody: Everybody,
        views: Views,
        address_of: Callable[[Any], str],
        client_of: Callable[[Any], Address | None],
        is_user: Callable[[Any], bool],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._app = app
        self._finder = finder
        self._usage = usage
        self._everybody = everybody
        self._is_open = everybody == Everybody(None, None)
        self._views = views
        self._address_of = address_of
        self._client_of = client_of
        self._is_user = is_user
        self._clock = clock
        self._admissions = Admissions(finder, clock)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serves one connection. No coroutine: an idle feed holds the frame of each."""
        if scope["type"] not in {"http", "websocket"}:
            return self._app(scope, receive, send)
        given = credential_of(scope)
        if given is None and self._is_open:
            return self._app(scope, receive, send)
        passed = None if given is None else self._admissions.find(given, scope)
        if passed is None:
            return self._pass(given, scope, receive, send)
        passed.enter(scope)
        return self._app(scope, receive, counting(self._usage, passed.key_id, send))

    async def _pass(self, given: bytes | None, scope: Scope, receive: Receive, send: Send) -> None:
        holder = None
        try:
            if given is not None:
                holder = await self._holder(text_of(given), scope)
                self._check_place_of_use(holder.key, scope)
            grant = self._everybodys(scope) if holder is None else Grant.of(holder)
            if grant is not None:
                self._check(grant, scope)
        except QuotecastError as refusal:
            await self._refuse(holder, refusal, scope, receive, send)
            return
        if grant is None:
            await self._app(scope, receive, send)
            return
        view = self._views.of(self._views.key_of(grant))
        if holder is None or given is None:
            Admission(grant, view).enter(scope)
            await self._app(scope, receive, send)
            return
        admission = self._admissions.add(given, holder, grant, view, scope)
        admission.enter(scope)
        if is_feed(scope):
            await self._with_place(holder, grant, scope, receive, send)
        else:
            await self._app(scope, receive, counting(self._usage, holder.key.id, send))

    async def _holder(self, text: str, scope: Scope) -> Holder:
        if is_ticket(text):
            return await self._finder.use_ticket(text)
        return await self._finder.find(text, self._address_of(scope))

    def _everybodys(self, scope: Scope) -> Grant | None:
        """Returns the grant of a request without a key."""
        both = self._everybody
        return both.user if both.user != both.anonymous and self._is_user(scope) else both.anonymous

    def _check_place_of_use(self, key: Key, scope: Scope) -> None:
        """Raises OutOfScope for an origin or an address that the key is not for."""
        origins, allowed = key.scope.origins, key.scope.addresses
        origin = _header(scope, b"origin")
        # Clients that are no browsers send no origin and pass, as they do elsewhere.
        if origins and origin is not None and origin.decode("latin-1").lower() not in origins:
            raise OutOfScope("This API key is not for pages of this origin")
        if not allowed:
            return
        address = self._client_of(scope)
        if address is None or not any(address in network for network in networks(allowed)):
            raise OutOfScope("This API key is not for this address")

    def _check(self, grant: Grant, scope: Scope) -> None:
        """Raises OutOfPlan or OutOfScope for a path that a client may not have."""
        needs = needs_of(scope["path"], scope["type"])
        if needs is None:
            return
        for feed in needs.feeds:
            grant.require_feed(feed)
        for door in needs.doors:
            grant.require_door(door)
        query: bytes = scope["query_string"]
        # Most requests name no moment, and need no parser.
        if b"at=" in query or b"%" in query:
            for moment in _names(query, "at"):
                self._check_moment(grant, moment)
        if grant.only and scope["type"] == "http":
            require_names(scope, grant.only, self._views.whole)

    def _check_moment(self, grant: Grant, moment: str) -> None:
        grant.require_door("replay")
        if grant.plan.history_days is None:
            return
        # The route answers a text that is no moment.
        with contextlib.suppress(InvalidValue):
            reach = Reach(grant.plan_name, grant.plan.history_days)
            reach.require(parse_moment("at", moment), self._clock())

    async def _with_place(
        self, holder: Holder, grant: Grant, scope: Scope, receive: Receive, send: Send
    ) -> None:
        name = connection_id()
        if not await self._finder.take_place(holder, name):
            refusal = SocketsInUse(grant.plan_name, f"at most {grant.plan.sockets} sockets and event streams")
            await self._refuse(holder, refusal, scope, receive, send)
            return
        key_id, usage = holder.key.id, self._usage
        if scope["type"] == "http":
            send = counting(usage, key_id, send, is_stream=True)
        else:
            usage.add_request(key_id, _SWITCHING)
        scope[COUNTS] = usage.open_socket(key_id)
        try:
            await self._app(scope, receive, send)
        finally:
            usage.close_socket(key_id)
            await self._finder.leave_place(holder, name)

    async def _refuse(
        self, holder: Holder | None, refusal: QuotecastError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers a request with an error, which counts for a known key."""
        if holder is None:
            self._usage.refusals[refusal.status] += refusal.status in REFUSED
        elif scope["type"] == "http":
            send = counting(self._usage, holder.key.id, send)
        else:
            self._usage.add_request(holder.key.id, refusal.status)
        await _refuse(refusal, scope, receive, send)


def _names(query: bytes, wanted: str) -> list[str]:
    """Returns the values of a parameter."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    return [value for name, value in pairs if name == wanted]


def _header(scope: Scope, wanted: bytes) -> bytes | None:
    return next((value for name, value in scope["headers"] if name == wanted), None)


async def _refuse(refusal: QuotecastError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answers a request with an error; closes a socket with an error frame and a code."""
    if scope["type"] == "http":
        await refuse_request(scope, send, refusal)
    else:
        await receive()
        await refuse_socket(scope, send, refusal)
