"""How far Finnhub's earnings calendar reaches: an answer shorter than asked says so."""

from collections.abc import AsyncIterator
from datetime import date, timedelta

import pytest

from fakes.financials import CALENDAR, running_worker
from fakes.finnhub import FakeFinnhub
from fakes.finnhub_rows import event
from support.servers.finnhub_local import local_finnhub, provider
from support.stages.caching import Clock

FIRST, LAST = date(2026, 10, 1), date(2026, 12, 31)
DAYS = [FIRST + timedelta(days=number) for number in range(92)]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def fake(clock: Clock) -> AsyncIterator[FakeFinnhub]:
    async with local_finnhub(clock) as fake:
        fake.events = [event("AAPL", day) for day in DAYS if day.weekday() < 5]
        yield fake


async def covered(fake: FakeFinnhub, first: date = FIRST, last: date = LAST) -> tuple[str | None, str | None]:
    told = await provider(fake).earnings_calendar(first, last)
    return told.covered_from, told.covered_to


async def test_whole_calendar_covers_the_days_asked_for(fake: FakeFinnhub) -> None:
    """Weekends without a report, and holidays, do not make it shorter."""
    assert await covered(fake) == ("2026-10-01", "2026-12-31")
    fake.events = [row for row in fake.events if row["date"] < "2026-12-25"]
    assert await covered(fake) == ("2026-10-01", "2026-12-31")
    assert await covered(fake, date(2026, 10, 3), date(2026, 10, 4)) == ("2026-10-03", "2026-10-04")


async def test_calendar_of_one_company_has_a_report_each_quarter(fake: FakeFinnhub) -> None:
    """Weeks without a report do not make it shorter; those of other companies are not asked for."""
    fake.events = [event(symbol, date(2026, 10, 29)) for symbol in ("AAPL", "MSFT")]
    told = await provider(fake).earnings_calendar(FIRST, LAST, "AAPL")
    assert [each.symbol for each in told.earnings_calendar] == ["AAPL"]
    assert (told.covered_from, told.covered_to) == ("2026-10-01", "2026-12-31")


async def test_calendar_of_the_free_plan_begins_later(fake: FakeFinnhub) -> None:
    """Its past is a month long."""
    fake.rest.events_from = date(2026, 10, 22)
    assert await covered(fake) == ("2026-10-22", "2026-12-31")


async def test_calendar_may_end_earlier(fake: FakeFinnhub) -> None:
    """Reports beyond are not known yet."""
    fake.events = [row for row in fake.events if row["date"] <= "2026-11-30"]
    assert await covered(fake) == ("2026-10-01", "2026-11-30")


async def test_calendar_with_too_many_reports_is_cut(fake: FakeFinnhub) -> None:
    """Upstream keeps the latest; of the earliest day that is left some reports may be missing."""
    fake.rest.most_events = 1500
    fake.events = [event(f"A{number}", day) for day in DAYS for number in range(40)]
    told = await provider(fake).earnings_calendar(FIRST, LAST)
    earliest = told.earnings_calendar[0].date
    assert (earliest, told.covered_from, told.covered_to) == ("2026-11-24", "2026-11-25", "2026-12-31")


async def test_calendar_without_any_report_covers_nothing(fake: FakeFinnhub) -> None:
    """More than a week without one is no calendar; a few days may well be empty."""
    fake.events = []
    assert await covered(fake) == (None, None)
    assert await covered(fake, date(2026, 12, 25), date(2026, 12, 31)) == ("2026-12-25", "2026-12-31")


async def test_clients_are_told(redis_url: str, clock: Clock, fake: FakeFinnhub) -> None:
    """Beside the reports."""
    fake.rest.events_from = date(2026, 10, 22)
    async with running_worker(redis_url, clock, provider(fake)) as client:
        told = (await client.get(f"{CALENDAR}?from={FIRST}&to={LAST}")).json()
    assert list(told) == ["earningsCalendar", "coveredFrom", "coveredTo"]
    assert (told["coveredFrom"], told["coveredTo"]) == ("2026-10-22", "2026-12-31")
    assert told["earningsCalendar"][0]["abroad"] is False
