"""Requests of keys that were admitted before: the gate admits the same again without another look.

A frontend sends the same key with each request. To recognise it takes as long as half of a small answer, so a
worker remembers what it found, until any key or plan changes.
"""

from collections.abc import Callable
from typing import Final, Protocol

from msgspec import Struct, field

from quotecast.access.grant import Grant
from quotecast.access.key_book import Holder
from quotecast.access.key_text import PREFIX, digest, is_ticket, parse
from quotecast.access.request_state import request_state
from quotecast.api.market.services import MarketServices
from quotecast.api.route_table import Route, RouteTable
from quotecast.asgi import Headers, Scope, query_values

#: Credentials, and routes of each, that a worker remembers.
MAX_CREDENTIALS: Final = 10_000
MAX_ROUTES: Final = 256

_PREFIX: Final = PREFIX.encode()


class Finder(Protocol):
    """Finds the holders of keys and of tickets."""

    @property
    def state(self) -> object:
        """Another object whenever a known key may have other rights than before."""
        ...

    async def find(self, text: str, address: str) -> Holder:
        """Returns the holder of a key. Raises a QuotecastError."""
        ...

    async def use_ticket(self, ticket: str) -> Holder:
        """Returns the holder of a ticket, once. Raises a QuotecastError."""
        ...

    async def find_session(self, session_id: str) -> Holder:
        """Returns the holder of a user's session. Raises a QuotecastError."""
        ...

    async def is_open_session(self, session_id: str) -> bool:
        """Whether a user's session goes on."""
        ...

    async def take_place(self, holder: Holder, name: str) -> bool:
        """Counts a socket of a key; returns False if its plan has no more."""
        ...

    async def leave_place(self, holder: Holder, name: str) -> None:
        """Frees the place of a socket."""
        ...


class Admission(Struct):
    """The gate's decision: the grant of a client, its view of the market, and the end of both."""

    grant: Grant
    view: MarketServices | None
    key_id: str = ""
    #: The finder's state, and the Unix time, until which it holds; None without an end.
    state: object = None
    until: float | None = None
    #: The routes that were admitted, by method and path.
    routes: dict[tuple[str, str], Route] = field(default_factory=dict)

    def enter(self, scope: Scope) -> None:
        """Leaves grant and view in a request's state."""
        state = request_state(scope)
        state.grant, state.view = self.grant, self.view


class Admissions:
    """The admissions of a worker, by the value of the header. `clock` is Unix time."""

    def __init__(self, finder: Finder, clock: Callable[[], float]) -> None:
        self._finder = finder
        self._clock = clock
        self._remembered: dict[bytes, Admission] = {}

    def find(self, given: bytes, scope: Scope) -> Admission | None:
        """Returns the admission of a request that needs no other look; None otherwise."""
        admission = self._remembered.get(given)
        if admission is None or admission.state is not self._finder.state:
            return None
        # A stream needs a place: `add` leaves it out.
        if scope["type"] != "http":
            return None
        route = admission.routes.get((scope["method"], scope["path"]))
        if route is None or route.moments(scope["query_string"]):
            return None
        if admission.until is not None and self._clock() >= admission.until:
            return None
        return admission

    def add(
        self,
        given: bytes | None,
        holder: Holder,
        grant: Grant,
        view: MarketServices | None,
        scope: Scope,
        *,
        route: Route | None,
    ) -> Admission:
        """Returns the admission of a request; remembers it if the next one like it needs no other look."""
        key = holder.key
        if given is None:
            return Admission(grant, view, key.id)
        parts = parse(text_of(given))
        state = self._finder.state
        admission = self._remembered.get(given)
        if admission is None or admission.state is not state:
            until = None if parts is None else key.good_until(digest(parts.secret))
            admission = Admission(grant, view, key.id, state, until)
        narrow = key.scope.origins or key.scope.addresses or key.scope.symbols
        if len(self._remembered) >= MAX_CREDENTIALS:
            self._remembered.clear()
        if parts is not None and not narrow and route is not None and not route.is_stream:
            self._remembered[given] = admission
            if len(admission.routes) < MAX_ROUTES and not route.moments(scope["query_string"]):
                admission.routes[scope["method"], scope["path"]] = route
        return admission


def credential_of(scope: Scope, table: RouteTable) -> bytes | None:
    """Returns a request's API key or ticket as it is given; None without one.

    A key is in `X-API-Key` or in `Authorization: Bearer`. A ticket is a parameter of a stream's address.
    """
    headers: Headers = scope["headers"]
    for name, value in headers:
        if name == b"x-api-key" or (name == b"authorization" and _PREFIX in value):
            return value
    query: bytes = scope["query_string"]
    if b"ticket=" in query and is_stream(table.route_of(scope)):
        given = query_values(query, "ticket")
        # No key in an address, where logs would show it.
        return None if not given else given[0].encode() if is_ticket(given[0]) else b""
    return None


def text_of(given: bytes) -> str:
    """Returns the text of a key or a ticket; empty under another scheme than Bearer."""
    scheme, _, text = given.decode("latin-1").strip().partition(" ")
    if not text:
        return scheme
    return text.strip() if scheme.lower() == "bearer" else ""


def is_stream(route: Route | None) -> bool:
    """Whether a request opens a socket or an event stream."""
    return route is not None and route.is_stream
