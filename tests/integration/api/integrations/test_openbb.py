"""The backend of OpenBB Workspace: documents fit the published schema, and widgets show the market."""

import re
from collections.abc import AsyncIterator, Iterator
from itertools import combinations
from typing import Any

import httpx
import pytest
import pytest_asyncio
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types
from litestar import Litestar

from integration.api.integrations import openbb_schema as schema
from quotecast.api.integrations.openbb.routes import APPS
from quotecast.api.integrations.openbb.rows import MAX_OPTIONS
from quotecast.api.integrations.openbb.widgets import WIDGETS
from quotecast.api.market.services import Services
from quotecast.api.middleware.middleware import Middleware
from quotecast.api.worker import composition
from quotecast.api.worker.app import build_app
from quotecast.feed.documents import Documents
from quotecast.market.calendars import EXCHANGE
from quotecast.market.feeds import Feed
from quotecast.providers.base import Admission, unlimited
from quotecast.settings.model import Settings
from quotecast.stream.endpoint import GRIDS
from support.made.documents import article, asset, assets_of, news_of
from support.made.factories import (
    DOVIZ,
    client_of,
    client_to,
    doviz,
    edge_of,
    full_mirrors,
    mirror_of,
    services,
)
from support.made.market import stock

WORKSPACE = "https://pro.openbb.co"
#: The datafeed of TradingView's protocol has tests of its own.
UDF = "api/udf"
SHOWN = [name for name, each in WIDGETS.items() if each["endpoint"] != UDF]


def no_budget(_upstream: str, _limit: int) -> Admission:
    return unlimited


def simulated(**other: Any) -> Services:
    """Returns the services of an application in which every widget has data."""
    offered = composition.history_providers(Settings(), no_budget, lambda: EXCHANGE)
    documents = Documents()
    documents.news.take(news_of(*other.pop("articles", [article(summary="Apple rose.")])))
    documents.assets.take(assets_of(asset()))
    return services(
        other.pop("mirrors", None) or full_mirrors(),
        documents=documents,
        # The provider of the mirrors' quotes.
        history={feed: dict.fromkeys(["test"], each["simulator"]) for feed, each in offered.items() if each},
        financials=composition.financials_provider(Settings(), no_budget),
    )


@pytest.fixture(scope="module")
def edge() -> Middleware:
    return edge_of(simulated())


@pytest_asyncio.fixture
async def client(edge: Middleware) -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(edge) as client:
        yield client


def problems(value: Any, fitting: dict[str, Any]) -> list[str]:
    found = Draft202012Validator(fitting).iter_errors(value)
    return [f"{'/'.join(map(str, each.path))}: {each.message}" for each in found]


def query_of(widget: dict[str, Any], **other: str) -> dict[str, str]:
    """Returns what Workspace sends: the value of every parameter, and the theme."""
    given = {each["paramName"]: str(each["value"]) for each in widget.get("params", ())}
    return {**given, "theme": "dark", **other}


async def data_of(client: httpx.AsyncClient, name: str, **other: str) -> Any:
    widget = WIDGETS[name]
    answer = await client.get(f"/{widget['endpoint']}", params=query_of(widget, **other))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_the_widgets_fit_the_published_schema(client: httpx.AsyncClient) -> None:
    document = (await client.get("/widgets.json")).json()
    assert document == WIDGETS
    assert problems(document, schema.WIDGETS) == []
    kinds = {each["type"] for each in document.values()}
    assert {"live_grid", "table", "chart", "advanced_charting", "newsfeed", "metric"} == kinds


async def test_the_apps_fit_the_published_schema(client: httpx.AsyncClient) -> None:
    document = (await client.get("/apps.json")).json()
    assert document == APPS
    assert problems(document, schema.APPS) == []


def placed() -> Iterator[list[dict[str, Any]]]:
    return (tab["layout"] for app in APPS for tab in app["tabs"].values())


