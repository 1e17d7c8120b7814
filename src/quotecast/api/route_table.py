"""The table of routes: what each route serves of the market, and what it asks of a client.

A route declares this in its `opt`, or in that of its router:

- `feed`: the feed whose data it serves, EVERY for data of several feeds, None for no data of the market. No
  route is without one.
- `door`: the right of a plan that it needs. The doors of a route and of its routers add up.
- `symbols`: where a request names its symbols. Keys for some symbols open no route without it.
- `live`: True if it needs live quotes, as alerts do.
- `limit`: the group of its rate limit; `by_address` counts requests by address, also those with a token.

A route with the query parameter `at` may serve a recorded moment.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, get_args

from litestar import Litestar
from litestar.exceptions import HTTPException, ImproperlyConfiguredException
from litestar.handlers import ASGIRouteHandler, BaseRouteHandler, HTTPRouteHandler
from litestar.params import QueryParameter
from litestar.routes import ASGIRoute, HTTPRoute
from litestar.typing import FieldDefinition
from litestar.utils import normalize_path
from msgspec import Struct

from quotecast.access.plans import DOORS, Door
from quotecast.asgi import Scope, query_values
from quotecast.market.feeds import Feed
from quotecast.settings.model import LIMIT_GROUPS
from quotecast.stream.endpoint import ALL_FEEDS, GRIDS, PATHS
from quotecast.stream.relays import PATH as RELAY_PATH

FEED: Final = "feed"
DOOR: Final = "door"
SYMBOLS: Final = "symbols"
LIVE: Final = "live"
LIMIT: Final = "limit"
BY_ADDRESS: Final = "by_address"
#: The description of a router's tag in the OpenAPI document.
TAG: Final = "tag"

#: Data of several feeds: a client's view leaves out what its plan excludes.
EVERY: Final = "every"
#: In the parameter `symbol` of the path or `symbols` of the query. A list needs no names: it has those of the
#: key alone. Nowhere: the answer has no symbols, or the feed checks them.
SymbolsIn = Literal["path", "query", "list", "nowhere"]

_AT: Final = "at"
#: The values of each declaration that has choices.
_CHOICES: Final[Mapping[str, Sequence[object]]] = {
    DOOR: DOORS,
    SYMBOLS: get_args(SymbolsIn),
    LIVE: (True, False),
    LIMIT: LIMIT_GROUPS,
    BY_ADDRESS: (True, False),
}
_KEYS: Final = frozenset({FEED, TAG, *_CHOICES})


class Route(Struct, frozen=True):
    """The market data that a route serves, and the rights that it needs of a plan."""

    #: The one feed of its data; None for several.
    feed: Feed | None = None
    #: Whether it serves data of the market.
    has_data: bool = True
    doors: tuple[Door, ...] = ()
    symbols: SymbolsIn | None = None
    #: Whether a request may name a recorded moment.
    has_moment: bool = False
    needs_live: bool = False
    #: Whether it opens a socket or an event stream.
    is_stream: bool = False

    def moments(self, query: bytes) -> Sequence[str]:
        """Returns the recorded moments that a query names."""
        return query_values(query, _AT) if self.has_moment else ()


def _socket(feed: Feed | None, *doors: Door) -> Route:
    return Route(feed, doors=("websocket", *doors), symbols="nowhere", has_moment=True, is_stream=True)


#: The routes of sockets.
_SOCKETS: Final = {
    RELAY_PATH: Route(has_data=False, is_stream=True),
    ALL_FEEDS: _socket(None),
    **{path: _socket(feed) for path, feed in PATHS.items()},
    **{path: _socket(feed, "openbb") for path, feed in GRIDS.items()},
}
#: The endpoint refuses sockets of other paths later.
_UNKNOWN_SOCKET: Final = _socket(None)


@cache
def query_parameters(handler: BaseRouteHandler) -> Mapping[str, FieldDefinition]:
    """Returns the parameters of a route's query by their names."""
    return {
        field.kwarg_definition.name or name: field
        for name, field in handler.parsed_fn_signature.parameters.items()
        if isinstance(field.kwarg_definition, QueryParameter)
    }


