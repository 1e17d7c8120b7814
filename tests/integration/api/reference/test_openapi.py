"""The OpenAPI document and the routes that are served agree."""

from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from litestar.routes import HTTPRoute

from quotecast.api.worker.app import build_app
from quotecast.market.feeds import Feed
from support.made.factories import full_mirrors, services

PATHS = {
    "/api/market/quotes": "market",
    "/api/market/quotes/{symbol}": "market",
    "/api/market/bars/{symbol}": "market",
    "/api/market/heatmap": "market",
    "/api/market/movers": "market",
    "/api/market/news": "market",
    "/api/market/assets": "market",
    "/api/market/status": "market",
    "/api/crypto/quotes": "crypto",
    "/api/crypto/quotes/{symbol}": "crypto",
    "/api/crypto/symbols": "crypto",
    "/api/crypto/bars/{symbol}": "crypto",
    "/api/doviz/quotes": "doviz",
    "/api/doviz/quotes/{symbol}": "doviz",
    "/api/doviz/symbols": "doviz",
    "/api/financials/earnings-calendar": "financials",
    "/api/financials/company/{symbol}/overview": "financials",
    "/api/financials/company/{symbol}/metrics": "financials",
    "/api/financials/company/{symbol}/earnings": "financials",
    "/api/financials/company/{symbol}/recommendations": "financials",
    "/api/financials/company/{symbol}/revenue-estimates": "financials",
    "/api/financials/company/{symbol}/eps-estimates": "financials",
    "/api/financials/company/{symbol}/earnings-quality": "financials",
    "/api/health": None,
    "/api/ready": None,
    "/api/openapi.json": None,
    "/api/asyncapi.json": None,
}
#: What the service has beyond its specification.
ADDED = {
    "/api/market/actions": "market",
    "/api/market/bars": "market",
    "/api/market/sparklines": "market",
    "/api/crypto/bars": "crypto",
    "/api/crypto/sparklines": "crypto",
    "/api/doviz/bars": "doviz",
    "/api/doviz/bars/{symbol}": "doviz",
    "/api/doviz/sparklines": "doviz",
    "/api/search": "search",
    "/api/prices": "prices",
    "/api/prices/{symbol}": "prices",
    "/api/prices/{symbol}/history": "prices",
    "/api/rates": "prices",
    "/api/quality": "prices",
    "/widgets.json": None,
    "/apps.json": None,
    **{
        f"/api/openbb/{feed.spec.name}/{name}": feed.spec.name
        for feed in Feed
        for name in ("grid", "quotes", "symbols", "bars")
    },
    **{f"/api/openbb/market/{name}": "market" for name in ("groups", "movers", "heatmap", "news", "status")},
    **{f"/api/openbb/doviz/{name}": "doviz" for name in ("groups", "banks", "instruments")},
    **{
        f"/api/openbb/company/{name}": "financials"
        for name in ("profile", "metrics", "earnings", "recommendations")
    },
    "/api/udf/config": "market",
    "/api/udf/symbols": "market",
    "/api/udf/search": "search",
    "/api/udf/history": "market",
    "/api/udf/marks": "market",
    "/api/udf/time": "market",
    "/api/udf/quotes": "market",
}
#: Paths whose query names one symbol.
OF_ONE_SYMBOL = {
    *(f"/api/openbb/{feed.spec.name}/bars" for feed in Feed),
    *(path for path, group in ADDED.items() if path.startswith("/api/openbb/") and group == "financials"),
    "/api/openbb/doviz/banks",
    "/api/financials/earnings-calendar",
    "/api/quality",
    "/api/udf/symbols",
    "/api/udf/history",
    "/api/udf/marks",
}
#: Answers without an end, so without an entity tag.
STREAMS = {("get", f"/api/sse/{feed.spec.name}"): None for feed in Feed}
ACCOUNT_OPERATIONS = {
    ("post", "/api/auth/register"): "auth",
    ("post", "/api/auth/login"): "auth",
    ("get", "/api/auth/profile"): "auth",
    ("patch", "/api/auth/profile"): "auth",
    ("get", "/api/portfolio/holdings"): "portfolio",
    ("post", "/api/portfolio/holdings"): "portfolio",
    ("delete", "/api/portfolio/holdings/{holding_id}"): "portfolio",
    ("get", "/api/watchlist"): "watchlist",
    ("post", "/api/watchlist"): "watchlist",
    ("delete", "/api/watchlist/{ticker}"): "watchlist",
    ("get", "/api/terminal/layout"): "terminal",
    ("put", "/api/terminal/layout"): "terminal",
}
#: Operations without a body beside those of GET and DELETE.
WITHOUT_BODY = {
    ("post", "/api/alerts/webhook/test"),
    ("post", "/api/auth/ticket"),
    ("post", "/api/keys/ticket"),
}
#: Account operations beyond the specification.
ADDED_ACCOUNT_OPERATIONS = {
    ("post", "/api/auth/password"): "auth",
    ("delete", "/api/auth/profile"): "auth",
    ("get", "/api/auth/sessions"): "auth",
    ("delete", "/api/auth/sessions/{session_id}"): "auth",
    ("patch", "/api/portfolio/holdings/{holding_id}"): "portfolio",
    ("post", "/api/auth/ticket"): "terminal",
    ("get", "/api/portfolio/value"): "portfolio",
    ("get", "/api/portfolio/performance"): "portfolio",
    ("get", "/api/portfolio/allocation"): "portfolio",
    ("get", "/api/portfolio/positions"): "portfolio",
    ("get", "/api/portfolio/proposals"): "portfolio",
    ("get", "/api/portfolio/transactions"): "portfolio",
    ("post", "/api/portfolio/transactions"): "portfolio",
    ("post", "/api/portfolio/transactions/import"): "portfolio",
    ("delete", "/api/portfolio/transactions/{transaction_id}"): "portfolio",
    ("get", "/api/portfolio/export"): "portfolio",
    ("post", "/api/portfolio/import"): "portfolio",
    ("put", "/api/watchlist/order"): "watchlist",
    ("get", "/api/watchlists"): "watchlist",
    ("post", "/api/watchlists"): "watchlist",
    ("patch", "/api/watchlists/{list_id}"): "watchlist",
    ("delete", "/api/watchlists/{list_id}"): "watchlist",
    ("get", "/api/keys"): "terminal",
    ("post", "/api/keys"): "terminal",
    ("patch", "/api/keys/{key_id}"): "terminal",
    ("delete", "/api/keys/{key_id}"): "terminal",
    ("post", "/api/keys/{key_id}/rotate"): "terminal",
    ("post", "/api/keys/ticket"): "terminal",
    ("get", "/api/keys/usage"): "terminal",
    ("get", "/api/alerts"): "alerts",
    ("post", "/api/alerts"): "alerts",
    ("get", "/api/alerts/{alert_id}"): "alerts",
    ("patch", "/api/alerts/{alert_id}"): "alerts",
    ("delete", "/api/alerts/{alert_id}"): "alerts",
    ("get", "/api/alerts/events"): "alerts",
    ("get", "/api/alerts/webhook"): "alerts",
    ("put", "/api/alerts/webhook"): "alerts",
    ("delete", "/api/alerts/webhook"): "alerts",
    ("post", "/api/alerts/webhook/test"): "alerts",
    ("get", "/api/alerts/push"): "alerts",
    ("post", "/api/alerts/push"): "alerts",
    ("delete", "/api/alerts/push/{subscription_id}"): "alerts",
}
#: Operations with a body beside those of POST, PUT and PATCH.
WITH_BODY = {("delete", "/api/auth/profile")}
OPEN_TO_ALL = {"/api/auth/register", "/api/auth/login"}
SPECIFIED = {("get", path): group for path, group in PATHS.items()} | ACCOUNT_OPERATIONS
OPERATIONS = (
    SPECIFIED | {("get", path): group for path, group in ADDED.items()} | ADDED_ACCOUNT_OPERATIONS | STREAMS
)
HIDDEN = {
    "/api/docs",
    "/api/docs/{name}",
    "/api/docs/guides/{path}",
    "/llms.txt",
    # Redirects to the documents.
    *("/api", "/docs", "/redoc", "/swagger", "/openapi.json", "/asyncapi.json", "/api/llms.txt"),
    "/api/ws",
    *(f"/api/ws/{part}{feed.spec.name}" for part in ("", "openbb/") for feed in Feed),
    # Symbols with a slash, which no company has.
    "/api/financials/company/{symbol}/{rest}/{part}",
}


