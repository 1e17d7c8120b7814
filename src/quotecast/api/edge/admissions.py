"""Requests of keys that were admitted before: the gate admits the same again without another look.

A frontend sends the same key with each request. To recognise it takes as long as half of a small answer, so a
worker remembers what it found, until any key or plan changes.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol
from urllib.parse import parse_qsl

from msgspec import Struct, field

from quotecast.access.book import Holder
from quotecast.access.grant import GRANT, Grant
from quotecast.access.key_text import PREFIX, digest, is_ticket, parse
from quotecast.api.services import VIEW, MarketServices
from quotecast.asgi import Headers, Scope

#: Credentials, and paths of each, that a worker remembers.
MAX_CREDENTIALS: Final = 10_000
MAX_PATHS: Final = 256

_KEY_HEADER: Final = b"x-api-key"
_BEARER: Final = b"authorization"
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
    """What the gate found: the grant of a client, its view of the market, and until when it holds."""

    grant: Grant
    view: MarketServices | None
    key_id: str = ""
    #: The finder's state, and the Unix time, until which it holds; None without an end.
    state: object = None
    until: float | None = None
    paths: set[str] = field(default_factory=set)

    def enter(self, scope: Scope) -> None:
        """Leaves grant and view in a request's scope."""
        scope[GRANT] = self.grant
        if self.view is not None:
            scope[VIEW] = self.view


class Admissions:
    """The admissions of a worker, by the value of the header. `clock` is Unix time."""

    def __init__(self, finder: Finder, clock: Callable[[], float]) -> None:
        self._finder = finder
        self._clock = clock
        self._known: dict[bytes, Admission] = {}

    def find(self, given: bytes, scope: Scope) -> Admission | None:
        """Returns the admission of a request that needs no other look; None otherwise."""
        known = self._known.get(given)
        if known is None or known.state is not self._finder.state:
            return None
        # A socket needs a place, and its path means another thing over HTTP. `add` leaves out event streams.
        if scope["path"] not in known.paths or scope["type"] != "http":
            return None
        if scope["query_string"] and _may_name_moment(scope):
            return None
        if known.until is not None and self._clock() >= known.until:
            return None
        return known

    def add(
        self, given: bytes | None, holder: Holder, grant: Grant, view: MarketServices | None, scope: Scope
    ) -> Admission:
        """Returns the admission of a request; remembers it if the next one like it needs no other look."""
        key = holder.key
        if given is None:
            return Admission(grant, view, key.id)
        parts = parse(text_of(given))
        state = self._finder.state
        known = self._known.get(given)
        if known is None or known.state is not state:
            until = None if parts is None else key.good_until(digest(parts.secret))
            known = Admission(grant, view, key.id, state, until)
        narrow = key.scope.origins or key.scope.addresses or key.scope.symbols
        if len(self._known) >= MAX_CREDENTIALS:
            self._known.clear()
        if parts is not None and not narrow and scope["type"] == "http" and not is_feed(scope):
            self._known[given] = known
            if len(known.paths) < MAX_PATHS and not _may_name_moment(scope):
                known.paths.add(scope["path"])
        return known


def credential_of(scope: Scope) -> bytes | None:
    """Returns a request's API key or ticket as it is given; None without one.

    A key is in `X-API-Key` or in `Authorization: Bearer`. A ticket is a parameter of a feed's address.
    """
    headers: Headers = scope["headers"]
    for name, value in headers:
        if name == _KEY_HEADER or (name == _BEARER and _PREFIX in value):
            return value
    query: bytes = scope["query_string"]
    if b"ticket=" in query and is_feed(scope):
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in pairs if name == "ticket"), None)
        # No key in an address, where logs would show it.
        return None if given is None else given.encode() if is_ticket(given) else b""
    return None


def text_of(given: bytes) -> str:
    """Returns the text of a key or a ticket; empty under another scheme than Bearer."""
    scheme, _, text = given.decode("latin-1").strip().partition(" ")
    if not text:
        return scheme
    return text.strip() if scheme.lower() == "bearer" else ""


def is_feed(scope: Scope) -> bool:
    """Whether a request opens a socket or an event stream."""
    path: str = scope["path"]
    return scope["type"] == "websocket" or path.startswith("/api/sse/")


def _may_name_moment(scope: Any) -> bool:
    """Whether the query may name a recorded moment, which the plan bounds."""
    query: bytes = scope["query_string"]
    return b"at=" in query or b"%" in query
