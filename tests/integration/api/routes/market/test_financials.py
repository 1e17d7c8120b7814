"""Company data over HTTP: calls to the upstream, answers and cache times."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from fakes.financials import CALENDAR, COMPANY, MEMBERS, FakeFinancials, running_worker
from quotecast.api.answers.answers import cached_for
from quotecast.errors import NotOffered, UpstreamError
from support.made.factories import client_of, full_mirrors, services
from support.runs.waits import until
from support.stages.caching import Clock

HOURS = {
    "metrics": 24,
    "earnings": 6,
    "recommendations": 6,
    "revenue-estimates": 12,
    "eps-estimates": 12,
    "earnings-quality": 24,
}


@pytest.fixture
async def upstream() -> FakeFinancials:
    return FakeFinancials()


@pytest.fixture
async def client(redis_url: str, clock: Clock, upstream: FakeFinancials) -> AsyncIterator[httpx.AsyncClient]:
    async with running_worker(redis_url, clock, upstream) as client:
        yield client


async def test_an_overview_is_its_parts(client: httpx.AsyncClient) -> None:
    """The overview has every record as its own route answers it, in the specified order."""
    overview = (await client.get(f"{COMPANY}/aapl/overview")).json()
    assert list(overview) == ["symbol", *MEMBERS.values(), "errors"]
    assert (overview["symbol"], overview["errors"]) == ("AAPL", {})
    for path, member in MEMBERS.items():
        assert (await client.get(f"{COMPANY}/AAPL/{path}")).json() == overview[member]


async def test_records_have_the_upstreams_fields(client: httpx.AsyncClient) -> None:
    """Records have Finnhub's field names."""
    overview = (await client.get(f"{COMPANY}/AAPL/overview")).json()
    assert list(overview["metrics"]) == [
        *("symbol", "metricType", "metric", "series"),
        *("currency", "homeSymbol"),
    ]
    assert {"52WeekHigh", "peTTM", "marketCapitalization"} <= set(overview["metrics"]["metric"])
    assert list(overview["metrics"]["series"]["annual"]["eps"][0]) == ["period", "v"]
    assert set(overview["earnings"][0]) == {
        *("symbol", "period", "quarter", "year"),
        *("actual", "estimate", "surprise", "surprisePercent"),
        *("currency", "homeSymbol"),
    }
    assert set(overview["recommendations"][0]) == {
        *("symbol", "period", "strongBuy", "buy", "hold", "sell", "strongSell", "homeSymbol")
    }
    for member, name in (("revenueEstimates", "revenue"), ("epsEstimates", "eps")):
        assert list(overview[member]) == ["symbol", "freq", "data", "currency", "homeSymbol"]
        assert set(overview[member]["data"][0]) == {
            *(f"{name}Avg", f"{name}High", f"{name}Low"),
            *("numberAnalysts", "period", "quarter", "year"),
        }
    assert set(overview["earningsQuality"]["data"][0]) == {
        *("period", "growth", "profitability", "cashGenerationCapitalAllocation", "leverage"),
        *("score", "letterScore"),
    }
    (event, *_) = (await client.get(CALENDAR)).json()["earningsCalendar"]
    assert set(event) == {
        *("symbol", "date", "hour", "year", "quarter"),
        *("epsEstimate", "epsActual", "revenueEstimate", "revenueActual", "abroad"),
    }


