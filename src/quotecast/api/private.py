"""Account routes, recognised by what each route declares: their paths, and the guard of their tokens."""

from collections.abc import Iterator
from typing import Any

from litestar import Litestar
from litestar.exceptions import ImproperlyConfiguredException
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from quotecast.api.edge.identity import require_token
from quotecast.api.reference.account_operations import AccountOperation


def private_prefixes(app: Litestar) -> tuple[str, ...]:
    """Returns the prefixes of all paths whose answers belong to one user.

    A route is private if it is secured, or if its operation is an AccountOperation. A prefix ends before the
    first path parameter, so `/api/watchlist` covers `/api/watchlist/{ticker}` too.
    """
    paths = {path.partition("/{")[0] for path, handler in _handlers(app) if _is_private(handler)}
    return tuple(sorted(paths))


def require_guards(app: Litestar) -> None:
    """Raises ImproperlyConfiguredException for a secured route without the guard `require_token`.

    The OpenAPI document would promise a token that the route never asks for.
    """
    for path, handler in _handlers(app):
        if handler.resolve_security() and not _has_guard(handler):
            raise ImproperlyConfiguredException(f"{path} declares security; it needs the guard require_token")


def _handlers(app: Litestar) -> Iterator[tuple[str, HTTPRouteHandler]]:
    routes = (route for route in app.routes if isinstance(route, HTTPRoute))
    return ((route.path_format, handler) for route in routes for handler in route.route_handlers)


def _is_private(handler: HTTPRouteHandler) -> bool:
    return bool(handler.resolve_security()) or issubclass(handler.operation_class, AccountOperation)


def _has_guard(handler: HTTPRouteHandler) -> bool:
    layers: list[Any] = list(handler.ownership_layers)
    return any(require_token in (layer.guards or ()) for layer in layers)
