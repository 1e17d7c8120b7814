"""Corporate actions over HTTP, and the prices and bars that they adjust."""

from collections.abc import AsyncIterator
from datetime import date, timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
from msgspec.structs import replace

from quotecast.access.plans import Reach
from quotecast.api.market.services import Services
from quotecast.errors import NotOffered, UpstreamError
from quotecast.market.actions import CorporateAction
from quotecast.market.feeds import Feed
from support.made.corporate_actions import Actions
from support.made.factories import client_of, full_mirrors, services
from support.made.memory_cache import MemoryCache
from support.stages.bar_service import FRIDAY, History, bar

ACTIONS = "/api/market/actions"


def split(symbol: str, day: str, new: float) -> CorporateAction:
    return CorporateAction(
        id=f"{symbol} {day}",
        type="split",
        symbol=symbol,
        ex_day=date.fromisoformat(day),
        old_shares=1.0,
        new_shares=new,
        provider="test",
    )


def dividend(symbol: str, day: str, amount: float) -> CorporateAction:
    return replace(
        split(symbol, day, 1.0),
        type="cash_dividend",
        old_shares=None,
        new_shares=None,
        amount=amount,
        currency="USD",
    )


@pytest.fixture
def provider() -> Actions:
    found = Actions()
    found.given = [
        dividend("AAPL", "2024-05-10", 0.25),
        split("AAPL", "2026-11-18", 4.0),
        dividend("AAPL", "2026-11-19", 1.0),
        dividend("MSFT", "2026-11-18", 0.9),
        split("AAPL", "2027-01-04", 2.0),
    ]
    return found


@pytest.fixture
def parts(provider: Actions) -> Services:
    days = (FRIDAY.replace(hour=5, minute=0) - timedelta(days=back) for back in (4, 3, 2, 1))
    closes = (50.0, 50.0, 100.0, 100.0)
    history = History(*(bar(day, close) for day, close in zip(days, closes, strict=True)))
    return services(
        full_mirrors(),
        actions=[provider],
        cache=MemoryCache(FRIDAY.timestamp),
        history={Feed.STOCKS: {"test": history}},
    )


