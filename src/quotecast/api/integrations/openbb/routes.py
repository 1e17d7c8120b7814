"""The routes of OpenBB Workspace: its two documents at the root, and the endpoints of the widgets."""

from typing import Annotated, Any, Final, Literal

from litestar import Router, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter

from quotecast.api.answers.answers import (
    CACHE_LISTS,
    CACHE_QUOTES,
    JSON,
    Answer,
    SharedBody,
    document_answer,
    names_answer,
    quotes_answer,
    shared_body,
)
from quotecast.api.integrations.openbb import rows
from quotecast.api.integrations.openbb.charts import TREEMAP
from quotecast.api.integrations.openbb.parameters import AboutSymbols, Company, Instrument, Raw, Theming
from quotecast.api.integrations.openbb.quotes import FIGURE, Figure, Objects, feed_router, groups_route
from quotecast.api.integrations.openbb.widgets import ROOT, WIDGETS, widget_id
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.services import Services, require_mirror
from quotecast.api.reference.openapi import CachedReading, FeedReading, Reading, answered
from quotecast.api.routes.market.company_parts import RECORDS
from quotecast.api.routes.market.financials import record_answer
from quotecast.api.routes.market.news import Limit, news_answer
from quotecast.api.routes.market.overviews import heatmap_answer, movers_answer
from quotecast.api.routes.market.status import market_status
from quotecast.errors import SymbolNotFound
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed

Side = Annotated[
    Literal["gainers", "losers"], QueryParameter(name="list", description="Which end of the ranking")
]
_RECORDS: Final = {record.path: record for record in RECORDS}
_MOVER: Final = {"ticker": "AAPL", "name": "Apple Inc.", "price": 189.84, "changePercent": 2.1}
_ARTICLE: Final = {
    "title": "Apple unveils a new chip",
    "date": "2026-11-20T15:00:00Z",
    "author": "Ayşe Yılmaz",
    "excerpt": "The chip is faster",
    "body": "The chip is faster",
}
_BANK: Final = {"bank": "akbank", "symbol": "akbank-USD", "buying": 43.9, "selling": 44.4, "spread": 0.5}
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


_COMPANY: Final = tuple(f"company/{name}" for name in ("profile", "metrics", "earnings", "recommendations"))
_TABS: Final = [
    _tab("watch", "Watch", "market/grid", "crypto/grid", "doviz/grid", "market/status"),
    _tab("stocks", "Stocks", "market/heatmap", "market/movers", "market/quotes", "market/bars"),
    _tab("company", "Company", *_COMPANY, "market/news"),
    _tab("crypto", "Crypto", "crypto/quotes", "crypto/bars"),
    _tab("turkiye", "Türkiye", "doviz/quotes", "doviz/banks", "doviz/bars"),
]


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


@get(
    "/movers",
    sync_to_thread=False,
    operation_id="getOpenbbMovers",
    summary="Gainers or losers as rows",
    operation_class=FeedReading,
    responses=answered(Objects, [_MOVER], "At most 20 rows, the greatest move first", 422, 429, 503),
)
@repeatable
def movers(services: Services, side: Side = "gainers") -> Answer:
    """Omits very cheap and thinly traded stocks."""
    return movers_answer(services).converted(rows.GAINERS if side == "gainers" else rows.LOSERS, JSON)


@get(
    "/heatmap",
    sync_to_thread=False,
    operation_id="getOpenbbHeatmap",
    summary="Treemap of all stocks by sector",
    operation_class=FeedReading,
    responses=answered(Figure, FIGURE, "A Plotly figure, or its stocks", 422, 429, 503),
)
@repeatable
def heatmap(services: Services, theme: Theming = "dark", raw: Raw = "false") -> Answer:
    """A tile's area is the stock's share of the market, its colour the change of the day."""
    return heatmap_answer(services).converted(rows.TILES if raw == "true" else TREEMAP[theme], JSON)


@get(
    "/news",
    sync_to_thread=False,
    operation_id="listOpenbbNews",
    summary="The newest articles for a newsfeed",
    operation_class=Reading,
    responses=answered(Objects, [_ARTICLE], "Articles, the newest first", 422, 429, 503),
)
@repeatable
def news(services: Services, symbol: AboutSymbols = None, limit: Limit = 20) -> Answer:
    """Bodies are Markdown without markup of the article's own."""
    named = [each for each in symbol or [] if each.strip()]
    return news_answer(services, named or None, limit).converted(rows.ARTICLES, JSON)


@get(
    "/status",
    sync_to_thread=False,
    operation_id="getOpenbbStatus",
    summary="State of the feeds as metrics",
    operation_class=Reading,
    responses=answered(Objects, [{"label": "market", "value": "live, 503 symbols"}], "Metrics", 429),
)
@repeatable
def status(services: Services) -> Answer:
    """The prices of a feed that is not `live` are the last known ones."""
    return document_answer(SharedBody(rows.status_metrics(market_status(services))), CACHE_QUOTES)


@get(
    "/banks",
    sync_to_thread=False,
    operation_id="getOpenbbBanks",
    summary="Prices and spreads of banks for one currency or metal",
    operation_class=FeedReading,
    responses=answered(
        Objects, [_BANK], "A row for each bank, the narrowest spread first", 404, 422, 429, 503
    ),
)
@repeatable
def banks(services: Services, instrument: Instrument = "USD") -> Answer:
    """`spreadPercent` is the spread in percent of the selling price."""
    mirror = require_mirror(services, Feed.DOVIZ)
    entry = mirror.find(instrument)
    if entry is None:
        raise SymbolNotFound
    return quotes_answer(mirror, services.monotonic(), shared_body(mirror, rows.spread_rows, entry.key))


@get(
    "/instruments",
    sync_to_thread=False,
    operation_id="listOpenbbInstruments",
    summary="Options: currencies and metals that banks deal in",
    operation_class=FeedReading,
    responses=answered(Objects, [{"label": "US dollar", "value": "USD"}], "Options by symbol", 429, 503),
)
@repeatable
def instruments(services: Services) -> Answer:
    """Instruments that at least one bank quotes now."""
    mirror = require_mirror(services, Feed.DOVIZ)
    return names_answer(mirror, services.monotonic(), shared_body(mirror, rows.instrument_options))


def _company(path: str, name: str, record: str, convert: Any, example: Any) -> HTTPRouteHandler:
    @get(
        f"/{path}",
        operation_id=f"getOpenbb{name}",
        summary=f"A company's {path} as rows",
        operation_class=CachedReading,
        responses=answered(Objects, [example], _RECORDS[record].description, 404, 422, 429, 503),
    )
    @repeatable
    async def route(services: Services, symbol: Company) -> Answer:
        """Read through the cache, as `/api/financials` reads it."""
        answer = await record_answer(services, _RECORDS[record], symbol)
        return answer.converted(convert, JSON) if convert else answer

    return route


COMPANY: Final = [
    _company("profile", "Profile", "metrics", rows.PROFILE_METRICS, {"label": "Beta", "value": "1.057"}),
    _company("metrics", "Metrics", "metrics", rows.FIGURES, {"metric": "beta", "value": 1.057}),
    _company("earnings", "Earnings", "earnings", None, _RECORDS["earnings"].example[0]),
    _company(
        "recommendations", "Recommendations", "recommendations", None, _RECORDS["recommendations"].example[0]
    ),
]
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
