"""Quotes over HTTP: shapes, spellings, statuses."""

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
from support.made.market import stock

LISTS = ["/api/market/quotes?symbols=all", "/api/crypto/quotes", "/api/doviz/quotes"]
SINGLES = ["/api/market/quotes/AAPL", "/api/crypto/quotes/BTC-USDT", "/api/doviz/quotes/gram-altin"]
NAMES = ["/api/crypto/symbols", "/api/doviz/symbols"]

STOCK_FIELDS = {
    "ticker": str,
    "name": str,
    "price": float,
    "change": float,
    "changePercent": float,
    "open": float,
    "high": float,
    "low": float,
    "previousClose": float,
    "volume": str,
    "sector": str,
    "industry": str,
}
CRYPTO_FIELDS = {
    "type": str,
    "provider": str,
    "exchange": str,
    "ticker": str,
    "name": str,
    "symbol": str,
    "price": float,
    "bid": float,
    "ask": float,
    "change": type(None),
    "changePercent": type(None),
    "volume": float,
    "timestamp": str,
}


@pytest.fixture(scope="module")
def full() -> Middleware:
    return edge_of(services(full_mirrors()))


@pytest_asyncio.fixture
async def client(full: Middleware) -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(full) as client:
        yield client


def types_of(quote: dict[str, Any], fields: dict[str, type]) -> dict[str, type]:
    return {name: type(quote[name]) for name in fields}


async def test_a_stock_quote_has_the_specified_fields(client: httpx.AsyncClient) -> None:
    """A stock quote has the specified fields and types."""
    quote = (await client.get("/api/market/quotes?symbols=AAPL")).json()["AAPL"]
    assert types_of(quote, STOCK_FIELDS) == STOCK_FIELDS
    assert set(quote) == {*STOCK_FIELDS, "type", "timestamp"}
    assert quote["type"] == "stock_quote"


async def test_a_crypto_quote_has_the_specified_fields(client: httpx.AsyncClient) -> None:
    """A crypto quote has the specified fields; an unknown number is null."""
    quote = (await client.get("/api/crypto/quotes")).json()["BTC/USDT"]
    assert types_of(quote, CRYPTO_FIELDS) == CRYPTO_FIELDS
    assert quote["type"] == "crypto_quote"


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("/api/market/quotes?symbols=all", ["AAPL", "BRK.B", "MSFT"]),
        ("/api/market/quotes?symbols=ALL", ["AAPL", "BRK.B", "MSFT"]),
        ("/api/market/quotes?symbols=%20msft,AAPL,,aapl%20", ["MSFT", "AAPL"]),
        ("/api/crypto/quotes", ["BTC/USDT", "ETH/USDT"]),
        ("/api/doviz/quotes", ["USD", "akbank-USD", "gram-altin", "gumus"]),
        ("/api/doviz/quotes?category=currency", ["USD", "akbank-USD"]),
        ("/api/doviz/quotes?category=index", []),
    ],
)
async def test_lists_hold_what_was_asked_for(client: httpx.AsyncClient, path: str, keys: list[str]) -> None:
    """Whole lists are sorted by key; selected symbols are in the requested order, each once."""
    answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert list(answer.json()) == keys
    assert "x-missing-symbols" not in answer.headers


async def test_unknown_symbols_of_a_batch_are_left_out_and_named(client: httpx.AsyncClient) -> None:
    """Unknown symbols are omitted, and percent-encoded in a header against header injection."""
    answer = await client.get("/api/market/quotes", params={"symbols": "AAPL,nope,x\r\nset-cookie: a"})
    assert list(answer.json()) == ["AAPL"]
    assert answer.headers["x-missing-symbols"] == "NOPE,X%0D%0ASET-COOKIE%3A%20A"


@pytest.mark.parametrize(("length", "named"), [(5, 500), (11, 256), (3072, 1), (3073, 0)])
async def test_the_names_of_unknown_symbols_are_bounded(
    client: httpx.AsyncClient, length: int, named: int
) -> None:
    """The header of unknown symbols is bounded and has only whole names."""
    names = [f"{number:0{length}}" for number in range(500 if length < 100 else 1)]
    answer = await client.get("/api/market/quotes", params={"symbols": ",".join(names)})
    assert answer.json() == {}
    given = answer.headers.get("x-missing-symbols", "")
    assert len(given) <= 3072
    assert given == ",".join(names[:named])
    assert answer.headers["x-missing-count"] == str(len(names))


async def test_a_stock_that_is_called_all_is_reachable() -> None:
    """`all` alone means every stock; in a list it is the ticker ALL."""
    mirrors = full_mirrors()
    mirrors[Feed.STOCKS] = mirror_of(Feed.STOCKS, [stock("AAPL"), stock("ALL")])
    asked = {
        "?symbols=ALL": ["AAPL", "ALL"],
        "?symbols=%20All,": ["AAPL", "ALL"],
        "?symbols=all,aapl": ["ALL", "AAPL"],
        "?symbols=all&symbols=aapl": ["ALL", "AAPL"],
        "?symbols=ALL,ALL": ["ALL"],
    }
    async with client_of(services(mirrors)) as client:
        answers = {query: list((await client.get(f"/api/market/quotes{query}")).json()) for query in asked}
        single = await client.get("/api/market/quotes/ALL")
    assert answers == asked
    assert single.json()["ticker"] == "ALL"