def served() -> dict[tuple[str, str], Any]:
    """Returns handlers by method and path, without the framework's OPTIONS."""
    app = build_app(services(full_mirrors()))
    return {
        (method.lower(), route.path_format): handlers[0]
        for route in app.routes
        if isinstance(route, HTTPRoute) and route.path_format not in HIDDEN
        for method, handlers in route.route_handler_map.items()
        if method != "OPTIONS"
    }


def described(document: dict[str, Any]) -> dict[tuple[str, str], Any]:
    return {
        (method, path): operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


async def test_what_is_served_is_described(document: dict[str, Any]) -> None:
    """Every route is in the document, except files of pages, and routes that only refuse or redirect."""
    assert set(served()) == set(OPERATIONS)
    assert set(described(document)) == set(OPERATIONS)


def test_there_are_forty_endpoints() -> None:
    """The specification's forty endpoints, with the feeds and without the documents; others are additions."""
    assert len(SPECIFIED) - len({"/api/openapi.json", "/api/asyncapi.json"}) + len(Feed) == 40
    assert not SPECIFIED.keys() & {("get", path) for path in ADDED}


def test_every_group_has_its_limit() -> None:
    """Every group has its rate limit; health, readiness and documents have none."""
    assert {name: handler.opt.get("limit") for name, handler in served().items()} == OPERATIONS


async def test_every_operation_is_complete(document: dict[str, Any]) -> None:
    """Every operation has summary, description, a described tag and a unique id."""
    operations = list(described(document).values())
    tags = {tag["name"] for tag in document["tags"] if tag["description"]}
    assert all(each["summary"] and each["description"] for each in operations)
    assert {each["tags"][0] for each in operations} == tags
    assert len({each["operationId"] for each in operations}) == len(operations)


async def test_every_answer_has_an_example_that_fits(document: dict[str, Any]) -> None:
    """Every response with a body has a valid example."""
    for operation in described(document).values():
        for status, response in operation["responses"].items():
            content = response.get("content")
            assert (status in {"204", "304"}) is (content is None)
            if content:
                assert {*content} <= {"application/json", "text/csv", "text/plain", "text/event-stream"}
            for media in (content or {}).values():
                assert media["examples"]
                for example in media["examples"].values():
                    assert_fits(example["value"], media["schema"], document)


def assert_fits(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> None:
    """Checks a value by its schema."""
    Draft202012Validator({**schema, "components": document["components"]}).validate(value)


async def test_every_example_of_a_field_or_parameter_fits(document: dict[str, Any]) -> None:
    for schema in document["components"]["schemas"].values():
        for described_as in schema.get("properties", {}).values():
            for example in described_as.get("examples", ()):
                assert_fits(example, described_as, document)
    for operation in described(document).values():
        for parameter in operation.get("parameters", ()):
            for example in parameter["schema"].get("examples", ()):
                assert_fits(example, parameter["schema"], document)


async def test_the_example_of_a_page_is_one_of_the_examples_beside_it(client: httpx.AsyncClient) -> None:
    """All examples together are a request that the service answers."""
    document = (await client.get("/api/openapi.json")).json()
    for path, name in (("/api/market/bars/{symbol}", "interval"), ("/api/crypto/bars/{symbol}", "timeframe")):
        given = {each["name"]: each["schema"] for each in document["paths"][path]["get"]["parameters"]}
        query = {each: given[each]["examples"][0] for each in (name, "order", "page")}
        symbol = given["symbol"]["examples"][0]
        answer = await client.get(path.format(symbol=symbol), params=query)
        assert answer.json().get("errors") is None, answer.text


@pytest.mark.parametrize("path", [*PATHS, *ADDED])
async def test_an_operation_names_its_statuses_and_headers(path: str, document: dict[str, Any]) -> None:
    """Every status of a public operation names its headers."""
    responses = document["paths"][path]["get"]["responses"]
    assert {"200", "304"} <= set(responses)
    limited = OPERATIONS["get", path] is not None
    assert ("429" in responses) is limited
    assert ("404" in responses) is ("{symbol}" in path or path in OF_ONE_SYMBOL)
    assert "400" not in responses
    for status, response in responses.items():
        headers = response["headers"]
        assert "X-Request-ID" in headers
        assert ("X-RateLimit-Remaining" in headers) is (limited and status not in {"401", "403"})
        assert ("Retry-After" in headers) is (status in ("429", "503"))
        assert ("ETag" in headers) is (status in ("200", "304"))
        assert {name: each["$ref"] for name, each in headers.items()} == {
            name: f"#/components/headers/{name}" for name in headers
        }
    assert set(document["components"]["headers"]) >= set(responses["200"]["headers"])


@pytest.mark.parametrize("path", [path for _, path in STREAMS])
async def test_a_stream_names_its_statuses_and_headers(path: str, document: dict[str, Any]) -> None:
    """It has no limit and no entity tag; a full worker names the time of the next try."""
    responses = document["paths"][path]["get"]["responses"]
    assert set(responses) == {"200", "401", "403", "422", "503"}
    assert set(responses["200"]["content"]) == {"text/event-stream"}
    assert set(responses["200"]["headers"]) == {"X-Request-ID"}
    assert "Retry-After" in responses["503"]["headers"]


@pytest.mark.parametrize("name", ACCOUNT_OPERATIONS | ADDED_ACCOUNT_OPERATIONS)
async def test_an_account_operation_names_its_statuses_and_headers(
    name: tuple[str, str], document: dict[str, Any]
) -> None:
    """Account operations name security, body, statuses and headers."""
    operation = described(document)[name]
    secured = name[1] not in OPEN_TO_ALL
    scheme = "apiKey" if name[1] == "/api/keys/ticket" else "bearer"
    assert operation["security"] == ([{scheme: []}] if secured else [])
    responses = operation["responses"]
    assert {"403", "429", "503"} <= set(responses)
    assert ("401" in responses) is (name[1] != "/api/auth/register")
    usual = name[0] in {"post", "put", "patch"} and name not in WITHOUT_BODY
    assert ("requestBody" in operation) is (usual or name in WITH_BODY)
    assert ({"400", "408", "413"} <= set(responses)) is ("requestBody" in operation)
    for status, response in responses.items():
        headers = response["headers"]
        assert {"X-Request-ID", "X-RateLimit-Remaining", "Cache-Control"} <= set(headers)
        assert ("Retry-After" in headers) is (status in ("429", "503"))
        assert ("WWW-Authenticate" in headers) is (status == "401")
    if "requestBody" in operation:
        for media in operation["requestBody"]["content"].values():
            for example in media["examples"].values():
                assert_fits(example["value"], media["schema"], document)


async def test_public_reads_take_an_api_key_and_need_none(document: dict[str, Any]) -> None:
    """Account routes take the token of a login only; documents and entrances take nothing."""
    schemes = document["components"]["securitySchemes"]
    assert {name: (each["type"], each.get("scheme", each.get("name"))) for name, each in schemes.items()} == {
        "bearer": ("http", "bearer"),
        "apiKey": ("apiKey", "X-API-Key"),
        "apiKeyBearer": ("http", "bearer"),
    }
    optional: list[dict[str, list[str]]] = [{}, {"apiKey": []}, {"apiKeyBearer": []}]
    for name, operation in described(document).items():
        reads = name not in ACCOUNT_OPERATIONS | ADDED_ACCOUNT_OPERATIONS and OPERATIONS[name] is not None
        takes = reads or name in STREAMS
        assert (operation["security"] == optional) is takes, name
        assert not reads or "$TOKEN" not in str(operation["x-codeSamples"])


async def test_a_batch_tells_of_missing_symbols(document: dict[str, Any]) -> None:
    operation = document["paths"]["/api/market/quotes"]["get"]
    assert "X-Missing-Symbols" in operation["responses"]["200"]["headers"]
    assert [(each["name"], each["required"]) for each in operation["parameters"]] == [
        ("symbols", False),
        ("limit", False),
        ("after", False),
        ("at", False),
        ("format", False),
    ]


@pytest.mark.parametrize(
    ("name", "tag", "path"),
    [
        ("StockQuote", "stock_quote", "/api/market/quotes/AAPL"),
        ("CryptoQuote", "crypto_quote", "/api/crypto/quotes/BTC-USDT"),
        ("DovizQuote", "doviz_quote", "/api/doviz/quotes/USD"),
    ],
)
async def test_quotes_are_described_with_their_constant_type(
    client: httpx.AsyncClient, document: dict[str, Any], name: str, tag: str, path: str
) -> None:
    """Schemas of quotes require every field but that of extended hours."""
    schema = document["components"]["schemas"][name]
    assert schema["properties"]["type"]["const"] == tag
    optional = {"extended"} & set(schema["properties"])
    assert (
        set(schema["required"])
        == set(schema["properties"]) - optional
        == set((await client.get(path)).json())
    )


async def test_a_page_tells_how_long_the_list_is(document: dict[str, Any]) -> None:
    operation = document["paths"]["/api/market/assets"]["get"]
    assert "X-Total-Count" in operation["responses"]["200"]["headers"]
    bounds = {each["name"]: each["schema"] for each in operation["parameters"]}
    assert bounds["search"]["maxLength"] == 100
    assert bounds["offset"]["minimum"] == 0


async def test_categories_are_an_enumeration(document: dict[str, Any]) -> None:
    parameter, *_ = document["paths"]["/api/doviz/quotes"]["get"]["parameters"]
    assert parameter["schema"]["enum"] == ["gold", "silver", "precious_metals", "currency", "index"]


async def test_a_file_may_come_as_bytes(document: dict[str, Any]) -> None:
    """Generators of clients that know no CSV leave out an operation without such a body."""
    media = document["paths"]["/api/portfolio/import"]["post"]["requestBody"]["content"]
    assert [*media] == ["text/csv", "application/octet-stream"]
    assert media["application/octet-stream"]["schema"] == {"type": "string", "format": "binary"}