def test_a_layout_places_known_widgets_side_by_side() -> None:
    for layout in placed():
        for each in layout:
            assert each["i"] in WIDGETS
            assert each["x"] + each["w"] <= 40
        for one, other in combinations(layout, 2):
            apart = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
            assert apart or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


def test_a_group_has_widgets_with_its_parameter_and_the_same_options() -> None:
    """As the documentation of grouped parameters asks."""
    for group in (each for app in APPS for each in app["groups"]):
        options = set()
        for name in group["widgetIds"]:
            (param,) = [each for each in WIDGETS[name]["params"] if each["paramName"] == group["paramName"]]
            options.add(param["optionsEndpoint"])
        assert len(options) == 1


def test_prompts_mention_known_widgets() -> None:
    named = [name for app in APPS for each in app["prompts"] for name in re.findall(r"@\[id:(\w+)]", each)]
    assert named
    assert set(named) <= set(WIDGETS)


def test_a_widget_s_id_is_its_endpoint() -> None:
    assert all(name == each["endpoint"].replace("/", "_") for name, each in WIDGETS.items())


@pytest.mark.parametrize("name", SHOWN)
async def test_a_widget_shows_what_its_type_needs(client: httpx.AsyncClient, name: str) -> None:
    """With the values that Workspace sends at first; columns have values."""
    widget, data = WIDGETS[name], await data_of(client, name)
    assert problems(data, schema.ANSWERS[widget["type"]]) == []
    assert data or name == "api_openbb_market_movers"
    columns = [each["field"] for each in widget.get("data", {}).get("table", {}).get("columnsDefs", ())]
    if widget.get("raw"):
        data = await data_of(client, name, raw="true")
        assert problems(data, schema.ROWS) == []
    if columns and data:
        assert set(columns) <= set(data[0])


@pytest.mark.parametrize("name", SHOWN)
async def test_a_dropdown_has_its_options(client: httpx.AsyncClient, name: str) -> None:
    for param in WIDGETS[name].get("params", ()):
        if "optionsEndpoint" not in param:
            continue
        options = (await client.get(f"/{param['optionsEndpoint']}")).json()
        assert problems(options, schema.OPTIONS) == []
        if not param.get("multiSelect"):
            assert param["value"] in {"", *(each["value"] for each in options)}


async def test_options_are_bounded() -> None:
    """Those with the greatest turnover remain."""
    mirrors = full_mirrors()
    many = [stock(f"A{number}") for number in range(MAX_OPTIONS)]
    mirrors[Feed.STOCKS] = mirror_of(Feed.STOCKS, [*many, stock("ZZZ", price=1e6)])
    async with client_of(simulated(mirrors=mirrors)) as client:
        options = (await client.get("/api/openbb/market/symbols")).json()
    assert len(options) == MAX_OPTIONS
    assert options[0]["value"] == "ZZZ"


@pytest.mark.parametrize("feed", Feed)
async def test_a_grid_has_the_quotes_of_the_service(client: httpx.AsyncClient, feed: Feed) -> None:
    """Rows have the order of the request, and the name by which the socket finds them."""
    group = feed.spec.name
    widget = WIDGETS[f"api_openbb_{group}_grid"]
    assert f"/{widget['wsEndpoint']}" in GRIDS
    path = f"/api/{group}/quotes" + ("?symbols=all" if feed is Feed.STOCKS else "")
    quotes = (await client.get(path)).json()
    names = sorted(quotes, reverse=True)
    answer = await client.get(f"/api/openbb/{group}/grid", params={"symbol": ",".join([*names, "NOPE"])})
    assert answer.json() == [quotes[name] for name in names]
    assert [row[widget["data"]["wsRowIdColumn"]] for row in answer.json()] == names
    assert answer.headers["x-missing-symbols"] == "NOPE"
    assert answer.headers["x-feed-state"] == "live"
    assert (await client.get(f"/api/openbb/{group}/grid?symbol=all")).json() == [
        quotes[name] for name in sorted(quotes)
    ]