@pytest_asyncio.fixture
async def client(parts: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(parts) as client:
        yield client


async def get(client: httpx.AsyncClient, path: str) -> Any:
    response = await client.get(path)
    assert response.status_code == 200, response.text
    return response.json()


async def test_actions_of_several_stocks_are_in_the_order_of_their_days(
    client: httpx.AsyncClient, provider: Actions
) -> None:
    """Of the last year and as far as they are announced; the next request is from the cache."""
    response = await client.get(f"{ACTIONS}?symbols=aapl,MSFT,NOPE")
    found = response.json()
    assert [(each["symbol"], each["exDate"], each["type"]) for each in found] == [
        ("AAPL", "2026-11-18", "split"),
        ("MSFT", "2026-11-18", "cash_dividend"),
        ("AAPL", "2026-11-19", "cash_dividend"),
        ("AAPL", "2027-01-04", "split"),
    ]
    assert found[0] == {
        "id": "AAPL 2026-11-18",
        "type": "split",
        "symbol": "AAPL",
        "exDate": "2026-11-18",
        "recordDate": None,
        "payableDate": None,
        "oldShares": 1.0,
        "newShares": 4.0,
        "amount": None,
        "currency": None,
        "newSymbol": None,
        "provider": "test",
        "knownAt": None,
    }
    assert (response.headers["x-missing-symbols"], response.headers["x-cache"]) == ("NOPE", "MISS")
    asked = len(provider.asked)
    again = await client.get(f"{ACTIONS}?symbols=AAPL&start=2024-01-01&end=2026-11-18")
    assert [each["exDate"] for each in again.json()] == ["2024-05-10", "2026-11-18"]
    assert (again.headers["x-cache"], len(provider.asked)) == ("HIT", asked)
    table = (await client.get(f"{ACTIONS}?symbols=AAPL&format=csv")).text.splitlines()
    assert table[0] == (
        "id,type,symbol,exDate,recordDate,payableDate,oldShares,newShares,amount,currency,newSymbol,provider"
        ",knownAt"
    )


async def test_the_price_of_a_day_is_raw_split_adjusted_or_with_dividends(client: httpx.AsyncClient) -> None:
    """On Tuesday a share cost 200; a 4:1 split and a dividend of a hundredth followed."""
    path = "/api/prices/AAPL?date=2026-11-17&adjusted="
    prices = {each: (await get(client, path + each))["price"] for each in ("raw", "splits", "all")}
    assert prices == {"raw": 200.0, "splits": 50.0, "all": 49.5}
    after = {
        each: (await get(client, f"/api/prices/AAPL?date=2026-11-19&adjusted={each}"))["price"]
        for each in prices
    }
    assert after == dict.fromkeys(prices, 100.0)
    now = await get(client, "/api/prices/AAPL?adjusted=all")
    assert now["price"] == now["quotedPrice"]
    history = await get(client, "/api/prices/AAPL/history?start=2026-11-17&end=2026-11-18&adjusted=all")
    assert [each["price"] for each in history["prices"]] == [49.5, 99.0]
    assert history["adjusted"] == "all"


async def test_bars_are_raw_or_with_dividends_if_asked(client: httpx.AsyncClient) -> None:
    """Raw volumes are in the shares of their own day, too."""
    path = "/api/market/bars/AAPL?interval=D&limit=4&end=2026-11-20&adjustment="
    bars = {each: await get(client, path + each) for each in ("raw", "splits", "all")}
    closes = {name: [each["close"] for each in found] for name, found in bars.items()}
    assert closes == {
        "raw": [200.0, 200.0, 100.0, 100.0],
        "splits": [50.0, 50.0, 100.0, 100.0],
        "all": [49.5, 49.5, 99.0, 100.0],
    }
    assert [each["volume"] for each in bars["raw"]] == [1250.0, 1250.0, 5000.0, 5000.0]
    assert [each["volume"] for each in bars["all"]] == [5000.0] * 4
    response = await client.get("/api/market/bars/AAPL?range=5Y&adjustment=raw")
    assert response.json()["errors"][0]["field"] == "adjustment"


async def test_an_instrument_without_actions_is_its_own_price(client: httpx.AsyncClient) -> None:
    """Pairs and gold know no splits."""
    assert (await get(client, "/api/prices/BTC-USDT?adjusted=raw"))["adjusted"] == "splits"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (UpstreamError("away"), 503, "upstream"),
        (NotOffered("Not in the plan"), 503, "not_offered"),
    ],
)
async def test_a_provider_that_fails_is_an_error(
    client: httpx.AsyncClient, provider: Actions, error: Exception, status: int, code: str
) -> None:
    provider.error = error
    for path in (
        f"{ACTIONS}?symbols=AAPL",
        "/api/prices/AAPL?date=2026-11-17&adjusted=raw",
        "/api/market/bars/AAPL?interval=D&limit=4&adjustment=raw",
    ):
        response = await client.get(path)
        assert (response.status_code, response.json()["code"]) == (status, code), path
    assert (await get(client, "/api/prices/AAPL?date=2026-11-17"))["price"] == 50.0


async def test_a_plan_without_actions_leaves_them_to_the_next_provider(
    parts: Services, provider: Actions
) -> None:
    poor = Actions("poor", NotOffered("Not in the upstream's plan"))
    async with client_of(replace(parts, actions=[poor, provider])) as client:
        assert len(await get(client, f"{ACTIONS}?symbols=AAPL")) == 3
    async with client_of(replace(parts, actions=[])) as client:
        assert (await client.get(f"{ACTIONS}?symbols=AAPL")).json()["code"] == "no_provider"


async def test_a_plan_bounds_the_past_of_actions(parts: Services) -> None:
    async with client_of(replace(parts, reach=Reach("free", 1))) as client:
        found = await get(client, f"{ACTIONS}?symbols=AAPL&start=2020-01-01")
        assert [each["exDate"] for each in found] == ["2026-11-19", "2027-01-04"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("symbols=AAPL&start=2026-12-01&end=2026-11-01", "start"),
        ("symbols=AAPL&start=yesterday", "start"),
        ("symbols=AAPL&end=2026-02-30", "end"),
        ("symbols=AAPL&end=0001-01-01", "end"),
        ("symbols=AAPL&start=1899-12-31", "start"),
        ("symbols=all", "symbols"),
        ("symbols=" + ",".join(f"S{n}" for n in range(51)), "symbols"),
    ],
)
async def test_bad_parameters_are_named(client: httpx.AsyncClient, query: str, field: str) -> None:
    response = await client.get(f"{ACTIONS}?{query}")
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)
