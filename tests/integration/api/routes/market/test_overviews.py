"""Heatmap and movers over HTTP."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from msgspec import structs

from quotecast.api.middleware.middleware import Middleware
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from support.made.factories import (
    client_of,
    client_to,
    edge_of,
    empty_mirrors,
    full_mirrors,
    services,
    snapshot_of,
)
from support.made.market import stock, wire_epoch

PATHS = ["/api/market/heatmap", "/api/market/movers"]


@pytest.fixture(scope="module")
def full() -> Middleware:
    return edge_of(services(full_mirrors(), shares={"AAPL": 200, "MSFT": 100, "BRK.B": 100}))


@pytest_asyncio.fixture
async def client(full: Middleware) -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(full) as client:
        yield client


async def test_the_heatmap_has_the_specified_fields(client: httpx.AsyncClient) -> None:
    """The heatmap lists sectors and stocks with their weights."""
    heatmap = (await client.get("/api/market/heatmap")).json()
    (sector,) = heatmap["sectors"]
    assert heatmap["lastUpdate"] == "2026-11-20T15:00:00.000Z"
    assert {name: sector[name] for name in sector if name != "stocks"} == {
        "sector": "Energy",
        "changePercent": 1.0,
        "advancers": 3,
        "decliners": 0,
        "unchanged": 0,
        "weight": 1.0,
    }
    assert sector["stocks"][0] == {
        "ticker": "AAPL",
        "name": "AAPL Inc.",
        "industry": "Oil",
        "price": 100.0,
        "change": 1.0,
        "changePercent": 1.0,
        "volume": "1000",
        "weight": 0.5,
    }
    assert [each["ticker"] for each in sector["stocks"]] == ["AAPL", "BRK.B", "MSFT"]


async def test_movers_have_the_specified_fields(client: httpx.AsyncClient) -> None:
    """Movers list the stocks that rose; no stock fell."""
    movers = (await client.get("/api/market/movers")).json()
    assert movers["lastUpdate"] == "2026-11-20T15:00:00.000Z"
    assert movers["losers"] == []
    assert movers["gainers"][0] == {
        "ticker": "AAPL",
        "name": "AAPL Inc.",
        "price": 100.0,
        "change": 1.0,
        "changePercent": 1.0,
        "volume": "1000",
        "sector": "Energy",
    }
    assert [each["ticker"] for each in movers["gainers"]] == ["AAPL", "BRK.B", "MSFT"]


@pytest.mark.parametrize("path", PATHS)
async def test_overviews_are_tagged_with_the_feeds_epoch_and_seq(
    client: httpx.AsyncClient, path: str
) -> None:
    """A client with the current tag gets 304."""
    answer = await client.get(path)
    assert answer.headers["etag"] == f'W/"{wire_epoch()}-7"'
    assert answer.headers["cache-control"].startswith("public, max-age=1,")
    again = await client.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", PATHS)
async def test_overviews_follow_the_quotes(path: str) -> None:
    """Overviews are computed once for each change of the feed."""
    mirrors = full_mirrors()
    async with client_of(services(mirrors)) as client:
        before = await client.get(path)
        fallen = structs.replace(stock("AAPL"), change_percent=-2.0, change=-2.0)
        mirrors[Feed.STOCKS].load(snapshot_of(Feed.STOCKS, [fallen], seq=8))
        after = await client.get(path, headers={"if-none-match": before.headers["etag"]})
    assert after.status_code == 200
    assert after.headers["etag"] == f'W/"{wire_epoch()}-8"'
    assert b'"changePercent":-2.0' in after.content
    assert b"MSFT" not in after.content


@pytest.mark.parametrize("floors", [Floors(price=100.01), Floors(volume=1001)])
async def test_the_floors_of_movers_are_configured(floors: Floors) -> None:
    async with client_of(services(full_mirrors(), floors=floors)) as client:
        assert (await client.get("/api/market/movers")).json()["gainers"] == []


@pytest.mark.parametrize("path", PATHS)
async def test_large_overviews_are_compressed(path: str) -> None:
    mirrors = full_mirrors()
    mirrors[Feed.STOCKS].load(snapshot_of(Feed.STOCKS, [stock(f"S{n}") for n in range(50)], seq=8))
    async with client_of(services(mirrors)) as client:
        packed = await client.get(path, headers={"accept-encoding": "gzip"})
        plain = await client.get(path)
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.json() == plain.json()


@pytest.mark.parametrize("path", PATHS)
async def test_without_quotes_there_is_no_overview(path: str) -> None:
    """Without data the answer is 503: an empty heatmap would look like an empty market."""
    async with client_of(services(empty_mirrors())) as client:
        answer = await client.get(path)
    assert (answer.status_code, answer.json()["code"]) == (503, "no_data")
    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("path", PATHS)
async def test_without_provider_there_is_no_overview(path: str) -> None:
    async with client_of(services(full_mirrors(), providers=dict.fromkeys(Feed, "none"))) as client:
        answer = await client.get(path)
    assert (answer.status_code, answer.json()["code"]) == (503, "no_provider")
    assert answer.json()["detail"] == "No provider configured for stocks"
