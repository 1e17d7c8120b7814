"""Company data of an unknown symbol is 404, and that of a listed stock may be empty."""

from collections.abc import AsyncIterator

import httpx
import pytest

from fakes.financials import COMPANY, MEMBERS, FakeFinancials, running_worker
from quotecast.errors import SymbolNotFound
from quotecast.feed.documents import Documents
from quotecast.limits.budget import budget
from quotecast.market.assets import Asset
from support.made.documents import asset, assets_of
from support.made.factories import full_mirrors, services
from support.stages.account_service import LocalLimits
from support.stages.caching import Clock

UNMARKED = {"currency": None, "homeSymbol": None}
EMPTY = {
    "metrics": {"metricType": "all", "metric": {}, "series": {"annual": {}, "quarterly": {}}, **UNMARKED},
    "earnings": [],
    "recommendations": [],
    "revenue-estimates": {"freq": "quarterly", "data": [], **UNMARKED},
    "eps-estimates": {"freq": "quarterly", "data": [], **UNMARKED},
    "earnings-quality": {"freq": "quarterly", "data": []},
}


@pytest.fixture
async def upstream() -> FakeFinancials:
    return FakeFinancials()


@pytest.fixture
async def client(redis_url: str, clock: Clock, upstream: FakeFinancials) -> AsyncIterator[httpx.AsyncClient]:
    async with running_worker(redis_url, clock, upstream) as client:
        yield client


@pytest.mark.parametrize("path", [*MEMBERS, "overview"])
async def test_a_symbol_that_nobody_knows_is_not_found(
    client: httpx.AsyncClient, upstream: FakeFinancials, path: str
) -> None:
    """An unknown symbol is 404, after one call for all spellings."""
    for symbol in ("NOPE", "nope"):
        answer = await client.get(f"{COMPANY}/{symbol}/{path}")
        assert answer.status_code == 404
        assert answer.json()["detail"] == "Symbol not found"
        assert answer.json()["code"] == "symbol_not_found"
    assert set(upstream.calls.values()) == {1}


async def test_what_cannot_be_a_symbol_never_reaches_the_upstream(
    client: httpx.AsyncClient, upstream: FakeFinancials
) -> None:
    """Text that cannot be a symbol reaches neither the upstream nor the cache."""
    for symbol in ("%E2%82%AC", "A%2FB", "%2e%2e", "AAPL%0d%0aX", "AAPL:X", "X" * 50):
        for path in (*MEMBERS, "overview"):
            assert (await client.get(f"{COMPANY}/{symbol}/{path}")).status_code == 404
    assert not upstream.calls


async def test_invented_symbols_have_a_small_budget_of_their_own(
    redis_url: str, clock: Clock, upstream: FakeFinancials
) -> None:
    """Invented symbols use a small budget of their own."""
    documents = Documents()
    documents.assets.take(assets_of(asset("AAPL")))
    unlisted = budget(LocalLimits().check, "upstream unlisted", 3)
    async with running_worker(redis_url, clock, upstream, documents=documents, unlisted=unlisted) as client:
        # The upstream has the first one, although it is not listed.
        invented = [
            await client.get(f"{COMPANY}/{name}/metrics") for name in ("NVDA", "A1", "A2", "A3", "A4")
        ]
        assert [answer.status_code for answer in invented] == [200, 404, 404, 503, 503]
        assert 0 < int(invented[-1].headers["retry-after"]) <= 60
        assert upstream.calls == {"has": 3, "metrics": 1}
        for symbol in ("AAPL", "MSFT", "NVDA"):
            assert (await client.get(f"{COMPANY}/{symbol}/earnings")).status_code == 200


async def test_an_invented_symbol_costs_one_call(
    redis_url: str, clock: Clock, upstream: FakeFinancials
) -> None:
    """The small budget counts calls, and an overview has six records; also where no assets are listed."""
    unlisted = budget(LocalLimits().check, "upstream unlisted", 3)
    async with running_worker(redis_url, clock, upstream, unlisted=unlisted) as client:
        invented = [await client.get(f"{COMPANY}/{name}/overview") for name in ("A1", "A2", "A3", "A4")]
        assert [answer.status_code for answer in invented] == [404, 404, 404, 503]
        assert upstream.calls == {"has": 3}
        assert (await client.get(f"{COMPANY}/AAPL/overview")).status_code == 200


async def test_not_found_is_believed_for_ten_minutes(
    client: httpx.AsyncClient, clock: Clock, upstream: FakeFinancials
) -> None:
    for later in (0, 599, 1):
        clock.now += later
        assert (await client.get(f"{COMPANY}/NOPE/earnings")).status_code == 404
    assert upstream.calls == {"has": 2}


@pytest.mark.parametrize("symbol", ["MSFT", "FUND"])
async def test_a_listed_stock_without_data_has_empty_records(
    redis_url: str, clock: Clock, upstream: FakeFinancials, symbol: str
) -> None:
    """A listed stock without data has empty records instead of 404."""
    upstream.fail(SymbolNotFound())
    made = services(full_mirrors())
    made.documents.assets.items = [Asset(ticker="FUND", name="A Fund", exchange="NYSE")]
    async with running_worker(redis_url, clock, upstream, documents=made.documents) as client:
        overview = (await client.get(f"{COMPANY}/{symbol}/overview")).json()
        for path, empty in EMPTY.items():
            answer = await client.get(f"{COMPANY}/{symbol}/{path}")
            assert answer.status_code == 200
            assert answer.json() == ({"symbol": symbol, **empty} if isinstance(empty, dict) else empty)
            assert answer.json() == overview[MEMBERS[path]]
    assert overview["errors"] == {}
