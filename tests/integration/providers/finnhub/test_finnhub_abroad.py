"""Companies whose home is not the US: which listing Finnhub's figures are of, and in which currency."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakes.financials import COMPANY, running_worker
from fakes.finnhub import NO_ACCESS, TOO_MANY, VERSION, FakeFinnhub
from fakes.finnhub_rows import company, company_abroad, event, profile
from fakes.http import HANGING, HTML_503, TRUNCATED, Answer
from quotecast.api.answers.answers import cached_for
from quotecast.providers.finnhub import profiles
from support.servers.finnhub_local import FIRST, LAST, PATHS, PRICED, ask, local_finnhub, provider
from support.stages.caching import Clock

PROFILE = "/stock/profile2"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def fake(clock: Clock) -> AsyncIterator[FakeFinnhub]:
    async with local_finnhub(clock) as fake:
        fake.companies["TSM"] = company_abroad("2330.TW", "TWD")
        fake.companies["BABA"] = company("BABA") | {PROFILE: profile("BABA", "CNY")}
        yield fake


def marks(told: Any) -> tuple[str, str | None, str | None]:
    """Symbol, currency and home listing of an answer, or of the first of its rows."""
    first = told[0] if isinstance(told, list) else told
    return first.symbol, getattr(first, "currency", None), first.home_symbol


@pytest.mark.parametrize("question", PRICED)
async def test_figures_of_a_home_listing_say_so(fake: FakeFinnhub, question: str) -> None:
    """What is asked about is a receipt in New York; Finnhub's figures are of the share in Taipei."""
    assert marks(await ask(provider(fake), question, "TSM")) == ("TSM", "TWD", "2330.TW")


@pytest.mark.parametrize("question", PRICED)
async def test_foreign_currency_is_named_without_another_listing(fake: FakeFinnhub, question: str) -> None:
    """Some companies file in another currency than they trade in."""
    assert marks(await ask(provider(fake), question, "BABA")) == ("BABA", "CNY", None)
    assert marks(await ask(provider(fake), question, "AAPL")) == ("AAPL", "USD", None)


async def test_estimates_have_a_currency_of_their_own(fake: FakeFinnhub) -> None:
    """Analysts may count in another than the company does."""
    fake.companies["BABA"][PROFILE] = profile("BABA", "CNY") | {"estimateCurrency": "USD"}
    upstream = provider(fake)
    told = [marks(await ask(upstream, question, "BABA"))[1] for question in PRICED]
    assert told == ["CNY", "USD", "USD", "USD"]


async def test_recommendations_name_the_listing(fake: FakeFinnhub) -> None:
    """They are about no amount of money, and cost no second call."""
    assert marks(await ask(provider(fake), "recommendations", "TSM")) == ("TSM", None, "2330.TW")
    assert len(fake.requests) == 1


async def test_profile_is_asked_for_once_a_day(fake: FakeFinnhub, clock: Clock) -> None:
    """By all parts of an overview together."""
    upstream = provider(fake)

    async def calls() -> int:
        await asyncio.gather(*(ask(upstream, question, "TSM") for question in PATHS))
        return sum(asked.path == VERSION + PROFILE for asked in fake.requests)

    assert [await calls(), await calls()] == [1, 1]
    clock.now += profiles.DAY_SECONDS
    assert await calls() == 2


@pytest.mark.parametrize(
    "answer",
    [
        HTML_503,
        NO_ACCESS,
        TOO_MANY,
        TRUNCATED,
        HANGING,
        Answer.of({}),
        Answer.of([]),
        Answer.of({"ticker": 7}),
    ],
    ids=["503", "plan", "limit", "cut", "silent", "empty", "list", "typed"],
)
async def test_without_a_profile_the_rows_alone_tell(
    fake: FakeFinnhub, monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    """The figures come without a currency, not with a guess."""
    if answer is HANGING:  # on a busy machine the others may take longer
        monkeypatch.setattr(profiles, "PATIENCE_SECONDS", 0.5)
    fake.fail(answer, PROFILE)
    upstream = provider(fake)
    assert marks(await ask(upstream, "earnings", "TSM")) == ("TSM", None, "2330.TW")
    assert marks(await ask(upstream, "eps_estimates", "TSM")) == ("TSM", None, "2330.TW")
    assert sum(asked.path == VERSION + PROFILE for asked in fake.requests) == 1


@pytest.mark.parametrize("currency", ["usd", "", "US", "TWDX", "12"])
async def test_text_that_is_no_currency_is_none(fake: FakeFinnhub, currency: str) -> None:
    fake.companies["BABA"][PROFILE] = profile("BABA") | {"currency": currency}
    assert marks(await ask(provider(fake), "metrics", "BABA")) == ("BABA", None, None)


async def test_calendar_marks_listings_abroad(fake: FakeFinnhub) -> None:
    """Its rows name no currency: dollars are what US symbols are taken for."""
    symbols = ["2330.TW", "7203.T", "AZN.L", "BRK.B", "MOG.A", "AAPL"]
    fake.events = [event(symbol, FIRST) for symbol in symbols]
    told = (await provider(fake).earnings_calendar(FIRST, LAST)).earnings_calendar
    assert {each.symbol for each in told if each.abroad} == {"2330.TW", "7203.T", "AZN.L"}
    assert len(told) == len(symbols)


@pytest.mark.parametrize("path", ["metrics", "earnings", "revenue-estimates", "overview"])
@pytest.mark.parametrize("missed", [HTML_503, TOO_MANY, TRUNCATED], ids=["503", "limit", "cut"])
async def test_currency_that_was_missed_is_there_ten_minutes_later(
    redis_url: str, fake: FakeFinnhub, clock: Clock, path: str, missed: Answer
) -> None:
    """From every worker: figures without it are not cached for as long as whole ones."""
    fake.fail(missed, PROFILE)
    async with (
        running_worker(redis_url, clock, provider(fake)) as client,
        running_worker(redis_url, clock, provider(fake)) as other,
    ):
        first = await client.get(f"{COMPANY}/TSM/{path}")
        assert "TWD" not in first.text
        assert first.headers["cache-control"] == cached_for(int(profiles.FAILURE_SECONDS)).decode()
        fake.answers.clear()
        clock.now += profiles.FAILURE_SECONDS - 1
        assert (await other.get(f"{COMPANY}/TSM/{path}")).headers["x-cache"] == "HIT"
        clock.now += 1
        assert "TWD" in (await other.get(f"{COMPANY}/TSM/{path}")).text
        assert "TWD" in (await client.get(f"{COMPANY}/TSM/{path}")).text


@pytest.mark.parametrize("answer", [Answer.of({}), NO_ACCESS], ids=["empty", "plan"])
async def test_figures_of_a_company_without_a_profile_are_cached_as_others(
    redis_url: str, fake: FakeFinnhub, clock: Clock, answer: Answer
) -> None:
    """A fund has none, and a plan may not have them."""
    fake.fail(answer, PROFILE)
    async with running_worker(redis_url, clock, provider(fake)) as client:
        told = await client.get(f"{COMPANY}/TSM/metrics")
    assert told.headers["cache-control"].startswith("public, max-age=86400,")
