"""Parameters of prices and their histories that are refused, and instruments that have none."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from quotecast.market.feeds import Feed
from support.made.factories import client_of, empty_mirrors, full_mirrors, services

PRICES = "/api/prices"


@pytest_asyncio.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(services(full_mirrors())) as client:
        yield client


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "symbols"),
        ("symbols=all", "symbols"),
        ("symbols=" + ",".join(f"S{n}" for n in range(501)), "symbols"),
        ("date=2026-11-13&symbols=" + ",".join(f"S{n}" for n in range(51)), "symbols"),
        ("symbols=AAPL&currency=GBp", "currency"),
        ("symbols=AAPL&currency=QQQ", "currency"),
        ("symbols=AAPL&date=2026-11-22", "date"),
        ("symbols=AAPL&date=1969-12-31", "date"),
        ("symbols=AAPL&date=20261113", "date"),
        ("symbols=AAPL&date=2026-02-30", "date"),
        ("symbols=AAPL&adjusted=yes", "adjusted"),
        ("symbols=AAPL&unit=stone", "unit"),
        ("symbols=AAPL&fineness=25k", "fineness"),
        ("symbols=AAPL&fineness=0", "fineness"),
        ("symbols=AAPL&type=bond", "type"),
        ("symbols=AAPL&format=xml", "format"),
        ("symbols=AAPL&curency=EUR", "curency"),
    ],
)
async def test_bad_parameters_are_named(client: httpx.AsyncClient, query: str, field: str) -> None:
    response = await client.get(f"{PRICES}?{query}")
    assert response.status_code == 422
    assert [each["field"] for each in response.json()["errors"]] == [field]


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("start=2026-11-21&end=2026-11-20", "start", "Must not be after end"),
        ("start=2010-01-01", "start", "Must be at most 4999 days before end"),
        ("end=2030-01-01", "end", "Must be from 1970-01-01 to today"),
    ],
)
async def test_a_history_has_bounds(client: httpx.AsyncClient, query: str, field: str, message: str) -> None:
    response = await client.get(f"{PRICES}/AAPL/history?{query}")
    assert response.status_code == 422
    assert response.json()["errors"] == [{"field": field, "message": message}]


async def test_unknown_symbols_are_not_found(client: httpx.AsyncClient) -> None:
    for path in ("NOPE", "NOPE/history", "XPD", "NOPE/MORE/history"):
        response = await client.get(f"{PRICES}/{path}")
        assert (response.status_code, response.json()["detail"]) == (404, "Symbol not found"), path


@pytest.mark.parametrize("path", [f"{PRICES}/AAPL", f"{PRICES}?symbols=AAPL"])
async def test_feeds_without_data_or_provider_are_said(path: str) -> None:
    async with client_of(services(empty_mirrors())) as client:
        assert (await client.get(path)).json()["code"] == "no_data"
    nothing = services(empty_mirrors(), providers=dict.fromkeys(Feed, "none"))
    async with client_of(nothing) as client:
        assert (await client.get(path)).json()["code"] == "no_provider"
