"""Answers as CSV: the same numbers, headers, tags and limits as in JSON."""

import csv
import io
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from quotecast.api.middleware.middleware import Middleware
from quotecast.market.feeds import Feed
from support.made.factories import (
    client_of,
    client_to,
    edge_of,
    empty_mirrors,
    full_mirrors,
    mirror_of,
    services,
)
from support.made.holdings import BOUGHT, HOLDINGS
from support.made.market import stock
from support.stages.account_service import User, account_service
from support.stages.bar_service import APPLE, BITCOIN, new_service

STOCK = "ticker,name,price,change,changePercent,open,high,low,previousClose,volume,sector,industry,timestamp"
CRYPTO = (
    "provider,exchange,ticker,name,symbol,price,bid,ask,change,changePercent,open,high,low,volume,timestamp"
)
DOVIZ = (
    "provider,symbol,name,category,source,unit,currency,buying,selling,price,change,changePercent,open,high,"
    "low,previousClose,timestamp"
)
BARS = "time,open,high,low,close,volume"
HEADERS = {
    "/api/market/quotes?symbols=all": STOCK,
    "/api/market/quotes/AAPL": STOCK,
    "/api/crypto/quotes": CRYPTO,
    "/api/crypto/quotes/BTC-USDT": CRYPTO,
    "/api/doviz/quotes": DOVIZ,
    "/api/doviz/quotes?category=gold": DOVIZ,
    "/api/doviz/quotes/gram-altin": DOVIZ,
    "/api/market/movers": "list,ticker,name,price,change,changePercent,volume,sector",
}
MEDIA = "text/csv; charset=utf-8; header=present"


@pytest.fixture(scope="module")
def edge() -> Middleware:
    return edge_of(services(full_mirrors()))


@pytest_asyncio.fixture
async def client(edge: Middleware) -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(edge) as client:
        yield client


def in_csv(path: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}format=csv"


