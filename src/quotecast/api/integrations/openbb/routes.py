"""The routes of OpenBB Workspace: its two documents at the root, and the endpoints of the widgets."""

from typing import Any, Final

from litestar import Router, get

from quotecast.api.answers.answers import CACHE_LISTS, Answer, SharedBody, document_answer
from quotecast.api.integrations.openbb.apps import APPS
from quotecast.api.integrations.openbb.overviews import (
    COMPANY,
    banks,
    heatmap,
    instruments,
    movers,
    news,
    status,
)
from quotecast.api.integrations.openbb.quotes import Objects, feed_router, groups_route
from quotecast.api.integrations.openbb.widgets import WIDGETS
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.services import Services
from quotecast.api.reference.openapi import Reading, answered
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed

_WIDGETS: Final = SharedBody(encode_json(WIDGETS))
_APPS: Final = SharedBody(encode_json(APPS))


@get(
    "/widgets.json",
    sync_to_thread=False,
    operation_id="getOpenbbWidgets",
    summary="Widgets of OpenBB Workspace",
    operation_class=Reading,
    responses=answered(dict[str, Any], {"api_openbb_market_grid": {"name": "Live quotes"}}, "Widgets by id"),
)
@repeatable
def widgets(services: Services) -> Answer:  # noqa: ARG001 - as every read
    """Endpoints are relative to the address that a user adds to Workspace."""
    return document_answer(_WIDGETS, CACHE_LISTS)


@get(
    "/apps.json",
    sync_to_thread=False,
    operation_id="getOpenbbApps",
    summary="Dashboards of OpenBB Workspace",
    operation_class=Reading,
    responses=answered(Objects, [{"name": "quotecast"}], "Dashboards"),
)
@repeatable
def apps(services: Services) -> Answer:  # noqa: ARG001 - as every read
    """One dashboard with a tab for each market."""
    return document_answer(_APPS, CACHE_LISTS)


_FEEDS: Final = {
    Feed.STOCKS: [groups_route(Feed.STOCKS, "Market"), movers, heatmap, news, status],
    Feed.CRYPTO: [],
    Feed.DOVIZ: [groups_route(Feed.DOVIZ, "Doviz"), banks, instruments],
}
_ENDPOINTS: Final = Router(
    "/api/openbb",
    route_handlers=[
        *(feed_router(feed, *more) for feed, more in _FEEDS.items()),
        Router(
            "/company",
            route_handlers=COMPANY,
            opt={"feed": Feed.STOCKS, "door": "financials", "limit": "financials"},
        ),
    ],
    opt={"door": "openbb"},
)
ROUTER: Final = Router(
    "/",
    route_handlers=[widgets, apps, _ENDPOINTS],
    tags=["OpenBB"],
    # The two documents describe the widgets alone.
    opt={"tag": "A backend of OpenBB Workspace; `docs/openbb.md` says how to add it.", "feed": None},
)
