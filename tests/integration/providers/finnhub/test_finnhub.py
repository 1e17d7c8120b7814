"""The Finnhub adapter against a local Finnhub: what it asks, and what it tells."""

from collections.abc import AsyncIterator
from datetime import date, timedelta
from typing import Any, Final

import pytest

from fakes.finnhub import VERSION, FakeFinnhub
from fakes.finnhub_rows import event
from fakes.http import Answer
from quotecast.errors import SymbolNotFound
from quotecast.market.financials import (
    Earnings,
    EarningsCalendar,
    EarningsEvent,
    EarningsQuality,
    EpsEstimate,
    Estimates,
    Metrics,
    QualityScore,
    Recommendation,
    RevenueEstimate,
    Series,
    SeriesPoint,
)
from support.servers.finnhub_local import FIRST, LAST, PATHS, PRICED, ask, local_finnhub, provider
from support.stages.caching import Clock

LISTS: Final = tuple(PATHS)[1:]
QUARTERS: Final = ("2026-09-30", "2026-06-30", "2026-03-31", "2025-12-31")
COMING: Final = ("2027-09-30", "2027-06-30", "2027-03-31", "2026-12-31")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def fake(clock: Clock) -> AsyncIterator[FakeFinnhub]:
    async with local_finnhub(clock) as fake:
        yield fake


async def test_metrics_are_told(fake: FakeFinnhub) -> None:
    told = await provider(fake).metrics("AAPL")
    figures = fake.companies["AAPL"]["/stock/metric"]["metric"]
    assert told == Metrics(
        symbol="AAPL",
        metric_type="all",
        metric=figures | {"52WeekLow": float(figures["52WeekLow"])},
        series=Series(
            annual={"eps": [SeriesPoint("2026-09-30", 6.9)]},
            quarterly={"eps": [SeriesPoint(each, 1.6) for each in QUARTERS]},
        ),
        currency="USD",
    )
    assert told.metric["52WeekHighDate"] == "2026-10-28"
    assert told.metric["dividendYieldIndicatedAnnual"] is None