async def test_a_table_has_the_members_of_its_group(client: httpx.AsyncClient) -> None:
    rows = (await client.get("/api/openbb/doviz/quotes?group=BANK:akbank")).json()
    assert [row["symbol"] for row in rows] == ["akbank-USD"]
    assert (await client.get("/api/openbb/doviz/quotes?group=bank:none")).json() == []


async def test_candles_have_the_bars_of_the_service(client: httpx.AsyncClient) -> None:
    bars = (await client.get("/api/market/bars/AAPL?range=1M")).json()
    (trace,) = (await client.get("/api/openbb/market/bars?symbol=aapl&range=1m&theme=light")).json()["data"]
    assert trace["x"] == [bar["time"] for bar in bars]
    assert all(trace[name] == [bar[name] for bar in bars] for name in ("open", "high", "low", "close"))
    assert (await client.get("/api/openbb/market/bars?symbol=aapl&range=1m&raw=true")).json() == bars


async def test_the_treemap_has_every_stock_in_its_sector(client: httpx.AsyncClient) -> None:
    heatmap = (await client.get("/api/market/heatmap")).json()
    (trace,) = (await client.get("/api/openbb/market/heatmap")).json()["data"]
    shown = dict(zip(trace["ids"], trace["parents"], strict=True))
    for sector in heatmap["sectors"]:
        for tile in sector["stocks"]:
            assert shown[tile["ticker"]] == f"sector:{sector['sector']}"
    assert sum(trace["values"]) == pytest.approx(1)


async def test_banks_come_by_their_spread() -> None:
    mirrors = full_mirrors()
    narrow = doviz("ziraat-USD", "currency", "Ziraat")
    mirrors[Feed.DOVIZ] = mirror_of(Feed.DOVIZ, [*DOVIZ, type(narrow)(**fields_of(narrow, buying=41.9))])
    async with client_of(simulated(mirrors=mirrors)) as client:
        rows = (await client.get("/api/openbb/doviz/banks?instrument=usd")).json()
        assert [(row["bank"], row["spread"]) for row in rows] == [("ziraat", 0.1), ("akbank", 1.0)]
        assert (await client.get("/api/openbb/doviz/banks?instrument=gumus")).json() == []
        assert (await client.get("/api/openbb/doviz/banks?instrument=none")).status_code == 404


def fields_of(quote: Any, **other: Any) -> dict[str, Any]:
    return {name: getattr(quote, name) for name in quote.__struct_fields__} | other


async def test_an_article_adds_no_markup() -> None:
    """Workspace shows bodies as Markdown; the text of an upstream stays text."""
    text = "![x](http://evil/pixel) [free](http://evil) <img src=x> **bold** # title"
    made = article(headline=text, summary=text, source="a](x)", url="https://news.example.com/1")
    async with client_of(simulated(articles=[made])) as client:
        (shown,) = (await client.get("/api/openbb/market/news?symbol=&limit=1")).json()
    assert re.findall(r"(?<!\\)[!\[\](<*#]", shown["body"]) == ["[", "]", "(", "<"]
    assert shown["body"].endswith(r"[a\]\(x\)](<https://news.example.com/1>)")
    assert shown["title"] == text