@pytest.mark.parametrize(
    "query", ["", "?symbols=", "?symbols=,%20,", "?symbols=" + ",".join(f"A{n}" for n in range(501))]
)
async def test_a_batch_names_1_to_500_symbols(client: httpx.AsyncClient, query: str) -> None:
    """A batch of none or of more than 500 symbols is 422 that names the value."""
    answer = await client.get(f"/api/market/quotes{query}")
    assert answer.status_code == 422
    assert [each["field"] for each in answer.json()["errors"]] == ["symbols"]


async def test_500_symbols_are_not_too_many(client: httpx.AsyncClient) -> None:
    """A batch may have 500 distinct symbols."""
    names = ",".join(f"A{number}" for number in range(500))
    assert (await client.get(f"/api/market/quotes?symbols={names},a0")).status_code == 200


@pytest.mark.parametrize("category", ["", "wood", "golds"])
async def test_an_unknown_category_is_refused(client: httpx.AsyncClient, category: str) -> None:
    answer = await client.get("/api/doviz/quotes", params={"category": category})
    assert answer.status_code == 422
    assert [each["field"] for each in answer.json()["errors"]] == ["category"]


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("/api/market/quotes/aapl", "ticker", "AAPL"),
        ("/api/market/quotes/brk.b", "ticker", "BRK.B"),
        ("/api/crypto/quotes/BTC%2FUSDT", "ticker", "BTC/USDT"),
        ("/api/crypto/quotes/BTC%2fusdt", "ticker", "BTC/USDT"),
        ("/api/crypto/quotes/BTC/USDT", "ticker", "BTC/USDT"),
        ("/api/crypto/quotes/btc-usdt", "ticker", "BTC/USDT"),
        ("/api/doviz/quotes/usd", "symbol", "USD"),
        ("/api/doviz/quotes/AKBANK-usd", "symbol", "akbank-USD"),
        ("/api/doviz/quotes/Gram-Altin", "symbol", "gram-altin"),
    ],
)
async def test_one_symbol_may_be_spelled_in_many_ways(
    client: httpx.AsyncClient, path: str, name: str, value: str
) -> None:
    """Every spelling of a symbol gets the same quote."""
    answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.json()[name] == value


@pytest.mark.parametrize(
    "path",
    [
        "/api/market/quotes/NOPE",
        "/api/market/quotes/%E2%82%AC",
        "/api/market/quotes/BRK/B",
        "/api/doviz/quotes/yok/1",
        "/api/crypto/quotes/BTC%252FUSDT",
        "/api/crypto/quotes/BTC/USDT/X",
        "/api/doviz/quotes/yok",
    ],
)
async def test_an_unknown_symbol_is_not_found(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 404
    assert answer.json()["detail"] == "Symbol not found"
    assert answer.json()["code"] == "symbol_not_found"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_crypto_symbols_say_what_a_pair_is_made_of(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/crypto/symbols")
    assert answer.json()[0] == {
        "ticker": "BTC/USDT",
        "symbol": "BTC",
        "name": "BTC/USDT",
        "quote": "USDT",
        "exchange": "Test",
        "provider": "test",
    }
    assert [each["ticker"] for each in answer.json()] == ["BTC/USDT", "ETH/USDT"]


async def test_doviz_symbols_are_grouped_by_all_categories(client: httpx.AsyncClient) -> None:
    """The symbols of doviz have every category, also empty ones."""
    listing = (await client.get("/api/doviz/symbols")).json()
    assert list(listing) == ["gold", "silver", "precious_metals", "currency", "index"]
    assert listing["currency"][1] == {
        "symbol": "akbank-USD",
        "name": "The akbank-USD",
        "unit": "gram",
        "source": "Akbank",
    }
    assert listing["index"] == []


@pytest.mark.parametrize("path", LISTS + SINGLES + NAMES)
async def test_without_data_yet_a_feed_says_so(path: str) -> None:
    """A feed without data is 503: an empty object would look like an empty market."""
    async with client_of(services(empty_mirrors())) as client:
        answer = await client.get(path)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["code"] == "no_data"
    assert answer.json()["detail"].startswith("No data yet")


@pytest.mark.parametrize("path", LISTS + SINGLES + NAMES)
async def test_a_feed_without_provider_is_unavailable(path: str) -> None:
    """A feed without a provider is 503, even with an old state."""
    async with client_of(services(full_mirrors(), providers=dict.fromkeys(Feed, "none"))) as client:
        answer = await client.get(path)
    assert answer.status_code == 503
    assert answer.json()["code"] == "no_provider"
    assert answer.json()["detail"].startswith("No provider configured for ")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_wrong_method_is_told_the_right_ones(client: httpx.AsyncClient, method: str) -> None:
    answer = await client.request(method, "/api/crypto/quotes/BTC-USDT")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
    assert answer.json()["detail"] == "Method Not Allowed"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/nothing",
        "/schema",
        "/api/schema",
        "/api/docs/index.html",
    ],
)
async def test_an_unknown_route_is_json_too(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["detail"] == "Not Found"
    assert answer.json()["code"] == "not_found"
