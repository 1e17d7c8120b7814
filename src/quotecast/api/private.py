"""Paths of account routes, derived from the declarations of the routes."""

from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from quotecast.api.reference.account_operations import AccountOperation


def private_prefixes(app: Litestar) -> tuple[str, ...]:
    """Returns the prefixes of all paths whose answers belong to one user.

    A route is private if it is secured, or if its operation is an AccountOperation. A prefix ends before the
    first path parameter, so `/api/watchlist` covers `/api/watchlist/{ticker}` too.
    """
    routes = (route for route in app.routes if isinstance(route, HTTPRoute))
    paths = {
        route.path_format.partition("/{")[0]
        for route in routes
        if any(_is_private(handler) for handler in route.route_handlers)
    }
    return tuple(sorted(paths))


def _is_private(handler: HTTPRouteHandler) -> bool:
    return bool(handler.resolve_security()) or issubclass(handler.operation_class, AccountOperation)