async def test_news_are_about_the_symbols(client: httpx.AsyncClient) -> None:
    assert len((await client.get("/api/openbb/market/news?symbol=AAPL")).json()) == 1
    assert (await client.get("/api/openbb/market/news?symbol=MSFT")).json() == []


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/openbb/market/grid", 422),
        ("/api/openbb/market/grid?symbol=", 422),
        ("/api/openbb/market/grid?symbol=" + ",".join(f"A{number}" for number in range(501)), 422),
        ("/api/openbb/market/bars?symbol=NOPE", 404),
        ("/api/openbb/market/bars?symbol=AAPL&range=2D", 422),
        ("/api/openbb/market/bars?symbol=AAPL&theme=red", 422),
        ("/api/openbb/crypto/bars?symbol=BTC/USDT&timeframe=2m", 422),
        ("/api/openbb/market/heatmap?raw=perhaps", 422),
        ("/api/openbb/market/movers?list=both", 422),
        ("/api/openbb/market/news?limit=51", 422),
        ("/api/openbb/company/metrics?symbol=NOPE", 404),
        ("/api/openbb/company/metrics", 422),
    ],
)
async def test_refusals_are_those_of_the_service(client: httpx.AsyncClient, path: str, status: int) -> None:
    """Workspace shows their `detail`."""
    answer = await client.get(path)
    assert answer.status_code == status
    assert answer.json()["detail"]


@pytest.fixture(scope="module")
def app() -> Litestar:
    return build_app(simulated())


@pytest.mark.parametrize("path", ["/widgets.json", "/apps.json", "/api/openbb/market/quotes"])
@pytest.mark.parametrize(
    ("origins", "origin", "allowed"),
    [
        (["*"], WORKSPACE, "*"),
        ([WORKSPACE, "http://localhost:1420"], WORKSPACE, WORKSPACE),
        ([WORKSPACE, "http://localhost:1420"], "http://localhost:1420", "http://localhost:1420"),
        ([WORKSPACE], "https://pro.openbb.dev", None),
    ],
)
async def test_workspace_may_read_answers_as_the_operator_allows(
    app: Litestar, path: str, origins: list[str], origin: str, allowed: str | None
) -> None:
    """Also after the preflight for a header that a user adds to the backend's connection."""
    edge = Middleware(app, cors_origins=origins, account_origins=[], websocket_origins=origins)
    async with client_to(edge) as client:
        answer = await client.get(path, headers={"origin": origin})
        preflight = await client.options(
            path,
            headers={
                "origin": origin,
                "access-control-request-method": "GET",
                "access-control-request-headers": "authorization",
            },
        )
    assert answer.headers.get("access-control-allow-origin") == allowed
    assert preflight.headers.get("access-control-allow-origin") == allowed
    if allowed:
        assert "authorization" in preflight.headers["access-control-allow-headers"].lower()


async def test_the_limits_are_those_of_the_market_behind_a_widget(
    app: Litestar, client: httpx.AsyncClient
) -> None:
    document = (await client.get("/api/openapi.json")).json()
    limits = {
        route.path: route.route_handlers[0].opt.get("limit")  # type: ignore[union-attr]
        for route in app.routes
        if route.path.startswith("/api/openbb/")
    }
    assert limits
    for path, limit in limits.items():
        group = path.split("/")[3]
        assert limit == {"company": "financials"}.get(group, group)
        assert "429" in document["paths"][path]["get"]["responses"]


async def test_the_datafeed_of_the_tradingview_chart_knows_its_first_symbol(
    client: httpx.AsyncClient,
) -> None:
    """Workspace asks for the protocol's paths below the endpoint of the widget."""
    symbol = WIDGETS[UDF.replace("/", "_")]["data"]["defaultSymbol"]
    config = (await client.get(f"/{UDF}/config")).json()
    assert config["supports_search"] is True
    found = await client.get(f"/{UDF}/symbols", params={"symbol": symbol})
    assert (found.status_code, found.json()["ticker"]) == (200, symbol)


@pytest.mark.parametrize(
    ("path", "field"), [("crypto/grid?symbol=%09", "symbol"), ("crypto/quotes?group=", "group")]
)
async def test_an_error_names_the_parameter_of_the_route(
    client: httpx.AsyncClient, path: str, field: str
) -> None:
    answer = await client.get(f"/api/openbb/{path}")
    assert [each["field"] for each in answer.json()["errors"]] == [field]
