"""The earnings calendar over HTTP: spans of days and their bounds."""

from collections.abc import AsyncIterator
from datetime import date

import httpx
import pytest

from fakes.financials import CALENDAR, FakeFinancials, running_worker
from support.stages.caching import Clock


@pytest.fixture
async def upstream() -> FakeFinancials:
    return FakeFinancials()


@pytest.fixture
async def client(redis_url: str, clock: Clock, upstream: FakeFinancials) -> AsyncIterator[httpx.AsyncClient]:
    async with running_worker(redis_url, clock, upstream) as client:
        yield client


async def test_the_calendar_is_kept_for_an_hour(
    client: httpx.AsyncClient, clock: Clock, upstream: FakeFinancials
) -> None:
    """The cache stores each span for an hour."""
    for later, status in ((0, "MISS"), (3599, "HIT"), (1, "MISS")):
        clock.now += later
        assert (await client.get(CALENDAR)).headers["x-cache"] == status
    assert (await client.get(f"{CALENDAR}?to=2026-11-21")).headers["x-cache"] == "MISS"
    assert upstream.calls == {"calendar": 3}


@pytest.mark.parametrize(
    ("query", "span"),
    [
        ("", ("2026-11-20", "2026-11-27")),
        ("?from=2026-12-01", ("2026-12-01", "2026-12-08")),
        ("?to=2026-11-20", ("2026-11-20", "2026-11-20")),
        ("?to=2027-02-20", ("2026-11-20", "2027-02-20")),
        ("?to=2026-11-19", ("2026-11-12", "2026-11-19")),
        ("?from=2026-01-01&to=2026-04-03", ("2026-01-01", "2026-04-03")),
        ("?from=2028-02-29&to=2028-02-29", ("2028-02-29", "2028-02-29")),
        ("?from=9999-12-31", ("9999-12-31", "9999-12-31")),
        ("?to=0001-01-03", ("0001-01-01", "0001-01-03")),
    ],
)
async def test_a_calendar_spans_what_was_asked_for(
    client: httpx.AsyncClient, upstream: FakeFinancials, query: str, span: tuple[str, str]
) -> None:
    """An open end is a week from the other; without both, the week begins today."""
    answer = await client.get(CALENDAR + query)
    assert answer.status_code == 200
    assert [tuple(map(str, days)) for days in upstream.spans] == [span]
    assert all(span[0] <= event["date"] <= span[1] for event in answer.json()["earningsCalendar"])


async def test_today_is_new_yorks(client: httpx.AsyncClient, clock: Clock, upstream: FakeFinancials) -> None:
    """Today is the day in New York."""
    clock.now += 13 * 3600
    await client.get(CALENDAR)
    assert upstream.spans == [(date(2026, 11, 20), date(2026, 11, 27))]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?from=2026-12-02&to=2026-12-01", "from"),
        ("?from=2026-01-01&to=2026-04-04", "to"),
        ("?to=2027-02-21", "to"),
        ("?from=2026-02-29", "from"),
        ("?from=2026-13-01", "from"),
        ("?to=20261201", "to"),
        ("?to=2026-W49-2", "to"),
        ("?to=2026-12-1", "to"),
        ("?from=", "from"),
        ("?from=tomorrow", "from"),
        ("?from=2026-12-01T00:00:00Z", "from"),
        ("?from=%D9%A2026-12-01", "from"),
    ],
)
async def test_a_span_that_is_none_is_refused(
    client: httpx.AsyncClient, upstream: FakeFinancials, query: str, field: str
) -> None:
    """Invalid dates, a reversed span and more than 92 days are 422 that names the value."""
    answer = await client.get(CALENDAR + query)
    assert answer.status_code == 422
    assert answer.json()["detail"] == f"Invalid {field}"
    assert [each["field"] for each in answer.json()["errors"]] == [field]
    assert not upstream.calls


async def test_reports_of_one_company_span_years(client: httpx.AsyncClient, clock: Clock) -> None:
    """Letter case does not matter; each company is kept for itself."""
    years = f"{CALENDAR}?from=2021-11-20&to=2026-11-20"
    assert (await client.get(years)).status_code == 422
    answer = await client.get(f"{years}&symbol=meta")
    events = answer.json()["earningsCalendar"]
    assert ({each["symbol"] for each in events}, len(events)) == ({"META"}, 20)
    clock.now += 1
    other = await client.get(f"{years}&symbol=AAPL")
    assert {each["symbol"] for each in other.json()["earningsCalendar"]} == {"AAPL"}
    assert (await client.get(f"{years}&symbol=XXXX")).status_code == 404
    too_long = await client.get(f"{CALENDAR}?from=2021-11-01&to=2026-11-20&symbol=AAPL")
    assert too_long.json()["errors"][0]["message"] == "Must be at most 1830 days after from"
