"""The gate: recognises API keys and tickets, and refuses what a client's plan or key excludes.

It stands before routes and feeds alike. A request without a key passes at once where everybody has the whole
market. What the gate cannot judge, such as the symbols of a socket, it leaves to the route or to the feed,
which find the client's grant in the request's state.
"""

import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct

from quotecast.access.errors import FeedOutOfPlan, LiveOutOfPlan, OutOfScope, SocketsInUse
from quotecast.access.grant import Grant
from quotecast.access.key_book import Holder
from quotecast.access.key_text import is_ticket
from quotecast.access.keys import Key
from quotecast.access.plans import ANONYMOUS, UNLIMITED, USER, Plan, Reach, of_everybody
from quotecast.access.request_state import NoClaims, request_state
from quotecast.access.usage import REFUSED, Counts, Usage
from quotecast.api.gate.addresses import Address, networks
from quotecast.api.gate.admissions import Admission, Admissions, Finder, credential_of, is_stream, text_of
from quotecast.api.middleware.problems import refuse_request
from quotecast.api.route_table import Route, RouteTable
from quotecast.api.views.views import Views
from quotecast.asgi import App, Message, Receive, Scope, Send, header_value
from quotecast.errors import InvalidValue, QuotecastError
from quotecast.history.moments import parse_moment
from quotecast.stream.client import connection_id
from quotecast.stream.endpoint import refuse_socket
from quotecast.users.tokens import Claims

#: The status of a handshake that opens a socket.
_SWITCHING: Final = 101


class Everybody(Struct, frozen=True):
    """The plans of clients without a key; None for the whole market."""

    anonymous: Grant | None
    user: Grant | None

    @property
    def users_differ(self) -> bool:
        """Whether users have another plan than everybody."""
        return self.user != self.anonymous

    @classmethod
    def of(cls, plans: Mapping[str, Plan]) -> "Everybody":
        """Returns the reserved plans of a file; without one for users they have the anonymous one."""
        anonymous, user = of_everybody(plans)
        if user != anonymous:
            return cls(Grant(ANONYMOUS, anonymous, is_private=True), Grant(USER, user, is_private=True))
        return cls(*(None if each == UNLIMITED else Grant(ANONYMOUS, each) for each in (anonymous, user)))