@pytest.mark.parametrize("path", MEMBERS)
async def test_each_kind_is_kept_for_its_time(
    client: httpx.AsyncClient, clock: Clock, upstream: FakeFinancials, path: str
) -> None:
    """Each record has its cache time, as `max-age`."""
    lifetime = HOURS[path] * 3600
    for later, status, age in ((0, "MISS", 0), (lifetime - 1, "HIT", lifetime - 1), (1, "MISS", 0)):
        clock.now += later
        answer = await client.get(f"{COMPANY}/AAPL/{path}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert (answer.headers["x-cache"], answer.headers["age"]) == (status, str(age))
        assert answer.headers["cache-control"] == cached_for(lifetime).decode()
    assert upstream.calls == {path: 2}


async def test_an_overview_is_as_old_as_its_oldest_part(client: httpx.AsyncClient, clock: Clock) -> None:
    """The overview has the oldest age and the shortest lifetime of its records."""
    await client.get(f"{COMPANY}/AAPL/metrics")
    clock.now += 100
    first = await client.get(f"{COMPANY}/AAPL/overview")
    clock.now += 50
    again = await client.get(f"{COMPANY}/AAPL/overview")
    ages = [
        (each.headers["x-cache"], each.headers["age"], each.headers["cache-control"])
        for each in (first, again)
    ]
    assert ages == [
        ("MISS", "100", cached_for(21700).decode()),
        ("HIT", "150", cached_for(21700).decode()),
    ]
    assert first.headers["etag"] == again.headers["etag"]


@pytest.mark.parametrize("path", [f"{COMPANY}/AAPL/overview", f"{COMPANY}/AAPL/earnings", CALENDAR])
async def test_what_the_client_has_is_not_sent_again(client: httpx.AsyncClient, path: str) -> None:
    """A client with the current tag gets 304; the tag depends on the content only."""
    tag = (await client.get(path)).headers["etag"]
    assert tag.startswith('W/"')
    answer = await client.get(path, headers={"if-none-match": tag})
    assert (answer.status_code, answer.content) == (304, b"")
    assert {"age", "x-cache", "cache-control"} <= set(answer.headers)


async def test_two_workers_ask_for_each_part_once(
    redis_url: str, clock: Clock, upstream: FakeFinancials
) -> None:
    """Concurrent requests at two workers call the upstream once for each record."""
    upstream.answering.clear()
    async with (
        running_worker(redis_url, clock, upstream) as one,
        running_worker(redis_url, clock, upstream) as other,
    ):
        wanted = [
            asyncio.create_task(client.get(f"{COMPANY}/AAPL/overview")) for client in (one, other) * 100
        ]
        await until(lambda: len(upstream.calls) == len(MEMBERS))
        upstream.answering.set()
        bodies = {answer.content for answer in await asyncio.gather(*wanted)}
    assert len(bodies) == 1
    assert upstream.calls == dict.fromkeys(MEMBERS, 1)


@pytest.mark.parametrize("path", MEMBERS)
async def test_an_old_answer_is_better_than_none(
    client: httpx.AsyncClient, clock: Clock, upstream: FakeFinancials, path: str
) -> None:
    """A failing upstream leaves the stale answer for seven days."""
    fresh = await client.get(f"{COMPANY}/AAPL/{path}")
    upstream.fail(UpstreamError("down"))
    clock.now += 7 * 86_400 - 1
    old = await client.get(f"{COMPANY}/AAPL/{path}")
    assert (old.status_code, old.content) == (200, fresh.content)
    assert (old.headers["x-cache"], old.headers["age"]) == ("STALE", "604799")
    assert old.headers["cache-control"] == "public, max-age=0"
    assert (await client.get(f"{COMPANY}/AAPL/overview")).headers["x-cache"] == "STALE"
    clock.now += 1
    assert (await client.get(f"{COMPANY}/AAPL/{path}")).status_code == 503


@pytest.mark.parametrize("path", [*(f"{COMPANY}/AAPL/{path}" for path in [*MEMBERS, "overview"]), CALENDAR])
async def test_a_failing_upstream_is_told_of_without_detail(
    client: httpx.AsyncClient, upstream: FakeFinancials, path: str
) -> None:
    """A failing upstream is 503 with `Retry-After`, without its own text."""
    upstream.fail(UpstreamError("https://upstream.example/secret", retry_after=17.2))
    answer = await client.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "18")
    assert (answer.json()["detail"], answer.json()["code"]) == ("Upstream unavailable", "upstream")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (UpstreamError("https://upstream.example/secret"), "Upstream unavailable"),
        (NotOffered("Not in the plan"), "Not in the plan"),
    ],
)
async def test_a_part_that_fails_leaves_the_others(
    client: httpx.AsyncClient, upstream: FakeFinancials, error: Exception, text: str
) -> None:
    """A failed record is null and named in `errors`; a temporary failure gets `max-age=0`."""
    upstream.fail(error, "metrics", "eps-estimates")
    answer = await client.get(f"{COMPANY}/AAPL/overview")
    overview = answer.json()
    assert answer.status_code == 200
    assert overview["errors"] == {"metrics": text, "epsEstimates": text}
    assert [member for member in MEMBERS.values() if overview[member] is None] == ["metrics", "epsEstimates"]
    seconds = 0 if isinstance(error, UpstreamError) else 21600
    assert answer.headers["cache-control"] == cached_for(seconds).decode()


@pytest.mark.parametrize("path", [*MEMBERS, "overview"])
async def test_what_the_upstream_does_not_offer_is_said_so(
    client: httpx.AsyncClient, upstream: FakeFinancials, path: str
) -> None:
    """Data outside the upstream's plan is 503 without `Retry-After`, after one call."""
    upstream.fail(NotOffered("Not in the plan"))
    for _ in range(2):
        answer = await client.get(f"{COMPANY}/AAPL/{path}")
        assert answer.status_code == 503
        assert (answer.json()["detail"], answer.json()["code"]) == ("Not in the plan", "not_offered")
        assert "retry-after" not in answer.headers
    assert set(upstream.calls.values()) == {1}


@pytest.mark.parametrize("path", [*(f"{COMPANY}/AAPL/{path}" for path in [*MEMBERS, "overview"]), CALENDAR])
async def test_without_a_provider_there_is_nothing(path: str) -> None:
    async with client_of(services(full_mirrors(), financials=None)) as client:
        answer = await client.get(path)
    assert answer.status_code == 503
    assert answer.json()["detail"] == "No provider configured for financials"
    assert answer.json()["code"] == "no_provider"


async def test_answers_of_one_provider_are_not_told_as_anothers(
    redis_url: str, clock: Clock, upstream: FakeFinancials
) -> None:
    """The cache keys name the provider, so that simulated data never appears as real."""
    other = FakeFinancials()
    other.name = "other"
    async with (
        running_worker(redis_url, clock, upstream) as one,
        running_worker(redis_url, clock, other) as changed,
    ):
        await one.get(f"{COMPANY}/AAPL/earnings")
        assert (await changed.get(f"{COMPANY}/AAPL/earnings")).headers["x-cache"] == "MISS"


async def test_the_document_shows_these_routes(client: httpx.AsyncClient) -> None:
    """The OpenAPI document has these routes with their parameters and cache headers."""
    document = (await client.get("/api/openapi.json")).json()
    paths = {path for path in document["paths"] if path.startswith("/api/financials")}
    assert paths == {CALENDAR, *(f"{COMPANY}/{{symbol}}/{path}" for path in [*MEMBERS, "overview"])}
    for path in paths:
        operation = document["paths"][path]["get"]
        assert {"X-Cache", "Age"} <= set(operation["responses"]["200"]["headers"])
        assert ("422" in operation["responses"]) is (path == CALENDAR)
    parameters = document["paths"][CALENDAR]["get"]["parameters"]
    assert [(each["name"], each["required"]) for each in parameters] == [
        ("from", False),
        ("to", False),
        ("symbol", False),
    ]
