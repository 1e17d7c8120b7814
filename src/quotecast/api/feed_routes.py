"""The routes that an edge answers from its own copy of the feeds; it forwards all others to the origin."""

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

from litestar import Litestar, Router

from quotecast.api.private import handlers_of
from quotecast.api.routes import crypto, doviz, health, market, search
from quotecast.asgi import Scope

#: The parameter of a recorded moment: only the origin has a history.
_AT: Final = "at"


def _with_handlers(router: Router, handlers: list[object]) -> Router:
    return Router(router.path, route_handlers=handlers, tags=router.tags, opt=router.opt)  # type: ignore[arg-type]


ROUTERS: Final = (
    _with_handlers(market.ROUTER, [*market.FEED_HANDLERS]),
    _with_handlers(crypto.ROUTER, [*crypto.FEED_HANDLERS]),
    _with_handlers(doviz.ROUTER, [*doviz.FEED_HANDLERS]),
    search.ROUTER,
    health.ROUTER,
)


def is_answered_by(app: Litestar) -> Callable[[Scope], bool]:
    """Returns a function that says whether the application has a route for a request's path.

    A request for a recorded moment is not answered here.
    """
    paths = {path for path, _ in handlers_of(app)}
    whole = frozenset(path for path in paths if "{" not in path)
    beginnings = tuple(path.partition("{")[0] for path in paths if "{" in path)

    def is_answered(scope: Scope) -> bool:
        path: str = scope["path"].rstrip("/")
        query: bytes = scope["query_string"]
        return (path in whole or path.startswith(beginnings)) and not _names_moment(query)

    return is_answered


def _names_moment(query: bytes) -> bool:
    # Most requests name none, and need no parser.
    if b"at=" not in query and b"%" not in query:
        return False
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    return any(name == _AT for name, _ in pairs)