class Gate:
    """ASGI application before routes and feeds.

    `app` serves feeds too, `http` all else: requests that were admitted before go there at once. `table` has
    the routes of both. `address_of` returns a client's name for limits, `client_of` its address. `claims_of`
    returns those of a request's token; None without a valid one. `clock` is Unix time. `usage` counts the
    requests and sockets of keys.
    """

    def __init__(
        self,
        app: App,
        table: RouteTable,
        *,
        http: App | None = None,
        finder: Finder,
        usage: Usage,
        everybody: Everybody,
        views: Views,
        address_of: Callable[[Any], str],
        client_of: Callable[[Any], Address | None],
        claims_of: Callable[[Any], Claims | None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._app = app
        self._table = table
        self._http = http or app
        self._finder = finder
        self._usage = usage
        self._everybody = everybody
        self._is_open = everybody == Everybody(None, None)
        self._views = views
        self._address_of = address_of
        self._client_of = client_of
        self._claims_of = claims_of
        self._clock = clock
        self._admissions = Admissions(finder, clock)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serves one connection. No coroutine: an idle feed holds the frame of each."""
        if scope["type"] not in {"http", "websocket"}:
            return self._app(scope, receive, send)
        given = credential_of(scope, self._table)
        if given is None and self._is_open:
            return self._app(scope, receive, send)
        passed = None if given is None else self._admissions.find(given, scope)
        if passed is None:
            return self._pass(given, scope, receive, send)
        passed.enter(scope)
        return self._http(scope, receive, counting(self._usage, passed.key_id, send))

    async def _pass(self, given: bytes | None, scope: Scope, receive: Receive, send: Send) -> None:
        holder = None
        route = self._table.route_of(scope)
        try:
            holder = await self._holder(given, scope, route)
            if holder is not None:
                self._check_origin_and_address(holder.key, scope)
            grant = await self._everybodys(scope, route) if holder is None else Grant.of(holder)
            if grant is not None:
                self._check(grant, scope, route)
        except QuotecastError as refusal:
            await self._refuse(holder, refusal, scope, receive, send)
            return
        if grant is None:
            await self._app(scope, receive, send)
            return
        is_list = route is not None and route.symbols == "list"
        view = self._views.of(self._views.key_of(grant, for_list=is_list))
        if holder is None:
            Admission(grant, view).enter(scope)
            await self._app(scope, receive, send)
            return
        admission = self._admissions.add(given, holder, grant, view, scope, route=route)
        admission.enter(scope)
        if is_stream(route):
            await self._with_place(holder, grant, scope, receive, send)
        else:
            await self._app(scope, receive, counting(self._usage, holder.key.id, send))

    async def _holder(self, given: bytes | None, scope: Scope, route: Route | None) -> Holder | None:
        """Returns the holder of a request's key or ticket; of a stream also that of a user's session."""
        if given is not None:
            text = text_of(given)
            if is_ticket(text):
                return await self._finder.use_ticket(text)
            return await self._finder.find(text, self._address_of(scope))
        if not (self._everybody.users_differ and is_stream(route)):
            return None
        claims = self._claims_of(scope)
        return await self._finder.find_session(claims.sid) if claims else None

    async def _everybodys(self, scope: Scope, route: Route | None) -> Grant | None:
        """Returns the grant of a request without a key, and of a stream without a session."""
        both = self._everybody
        if not both.users_differ or is_stream(route):
            return both.anonymous
        claims = self._claims_of(scope)
        if claims is None:
            return both.anonymous
        if await self._finder.is_open_session(claims.sid):
            return both.user
        # A window has one limit: that of its user is the limit of the plan of users.
        request_state(scope).claims = NoClaims.INVALID
        return both.anonymous

    def _check_origin_and_address(self, key: Key, scope: Scope) -> None:
        """Raises OutOfScope for an origin or an address that the key is not for."""
        origins, allowed = key.scope.origins, key.scope.addresses
        origin = header_value(scope, b"origin")
        # Clients other than browsers omit the origin and pass, as they do elsewhere.
        if origins and origin is not None and origin.decode("latin-1").lower() not in origins:
            raise OutOfScope("This API key is not allowed from this origin")
        if not allowed:
            return
        address = self._client_of(scope)
        if address is None or not any(address in network for network in networks(allowed)):
            raise OutOfScope("This API key is not allowed from this address")

    def _check(self, grant: Grant, scope: Scope, route: Route | None) -> None:
        """Raises OutOfPlan or OutOfScope for a route that a client may not have."""
        if route is None:  # the router answers 404 or 405
            return
        if grant.plan.is_delayed and route.needs_live:
            raise LiveOutOfPlan(grant.plan_name, "has delayed quotes; alerts need live quotes")
        if not route.has_data:
            return
        if grant.plan.is_delayed and not self._views.has_delayed:
            raise FeedOutOfPlan(grant.plan_name, "has delayed quotes, which this service does not offer")
        if route.feed is not None:
            grant.require_feed(route.feed)
        for door in route.doors:
            grant.require_door(door)
        for moment in route.moments(scope["query_string"]):
            self._check_moment(grant, moment)
        if grant.only and route.symbols not in {"list", "nowhere"}:
            names = self._table.symbols_of(scope)
            mirror = self._views.whole.mirrors[route.feed] if route.feed and names else None
            if mirror is None or not mirror.scope_of(grant.only).issuperset(
                mirror.keys_named(names).values()
            ):
                raise OutOfScope("This API key is limited to certain symbols; this request returns others")

    def _check_moment(self, grant: Grant, moment: str) -> None:
        grant.require_door("replay")
        if grant.plan.history_days is None:
            return
        # The route answers a text that is not a moment.
        with contextlib.suppress(InvalidValue):
            reach = Reach(grant.plan_name, grant.plan.history_days)
            reach.require(parse_moment("at", moment), self._clock())

    async def _with_place(
        self, holder: Holder, grant: Grant, scope: Scope, receive: Receive, send: Send
    ) -> None:
        name = connection_id()
        if not await self._finder.take_place(holder, name):
            refusal = SocketsInUse(
                grant.plan_name, f"has at most {grant.plan.sockets} sockets and event streams"
            )
            await self._refuse(holder, refusal, scope, receive, send)
            return
        # Usage is of keys: that of a session counts for none.
        key_id, is_counted = holder.key.id, not holder.key.is_session
        if is_counted:
            if scope["type"] == "http":
                send = counting_stream(self._usage, key_id, send)
            else:
                self._usage.add_request(key_id, _SWITCHING)
            request_state(scope).counts = self._usage.open_socket(key_id)
        try:
            await self._app(scope, receive, send)
        finally:
            if is_counted:
                self._usage.close_socket(key_id)
            await self._finder.leave_place(holder, name)

    async def _refuse(
        self, holder: Holder | None, refusal: QuotecastError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers a request with an error, or closes a socket with one; it counts for a known key."""
        if holder is None or holder.key.is_session:
            self._usage.refusals[refusal.status] += refusal.status in REFUSED
        elif scope["type"] == "http":
            send = counting(self._usage, holder.key.id, send)
        else:
            self._usage.add_request(holder.key.id, refusal.status)
        if scope["type"] == "http":
            await refuse_request(scope, send, refusal)
        else:
            await receive()
            await refuse_socket(scope, send, refusal)


def counting(usage: Usage, key_id: str, send: Send) -> Send:
    """Returns a `send` that counts one request of a key when its answer starts, and the bytes of its body."""
    # Every request of a key passes here: a closure of four names takes longer than the counts.
    return partial(_count, usage, key_id, usage.of(key_id), send)


def counting_stream(usage: Usage, key_id: str, send: Send) -> Send:
    """Returns a `send` that counts the request of an event stream.

    It counts no bytes of a stream that opens: the hub counts its frames.
    """
    count, opens = counting(usage, key_id, send), False

    def answer(message: Message) -> Awaitable[Any]:
        nonlocal opens
        if opens:
            return send(message)
        opens = message.get("status") == 200
        return count(message)

    return answer


def _count(usage: Usage, key_id: str, counts: Counts, send: Send, message: Message) -> Awaitable[Any]:
    if counts.is_over:
        counts = usage.of(key_id)
    # Only the start of an answer has a status.
    if "status" in message:
        counts.requests += 1
        if message["status"] in REFUSED:
            usage.add_refusal(counts, message["status"])
    elif body := message.get("body"):
        counts.bytes += len(body)
    return send(message)
