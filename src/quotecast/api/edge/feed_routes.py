"""The routes that an edge answers from its own copy of the feeds; it forwards all others to the origin."""

from typing import Final

from litestar import Router

from quotecast.api.routes.market import crypto, doviz, events, health, market, search


def _with_handlers(router: Router, handlers: list[object]) -> Router:
    return Router(router.path, route_handlers=handlers, tags=router.tags, opt=router.opt)  # type: ignore[arg-type]


ROUTERS: Final = (
    _with_handlers(market.ROUTER, [*market.FEED_HANDLERS]),
    _with_handlers(crypto.ROUTER, [*crypto.FEED_HANDLERS]),
    _with_handlers(doviz.ROUTER, [*doviz.FEED_HANDLERS]),
    search.ROUTER,
    events.ROUTER,
    health.ROUTER,
)
