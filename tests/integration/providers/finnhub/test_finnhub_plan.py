"""What Finnhub's plans allow: how much of it, and how often."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from fakes.financials import COMPANY, MEMBERS, running_worker
from fakes.finnhub import NO_ACCESS, FakeFinnhub
from fakes.finnhub_rows import company
from fakes.http import Answer
from quotecast.errors import NotOffered, UpstreamError
from quotecast.limits.budget import budget
from quotecast.limits.window import Window
from quotecast.providers.transport.pace import CALLS_PER_SECOND, Pace
from support.made.windows import PATIENCE
from support.servers.finnhub_local import EVERYTHING, PATHS, ask, local_finnhub, provider
from support.stages.caching import Clock

pytestmark = pytest.mark.usefixtures("patient_redis")

PREMIUM: Final = ("revenue_estimates", "eps_estimates", "earnings_quality")
FREE: Final = ("metrics", "earnings", "recommendations", "calendar")
#: Calls per minute that stay clear of the 60 of the free plan.
CALLS: Final = 55


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def fake(clock: Clock) -> AsyncIterator[FakeFinnhub]:
    async with local_finnhub(clock) as fake:
        yield fake


@pytest.mark.parametrize("question", PREMIUM)
async def test_free_plan_lacks_some(fake: FakeFinnhub, question: str) -> None:
    """NotOffered says so, after one call."""
    fake.rest.premium = False
    with pytest.raises(NotOffered, match="Not in the upstream's plan"):
        await ask(provider(fake), question)
    assert len(fake.requests) == 1


@pytest.mark.parametrize("question", FREE)
async def test_free_plan_has_the_others(fake: FakeFinnhub, question: str) -> None:
    fake.rest.premium = False
    assert await ask(provider(fake), question)


@pytest.mark.parametrize("question", PATHS)
async def test_stock_abroad_is_not_in_the_plan(fake: FakeFinnhub, question: str) -> None:
    with pytest.raises(NotOffered):
        await ask(provider(fake), question, "SAP.DE")


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("kind", ["application/json", "text/plain; charset=utf-8"])
async def test_plan_is_told_from_the_key_by_its_text(fake: FakeFinnhub, status: int, kind: str) -> None:
    """The upstream says it with either status, and as plain text too."""
    fake.everywhere = Answer(NO_ACCESS.body, status, kind)
    with pytest.raises(NotOffered):
        await provider(fake).metrics("AAPL")


async def test_gatekeeper_is_not_the_plan(fake: FakeFinnhub) -> None:
    """A page of HTML passes; what the plan lacks is remembered for long."""
    fake.everywhere = Answer(b"\n<html>Attention required</html>", 403, "text/html")
    with pytest.raises(UpstreamError, match="status 403, text/html"):
        await provider(fake).metrics("AAPL")


@pytest.mark.parametrize("key", ["other", ""])
async def test_refused_key_is_named(fake: FakeFinnhub, key: str) -> None:
    with pytest.raises(UpstreamError, match=r"Finnhub refuses the key: .* status 401"):
        await provider(fake, key=key).metrics("AAPL")


async def test_overview_of_the_free_plan(redis_url: str, clock: Clock, fake: FakeFinnhub) -> None:
    """What the plan lacks is null and named; nothing of it is asked for again at once."""
    fake.rest.premium = False
    async with running_worker(redis_url, clock, provider(fake)) as client:
        first, again = [(await client.get(f"{COMPANY}/AAPL/overview")).json() for _ in range(2)]
    assert first == again
    lacking = {"revenueEstimates", "epsEstimates", "earningsQuality"}
    assert {member for member in MEMBERS.values() if first[member] is None} == lacking
    assert first["errors"] == dict.fromkeys(lacking, "Not in the upstream's plan")
    assert len(fake.requests) == 7


@pytest.mark.parametrize("premium", [True, False], ids=["paid", "free"])
async def test_unknown_company_is_404(
    redis_url: str, clock: Clock, fake: FakeFinnhub, *, premium: bool
) -> None:
    """On every route, whatever the plan lacks."""
    fake.rest.premium = premium
    async with running_worker(redis_url, clock, provider(fake)) as client:
        overview = await client.get(f"{COMPANY}/ZZZZ/overview")
        parts = {path: (await client.get(f"{COMPANY}/ZZZZ/{path}")).status_code for path in MEMBERS}
    assert (overview.status_code, overview.json()["detail"]) == (404, "Symbol not found")
    assert parts == dict.fromkeys(MEMBERS, 404)


async def test_plan_is_not_exceeded(redis_url: str, fake: FakeFinnhub) -> None:
    """Seven overviews at once are within it, over all workers: each is six calls and one for the profile.

    The eighth lacks its currency, and we refuse the ninth ourselves.
    """
    fake.companies = {f"S{number}": company(f"S{number}") for number in range(10)}
    fake.limits.per_second = 60
    async with Window(redis_url, prefix="t", budget=PATIENCE) as window:
        admitted = budget(window.check, "finnhub", CALLS)
        workers = [provider(fake, admitted=admitted, pace=Pace(sleep=_at_once)) for _ in range(2)]

        async def overview(number: int) -> list[Any]:
            questions = [ask(workers[number % 2], each, f"S{number}") for each in PATHS]
            return await asyncio.gather(*questions, return_exceptions=True)

        seven = await asyncio.gather(*map(overview, range(7)))
        eighth = await overview(7)
        ninth = await overview(8)
    assert [each for told in (*seven, eighth) for each in told if isinstance(each, Exception)] == []
    assert [told[0].currency for told in (*seven, eighth)] == ["USD"] * 7 + [None]
    refused = [each for each in ninth if isinstance(each, UpstreamError)]
    assert len(refused) == 6
    assert all(0 < (each.retry_after or 0) <= 60 for each in refused)
    assert len(fake.requests) == CALLS


async def _at_once(_seconds: float) -> None:
    """Lets calls pass out of turn."""


async def test_calls_take_turns(fake: FakeFinnhub) -> None:
    """The upstream has a limit of a second, too."""
    clock = Clock()

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    fake.follow_clock(clock)
    fake.limits.per_second = CALLS_PER_SECOND
    upstream = provider(fake, pace=Pace(clock, sleep))
    for _ in range(3 * CALLS_PER_SECOND):
        assert await upstream.earnings("AAPL")


async def test_overview_waits_for_no_turn(fake: FakeFinnhub) -> None:
    """Seven calls are within what may be called in a second."""
    turns: list[float] = []

    async def sleep(seconds: float) -> None:
        turns.append(seconds)

    upstream = provider(fake, pace=Pace(lambda: 5.0, sleep))
    await asyncio.gather(*(ask(upstream, each) for each in PATHS))
    assert turns == [0.0] * 7


async def test_every_call_is_counted(fake: FakeFinnhub) -> None:
    """The question whether a symbol is known, and the one for a profile, too."""
    count = 0

    async def admitted() -> None:
        nonlocal count
        count += 1

    upstream = provider(fake, admitted=admitted)
    for question in EVERYTHING:
        await ask(upstream, question)
    assert await upstream.recommendations("SPY") == []
    assert count == len(fake.requests) == len(EVERYTHING) + 3
