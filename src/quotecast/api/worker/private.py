"""Account routes, recognised by what each route declares: their paths, and the guard of their tokens."""

from collections.abc import Iterator
from typing import Any, Final

from litestar import Litestar
from litestar.exceptions import ImproperlyConfiguredException
from litestar.handlers import HTTPRouteHandler
from litestar.routes import ASGIRoute, HTTPRoute

from quotecast.api.gate.identity import require_key, require_token
from quotecast.api.gate.operators import require_operator
from quotecast.api.reference.account_operations import AccountOperation

_GUARDS: Final = frozenset({require_token, require_key, require_operator})


def private_prefixes(app: Litestar) -> tuple[str, ...]:
    """Returns the prefixes of all paths whose answers belong to one user.

    A route is private if it is secured, if its operation is an AccountOperation, or if it is an ASGI
    application of its own: MCP answers for the user of the token. A prefix ends before the first path
    parameter, so `/api/watchlist` covers `/api/watchlist/{ticker}` too.
    """
    paths = {
        path.partition("/{")[0]
        for path, handler in handlers_of(app)
        if handler.resolve_security() or issubclass(handler.operation_class, AccountOperation)
    }
    paths |= {route.path for route in app.routes if isinstance(route, ASGIRoute)}
    return tuple(sorted(paths))


def require_guards(app: Litestar) -> None:
    """Raises ImproperlyConfiguredException for a secured route without a guard.

    The OpenAPI document would promise a token or a key that the route never asks for.
    """
    for path, handler in handlers_of(app):
        layers: list[Any] = list(handler.ownership_layers)
        has_guard = any(_GUARDS.intersection(layer.guards or ()) for layer in layers)
        if handler.resolve_security() and not has_guard:
            raise ImproperlyConfiguredException(f"{path} declares security; it needs a guard of `_GUARDS`")


def handlers_of(app: Litestar) -> Iterator[tuple[str, HTTPRouteHandler]]:
    """Yields the path of every route, and its handlers."""
    routes = (route for route in app.routes if isinstance(route, HTTPRoute))
    return ((route.path_format, handler) for route in routes for handler in route.route_handlers)
