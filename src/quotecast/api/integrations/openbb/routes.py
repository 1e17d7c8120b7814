"""The routes of OpenBB Workspace: its two documents at the root, and the endpoints of the widgets."""

from typing import Any, Final

from litestar import Router, get

from quotecast.api.answers.answers import CACHE_LISTS, Answer, SharedBody, document_answer
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
from quotecast.api.integrations.openbb.widgets import ROOT, WIDGETS, widget_id
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.services import Services
from quotecast.api.reference.openapi import Reading, answered
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed

_HALF: Final = 20
_HEIGHT: Final = 12


def _tab(tab_id: str, name: str, *endpoints: str) -> dict[str, Any]:
    """Returns a tab with its widgets in two columns."""
    layout = [
        {
            "i": widget_id(f"{ROOT}/{endpoint}"),
            "x": number % 2 * _HALF,
            "y": number // 2 * _HEIGHT,
            "w": _HALF,
            "h": _HEIGHT,
        }
        for number, endpoint in enumerate(endpoints)
    ]
    return {"id": tab_id, "name": name, "layout": layout}


_TABS: Final = [
    _tab("watch", "Watch", "market/grid", "crypto/grid", "doviz/grid", "market/status"),
    _tab("stocks", "Stocks", "market/heatmap", "market/movers", "market/quotes", "market/bars"),
    _tab(
        "company",
        "Company",
        "company/profile",
        "company/metrics",
        "company/earnings",
        "company/recommendations",
        "market/news",
    ),
    _tab("crypto", "Crypto", "crypto/quotes", "crypto/bars"),
    _tab("turkiye", "Türkiye", "doviz/quotes", "doviz/banks", "doviz/bars"),
]
_COMPANY: Final = tuple(f"company/{name}" for name in ("profile", "metrics", "earnings", "recommendations"))


def _group(name: str, symbol: str, *endpoints: str) -> dict[str, Any]:
    """Returns the group of widgets that show the same symbol, also after a click on one in a table."""
    return {
        "name": name,
        "type": "param",
        "paramName": "symbol",
        "defaultValue": symbol,
        "widgetIds": [widget_id(f"{ROOT}/{endpoint}") for endpoint in endpoints],
    }


# Format: docs.openbb.co/workspace/developers/json-specs/apps-json-reference. The grid is 40 wide.
APPS: Final[list[dict[str, Any]]] = [
    {
        "name": "quotecast",
        "img": "",
        "img_dark": "",
        "img_light": "",
        "description": "Live US stocks, crypto pairs, and Turkish currency and metals of your own service.",
        "allowCustomization": True,
        "tabs": {tab["id"]: tab for tab in _TABS},
        "groups": [
            _group("Stock", "AAPL", "market/quotes", "market/movers", "market/bars", *_COMPANY),
            _group("Pair", "BTC/USDT", "crypto/quotes", "crypto/bars"),
            _group("Currency or metal", "gram-altin", "doviz/quotes", "doviz/bars"),
        ],
        "prompts": [
            f"Which stocks move the most today? @[id:{widget_id(f'{ROOT}/market/movers')}]",
            f"Which bank has the narrowest spread? @[id:{widget_id(f'{ROOT}/doviz/banks')}]",
        ],
    }
]
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