class RouteTable:
    """The declared routes of an application, found by a request's method and path.

    Raises ImproperlyConfiguredException for a route without a feed, and for a misspelt declaration or value.
    """

    def __init__(self, app: Litestar) -> None:
        self._router = app.asgi_router
        self._routes = {id(handler): _declared(path, handler) for path, handler in _handlers(app)}

    def require_streams(self, paths: Mapping[str, Feed]) -> None:
        """Raises ImproperlyConfiguredException for the path of an event stream that no route declares.

        The feed server serves it in front of the routes, and the gate would let its requests through.
        """
        for path, feed in paths.items():
            route = self.route_of({"type": "http", "method": "GET", "path": path})
            if route is None or route.feed is not feed or not route.is_stream:
                raise ImproperlyConfiguredException(f"{path} needs a route that declares {feed!r} and `sse`")

    def route_of(self, scope: Scope) -> Route | None:
        """Returns the route of a request; None where the application has none."""
        if scope["type"] == "websocket":
            return _SOCKETS.get(scope["path"], _UNKNOWN_SOCKET)
        found = self._find(scope)
        return found and found[0]

    def symbols_of(self, scope: Scope) -> Sequence[str]:
        """Returns the symbols that a request names where its route says; empty for two lists of them."""
        found = self._find(scope)
        if found is None:
            return ()
        route, parameters = found
        if route.symbols == "path":
            # A parameter that may hold slashes comes with one in front.
            return [str(parameters["symbol"]).removeprefix("/")]
        lists = query_values(scope["query_string"], "symbols") if route.symbols == "query" else []
        # Of two lists the route may read the other one.
        return [name for name in map(str.strip, lists[0].split(",")) if name] if len(lists) == 1 else []

    def _find(self, scope: Scope) -> tuple[Route, Mapping[str, Any]] | None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        try:
            _, handler, _, parameters, _ = self._router.handle_routing(normalize_path(scope["path"]), method)
        except HTTPException:
            return None
        # The framework answers OPTIONS itself.
        route = self._routes.get(id(handler))
        return None if route is None else (route, parameters)


def _handlers(app: Litestar) -> Iterator[tuple[str, HTTPRouteHandler | ASGIRouteHandler]]:
    for route in app.routes:
        if isinstance(route, ASGIRoute):
            yield route.path, route.route_handler
        elif isinstance(route, HTTPRoute):
            yield from (
                (route.path, each) for each in route.route_handlers if each.http_methods != {"OPTIONS"}
            )


def _declared(path: str, handler: HTTPRouteHandler | ASGIRouteHandler) -> Route:
    declared = handler.opt
    feed = declared.get(FEED, "")
    if not (feed is None or feed == EVERY or isinstance(feed, Feed)):
        raise ImproperlyConfiguredException(f"{path} must declare its `feed`: a Feed, EVERY or None")
    if unknown := declared.keys() - _KEYS:
        raise ImproperlyConfiguredException(f"{path} declares {', '.join(unknown)}, which has no meaning")
    if declared.get(SYMBOLS) == "path" and "{symbol:" not in path:
        raise ImproperlyConfiguredException(f"{path} has no parameter `symbol`")
    layers = [layer.opt or {} for layer in handler.ownership_layers]
    for key, value in (each for layer in layers for each in layer.items()):
        if value not in _CHOICES.get(key, (value,)):
            raise ImproperlyConfiguredException(
                f"{path} declares {key} {value!r}; there are: {', '.join(map(str, _CHOICES[key]))}"
            )
    doors = tuple(dict.fromkeys(layer[DOOR] for layer in layers if DOOR in layer))
    return Route(
        feed=feed if isinstance(feed, Feed) else None,
        has_data=feed is not None,
        doors=doors,
        symbols=declared.get(SYMBOLS),
        has_moment=_AT in query_parameters(handler),
        needs_live=bool(declared.get(LIVE)),
        is_stream="sse" in doors,
    )