def table(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == MEDIA
    return [*csv.DictReader(io.StringIO(answer.content.decode("utf-8"), newline=""))]


def as_text(value: Any) -> str:
    return "" if value is None else str(value)


@pytest.mark.parametrize("path", HEADERS)
async def test_the_columns_are_those_of_the_documentation(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(in_csv(path))
    assert answer.text.split("\r\n")[0] == HEADERS[path]
    assert answer.text.endswith("\r\n")


@pytest.mark.parametrize("path", [each for each in HEADERS if "movers" not in each])
async def test_the_numbers_are_those_of_the_json(client: httpx.AsyncClient, path: str) -> None:
    """Every column of every row has the value of the JSON's field."""
    document = (await client.get(path)).json()
    quotes = [document] if "type" in document else [*document.values()]
    rows = table(await client.get(in_csv(path)))
    assert rows
    assert rows == [{name: as_text(quote[name]) for name in rows[0]} for quote in quotes]


@pytest.mark.parametrize("path", ["/api/market/quotes?symbols=msft,nothing,AAPL", "/api/crypto/quotes"])
async def test_the_headers_are_those_of_the_json(client: httpx.AsyncClient, path: str) -> None:
    """The tag, the lifetime, the feed's state and the missing symbols are the same; a 304 works."""
    plain, asked = await client.get(path), await client.get(in_csv(path))
    own = {"content-type", "content-length", "x-request-id", "content-encoding"}
    assert {name: value for name, value in asked.headers.items() if name not in own} == {
        name: value for name, value in plain.headers.items() if name not in own
    }
    again = await client.get(in_csv(path), headers={"if-none-match": asked.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_rows_are_in_the_order_of_the_request(client: httpx.AsyncClient) -> None:
    rows = table(await client.get(in_csv("/api/market/quotes?symbols=msft,nothing,AAPL")))
    assert [row["ticker"] for row in rows] == ["MSFT", "AAPL"]


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
async def test_a_long_table_is_compressed(coding: str) -> None:
    mirrors = empty_mirrors()
    mirrors[Feed.STOCKS] = mirror_of(Feed.STOCKS, [stock(f"A{number}") for number in range(100)])
    async with client_of(services(mirrors)) as client:
        path = in_csv("/api/market/quotes?symbols=all")
        answer = await client.get(path, headers={"accept-encoding": coding})
        assert answer.headers["content-encoding"] == coding
        assert len(table(await client.get(path))) == 100


async def test_a_name_is_no_formula() -> None:
    """A spreadsheet shows the text; it does not run it."""
    mirrors = empty_mirrors()
    mirrors[Feed.STOCKS] = mirror_of(Feed.STOCKS, [stock("AAPL", name='=HYPERLINK("http://x","y")')])
    async with client_of(services(mirrors)) as client:
        (row,) = table(await client.get(in_csv("/api/market/quotes/AAPL")))
    assert row["name"] == '\'=HYPERLINK("http://x","y")'


@pytest.mark.parametrize("path", [*HEADERS, "/api/market/bars/AAPL", "/api/doviz/bars?symbols=USD"])
@pytest.mark.parametrize("value", ["xml", "", "CSV,JSON"])
async def test_another_format_is_invalid(client: httpx.AsyncClient, path: str, value: str) -> None:
    answer = await client.get(in_csv(path).removesuffix("csv") + value)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "format"


async def test_an_error_is_json(client: httpx.AsyncClient) -> None:
    """The status and the code say what happened, as everywhere."""
    answer = await client.get(in_csv("/api/market/quotes/NOTHING"))
    assert (answer.status_code, answer.json()["code"]) == (404, "symbol_not_found")


@pytest.mark.parametrize("path", [APPLE, BITCOIN, f"{APPLE}?limit=2", f"{BITCOIN}?order=desc&limit=2"])
async def test_bars_have_the_numbers_of_the_json(path: str) -> None:
    service = new_service()
    plain, asked = await service.get(path), await service.get(in_csv(path))
    rows = table(asked)
    assert rows == [{name: as_text(value) for name, value in bar.items()} for bar in plain.json()]
    assert asked.text.split("\r\n")[0] == BARS
    for name in ("etag", "x-source", "x-feed-state", "x-tick-size", "age"):
        assert asked.headers[name] == plain.headers[name]
    assert asked.headers.get("x-next-page") == plain.headers.get("x-next-page")


async def test_bars_of_several_symbols_name_theirs() -> None:
    service = new_service()
    path = "/api/crypto/bars?symbols=BTC-USDT,NOTHING"
    rows = table(await service.get(in_csv(path)))
    bars = (await service.get(path)).json()["BTC/USDT"]
    assert rows == [
        {"symbol": "BTC/USDT", **{name: as_text(value) for name, value in bar.items()}} for bar in bars
    ]


async def test_holdings_are_a_table_for_their_owner(accounts_url: str) -> None:
    """Amounts have all their digits; the value in another currency has columns of its own."""
    async with account_service(accounts_url) as service:
        user: User = await service.register()
        await user.post(HOLDINGS, {**BOUGHT, "shares": 0.12345678})
        (plain,) = table(await user.get(in_csv(HOLDINGS)))
        assert (plain["ticker"], plain["shares"], plain["price"]) == (BOUGHT["ticker"], "0.12345678", "")
        valued = in_csv(f"{HOLDINGS}?include=quote&currency=TRY")
        answer = await user.get(valued)
        (row,) = table(answer)
        (held,) = (await user.get(f"{HOLDINGS}?include=quote&currency=TRY")).json()
        assert row["market_value"] == as_text(held["market_value"])
        assert row["converted_market_value"] == as_text((held["converted"] or {}).get("market_value"))
        assert [*row] == [*plain]
        assert answer.headers["cache-control"] == "no-store"
        assert (await service.client.get(valued)).status_code == 401


async def test_the_document_names_the_format(client: httpx.AsyncClient) -> None:
    document = (await client.get("/api/openapi.json")).json()
    named = {
        path
        for path, item in document["paths"].items()
        for operation in item.values()
        if any(each.get("name") == "format" for each in operation.get("parameters", ()))
    }
    paths = {f"/api/{feed.spec.name}/{kind}" for feed in Feed for kind in ("quotes", "bars")}
    assert named == {
        *paths,
        *(f"{path}/{{symbol}}" for path in paths),
        "/api/keys/usage",
        "/api/market/movers",
        "/api/market/actions",
        "/api/portfolio/holdings",
        "/api/portfolio/transactions",
        "/api/prices",
        "/api/prices/{symbol}",
        "/api/prices/{symbol}/history",
    }
    for path in named:
        operation = document["paths"][path]["get"]
        directives = ["text/plain"] if path.startswith("/api/prices") else []
        assert [*operation["responses"]["200"]["content"]] == ["application/json", "text/csv", *directives]
        (parameter,) = [each for each in operation["parameters"] if each["name"] == "format"]
        assert parameter["schema"]["enum"][:2] == ["json", "csv"]
        assert parameter["schema"]["default"] == "json"
        assert parameter["required"] is False
        assert "422" in operation["responses"]
