"""The HTTP application: routes over the services. It opens and closes no resource.

It also finds the prefixes of private paths, and requires a guard on every secured route.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, Final
from urllib.parse import parse_qsl

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.exceptions import ImproperlyConfiguredException
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.routes import ASGIRoute, HTTPRoute
from litestar.types import ControllerRouterHandler, Middleware
from msgspec import Struct

from quotecast.api.answers.answers import SharedBody
from quotecast.api.gate.identity import require_key, require_token
from quotecast.api.gate.operators import Admin, require_operator
from quotecast.api.integrations.openbb import routes as openbb
from quotecast.api.integrations.udf import routes as udf
from quotecast.api.market.services import HttpRequest, MarketServices
from quotecast.api.middleware.problems import exception_handlers
from quotecast.api.reference import docs
from quotecast.api.reference.account_operations import AccountOperation
from quotecast.api.reference.asyncapi import asyncapi_document
from quotecast.api.reference.docs import Reference, ReferencePages
from quotecast.api.reference.openapi import openapi_document
from quotecast.api.route_table import RouteTable, query_parameters
from quotecast.api.routes.accounts import auth, keys, tickets
from quotecast.api.routes.admin import operations
from quotecast.api.routes.admin import router as operators
from quotecast.api.routes.alerts import alerts
from quotecast.api.routes.market import (
    crypto,
    doviz,
    events,
    financials,
    health,
    market,
    prices,
    quality,
    rates,
    search,
)
from quotecast.api.routes.portfolio import layouts, portfolio, watchlist, watchlists
from quotecast.errors import InvalidValue, UnknownParameter
from quotecast.market.codec import encode_json
from quotecast.similar_names import meant_name, misspelt
from quotecast.stream.event_stream import EVENT_PATHS

MAX_BODY_BYTES: Final = 80 * 1024

ROUTERS: Final = (
    market.ROUTER,
    crypto.ROUTER,
    doviz.ROUTER,
    financials.ROUTER,
    search.ROUTER,
    prices.ROUTER,
    quality.ROUTER,
    rates.ROUTER,
    openbb.ROUTER,
    udf.ROUTER,
    auth.ROUTER,
    portfolio.ROUTER,
    watchlist.ROUTER,
    alerts.ROUTER,
    watchlists.ROUTER,
    layouts.ROUTER,
    tickets.ROUTER,
    tickets.USER_ROUTER,
    keys.ROUTER,
    events.ROUTER,
    health.ROUTER,
    docs.ROUTER,
    docs.ROOT_ROUTER,
    events.SOCKETS_ROUTER,
)
#: The types of request bodies.
_BODIES: Final[tuple[type[Struct], ...]] = (
    *auth.BODIES,
    *portfolio.BODIES,
    *watchlist.BODIES,
    *alerts.BODIES,
    *watchlists.BODIES,
    *layouts.BODIES,
    *keys.BODIES,
)

_GUARDS: Final = frozenset({require_token, require_key, require_operator})


def build_app(
    services: MarketServices,
    *,
    routers: Sequence[Router] = ROUTERS,
    extra_handlers: Iterable[ControllerRouterHandler] = (),
    middleware: Sequence[Middleware] = (),
    admin: Admin | None = None,
) -> Litestar:
    """Returns the application with some routers; it serves and documents `extra_handlers` like theirs.

    Without `admin` it has no routes for operators. The first request for a document makes both, because that
    takes longer than making the routes.

    No route answers HEAD: the middleware in front turns HEAD into GET.
    """
    handlers: list[Any] = [*routers, *([operators.ROUTER] if admin else []), *extra_handlers]
    reference = Reference(partial(_documents, *handlers))
    app = Litestar(
        handlers,
        state=State({"services": services, "reference": reference, "admin": admin}),
        middleware=middleware,
        before_request=check_query,
        exception_handlers=exception_handlers(),
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,
        # `problems` logs failures when it answers them.
        logging_config=None,
    )
    require_guards(app)
    app.state.table = table = RouteTable(app)
    table.require_streams(EVENT_PATHS)
    return app


@cache
def _documents(*handlers: ControllerRouterHandler) -> ReferencePages:
    """Caches the documents, also for the next application with the same routes."""
    if operators.ROUTER in handlers:
        document = openapi_document([*handlers], (*_BODIES, *operators.BODIES))
        document["components"]["securitySchemes"]["operator"] = operations.SCHEME.to_schema()
    else:
        document = openapi_document([*handlers], _BODIES)
    return ReferencePages(SharedBody(encode_json(document)), SharedBody(encode_json(asyncapi_document())))


async def check_query(request: HttpRequest) -> None:
    """Raises UnknownParameter for a misspelt name and for another route's name; other names are ignored.

    Raises InvalidValue for `null`, which the framework takes for an omitted parameter unless that is a text.
    """
    query: bytes = request.scope["query_string"]
    if not query:
        return
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    handler = request.route_handler
    if found := misspelt((name for name, _ in given), query_parameters(handler).keys(), meant_name):
        raise UnknownParameter(*found)
    for name, value in given:
        if value.lower() == "null" and name in _nullable(handler):
            raise InvalidValue(name, "Must have a value, or be left out")


@cache
def _nullable(handler: BaseRouteHandler) -> frozenset[str]:
    """Returns the names of optional parameters that are neither texts nor lists of them."""
    return frozenset(
        name
        for name, field in query_parameters(handler).items()
        if field.is_optional and not field.has_inner_subclass_of((str, list))
    )


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