async def test_earnings_are_told(fake: FakeFinnhub) -> None:
    expected = [(each, int(each[5:7]) // 3, int(each[:4])) for each in QUARTERS]
    assert await provider(fake).earnings("AAPL") == [
        Earnings("AAPL", period, quarter, year, 1.5, 1.45, 0.05, 3.45, "USD")
        for period, quarter, year in expected
    ]


async def test_recommendations_are_told(fake: FakeFinnhub) -> None:
    told = await provider(fake).recommendations("AAPL")
    assert told == [Recommendation("AAPL", "2026-11-01", 10, 20, 9, 2, 0)]


async def test_estimates_are_told(fake: FakeFinnhub) -> None:
    """The nearest quarter last."""
    upstream = provider(fake)
    expected = [(each, int(each[5:7]) // 3, int(each[:4])) for each in COMING]
    assert await upstream.revenue_estimates("AAPL") == Estimates(
        "AAPL",
        "quarterly",
        [RevenueEstimate(*each, 117_840_000_000.0, 121.5e9, 110.2e9, 28) for each in expected],
        "USD",
    )
    assert await upstream.eps_estimates("AAPL") == Estimates(
        "AAPL", "quarterly", [EpsEstimate(*each, 2.11, 2.4, 1.9, 28) for each in expected], "USD"
    )


async def test_quality_of_earnings_is_told(fake: FakeFinnhub) -> None:
    scores = [QualityScore(each, 50.5, 72.2, 84.0, 89.9, 74.15, "A-") for each in QUARTERS]
    expected = EarningsQuality("AAPL", "quarterly", scores)
    assert await provider(fake).earnings_quality("AAPL") == expected


async def test_calendar_is_of_the_days_asked_for(fake: FakeFinnhub) -> None:
    """By date, both ends included; the upstream's order is its own, and its days are not always ours."""
    days = [(0, "NVDA"), (4, "ZM"), (0, "AMD"), (-1, "OLD"), (5, "NEW")]
    rows = [event(ticker, FIRST + timedelta(days=offset)) for offset, ticker in days]
    fake.events = rows
    upstream = provider(fake)
    told = await upstream.earnings_calendar(FIRST, LAST)
    assert [(each.date, each.symbol) for each in told.earnings_calendar] == [
        ("2026-11-16", "AMD"),
        ("2026-11-16", "NVDA"),
        ("2026-11-20", "ZM"),
    ]
    assert told.earnings_calendar[0] == EarningsEvent(
        "AMD", "2026-11-16", "amc", 2026, 3, 1.45, None, 102_000_000_000.0, None
    )
    assert fake.requests[0].query == {"from": "2026-11-16", "to": "2026-11-20"}
    fake.fail(Answer.of({"earningsCalendar": rows}), "/calendar/earnings")
    assert await upstream.earnings_calendar(FIRST, LAST) == told
    assert upstream._refused.by_reason() == {"out_of_range": 2}


@pytest.mark.parametrize("answer", [{"earningsCalendar": []}, {"earningsCalendar": None}, {}], ids=str)
async def test_days_without_reports_are_an_empty_calendar(fake: FakeFinnhub, answer: Any) -> None:
    fake.fail(Answer.of(answer), "/calendar/earnings")
    day = date(2026, 11, 22)
    assert await provider(fake).earnings_calendar(day, day) == EarningsCalendar(
        [], "2026-11-22", "2026-11-22"
    )
    assert len(fake.requests) == 1


@pytest.mark.parametrize("question", PATHS)
async def test_key_travels_in_its_header_alone(fake: FakeFinnhub, question: str) -> None:
    """Each question is one call, and where amounts need a currency another one for the profile."""
    await ask(provider(fake), question)
    profile = [VERSION + "/stock/profile2"] * (question in PRICED)
    assert [asked.path for asked in fake.requests] == [VERSION + PATHS[question], *profile]
    for asked in fake.requests:
        assert asked.headers["X-Finnhub-Token"] == fake.key
        assert "token" not in asked.query
        assert asked.query["symbol"] == "AAPL"
        assert asked.headers["User-Agent"].startswith("quotecast/")


@pytest.mark.parametrize("question", PATHS)
async def test_symbol_that_nobody_knows_is_not_found(fake: FakeFinnhub, question: str) -> None:
    """Empty metrics say so; after an empty list its price is asked for, and there is none."""
    with pytest.raises(SymbolNotFound):
        await ask(provider(fake), question, "ZZZZ")
    assert [asked.path for asked in fake.requests[1:]] == [VERSION + "/quote"] * (question != "metrics")


@pytest.mark.parametrize("question", LISTS)
@pytest.mark.parametrize("answer", [[], {}, None], ids=str)
async def test_list_of_a_known_symbol_may_be_empty(fake: FakeFinnhub, question: str, answer: Any) -> None:
    """A fund has no earnings, but is not unknown."""
    fake.fail(Answer.of(answer), PATHS[question])
    told = await ask(provider(fake), question, "SPY")
    assert (told if isinstance(told, list) else told.data) == []


async def test_row_that_is_none_costs_itself(fake: FakeFinnhub) -> None:
    """And is counted."""
    good = fake.companies["AAPL"]["/stock/earnings"]
    rows = [{"period": "soon"}, good[1], 1, good[0] | {"actual": "NaN"}]
    fake.fail(Answer.of(rows), "/stock/earnings")
    upstream = provider(fake)
    told = await upstream.earnings("AAPL")
    assert [(each.period, each.actual) for each in told] == [(QUARTERS[0], None), (QUARTERS[1], 1.5)]
    assert upstream._refused.by_reason() == {"malformed": 2, "unreadable_field": 1}


async def test_overlong_list_is_cut(fake: FakeFinnhub) -> None:
    """To a century of quarters, the newest of them."""
    good = fake.companies["AAPL"]["/stock/earnings"][0]
    periods = [(date(2026, 9, 30) - timedelta(days=number)).isoformat() for number in range(500)]
    fake.fail(Answer.of([good | {"period": each} for each in reversed(periods)]), "/stock/earnings")
    told = await provider(fake).earnings("AAPL")
    assert [each.period for each in told] == periods[:400]
