"""Query parameters that a route does not have, and those without a value."""

import httpx
import pytest

from support.stages.bar_service import APPLE, BITCOIN, BarService, new_service


@pytest.fixture
def service() -> BarService:
    return new_service()


def refused(answer: httpx.Response) -> tuple[str, str]:
    body = answer.json()
    assert (answer.status_code, body["code"]) == (422, "unknown_parameter")
    [problem] = body["errors"]
    return problem["field"], problem["message"]


@pytest.mark.parametrize(
    ("path", "name", "meant"),
    [
        ("/api/market/quotes/AAPL?fromat=csv", "fromat", "format"),
        ("/api/market/quotes?symbol=AAPL", "symbol", "symbols"),
        ("/api/market/quotes?tickers=AAPL", "tickers", "symbols"),
        (f"{APPLE}?intreval=1h", "intreval", "interval"),
        (f"{APPLE}?from=0", "from", "start"),
        (f"{APPLE}?limt=2", "limt", "limit"),
        (f"{BITCOIN}?count=2", "count", "limit"),
        (f"{BITCOIN}?until=5", "until", "end"),
        ("/api/financials/earnings-calendar?start=2026-11-20", "start", "from"),
        ("/api/doviz/quotes?categroy=gold", "categroy", "category"),
    ],
)
async def test_a_name_like_a_known_one_is_an_error(
    service: BarService, path: str, name: str, meant: str
) -> None:
    assert refused(await service.get(path)) == (name, f"There is no such parameter; did you mean {meant}?")


@pytest.mark.parametrize(
    "query", ["_=1795188600", "t=5", "ts=5", "utm_source=mail", "v=2", "nonce=5", "cb", "%00=1"]
)
async def test_other_names_are_ignored(service: BarService, query: str) -> None:
    """Cache busters and analytics."""
    for path in (APPLE, "/api/health"):
        assert (await service.get(f"{path}?{query}")).status_code == 200


@pytest.mark.parametrize(
    "path", ["/api/prices?symbols=AAPL&", "/api/prices/AAPL?", "/api/prices/AAPL/history?"]
)
@pytest.mark.parametrize("null", ["null", "NULL"])
async def test_null_is_no_omitted_parameter(service: BarService, path: str, null: str) -> None:
    answer = await service.get(f"{path}type={null}")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert answer.json()["errors"] == [{"field": "type", "message": "Must have a value, or be left out"}]


async def test_a_text_may_be_null(service: BarService) -> None:
    answer = await service.get("/api/market/quotes?symbols=AAPL,null")
    assert answer.headers["x-missing-symbols"] == "NULL"
