"""The quality of a feed's day: its session, minutes and gaps, and the figures of its ingests."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final

import pytest

from quotecast.access.plans import Plan
from quotecast.api.routes.market.quality import MAX_GAPS
from quotecast.api.views.delayed import DelayedMarket
from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.feed.documents import Documents
from quotecast.history import storage
from quotecast.history.feed_days import FeedDays, FeedMinutes, StoredDay, write
from quotecast.history.reader import StoredBars
from quotecast.market.feed_days import DayFigures
from quotecast.market.own_bars import Closing, OwnBar
from support.made.factories import NOW, client_of, full_mirrors, services
from support.made.memory_cache import MemoryCache
from support.made.nothing_stored import NoDays
from support.oracles.transactions import open_database
from support.stages.account_service import account_service

#: 9:30 in New York on the day after Thanksgiving, which ends at 13:00.
HALF_DAY: Final = datetime(2026, 11, 27, 14, 30, tzinfo=UTC)
SATURDAY: Final = datetime(2026, 11, 28, 15, tzinfo=UTC)


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url) as database:
        yield database


async def store(database: Database, start: datetime, symbols: dict[str, Sequence[int]]) -> None:
    """Stores bars of minutes after a start."""
    opened = int(start.timestamp())
    for minute in sorted({each for minutes in symbols.values() for each in minutes}):
        bar = OwnBar(opened + 60 * minute, 1.0, 1.0, 1.0, 1.0, None, 1)
        bars = {symbol: bar for symbol, minutes in symbols.items() if minute in minutes}
        closing = Closing(bar.opened + 60, {"1m": bars}, {})

        async def put(connection: Any, closing: Closing = closing) -> None:
            after = await storage.written_through(connection, "stocks")
            await storage.write(connection, series="stocks", after=after, closings=[closing])

        await database.session(put)


def with_days(database: Database, now: datetime, **more: Any) -> Any:
    given: dict[str, Any] = {
        "stored_bars": StoredBars(database),
        "feed_days": FeedDays(database, 30),
        "clock": now.timestamp,
    }
    return services(full_mirrors(), **(given | more))


async def test_gaps_of_a_half_day_end_with_its_close(database: Database) -> None:
    """A half day has 210 minutes; bars of other symbols fill no gap."""
    minutes = [*range(10), *range(12, 100), *range(160, 210)]
    await store(database, HALF_DAY, {"AAPL": minutes, "MSFT": range(210)})
    async with client_of(with_days(database, SATURDAY)) as client:
        found = (await client.get("/api/quality?feed=stocks&symbol=aapl&date=2026-11-27")).json()
        whole = (await client.get("/api/quality?feed=market&date=2026-11-27")).json()
        closed = (await client.get("/api/quality?feed=market")).json()
    assert found == {
        "feed": "market",
        "date": "2026-11-27",
        "opensAt": "2026-11-27T14:30:00.000Z",
        "until": "2026-11-27T18:00:00.000Z",
        "minutes": 210,
        "symbol": {
            "symbol": "AAPL",
            "covered": 148,
            "gapCount": 2,
            "gaps": [
                {"from": "2026-11-27T14:40:00.000Z", "to": "2026-11-27T14:42:00.000Z", "minutes": 2},
                {"from": "2026-11-27T16:10:00.000Z", "to": "2026-11-27T17:10:00.000Z", "minutes": 60},
            ],
        },
        "symbols": None,
        "figures": None,
    }
    assert whole["symbols"] == {
        "symbols": 2,
        "medianCovered": 148,
        "fewestCovered": {"AAPL": 148, "MSFT": 210},
    }
    assert (closed["date"], closed["minutes"], closed["opensAt"]) == ("2026-11-28", 0, None)


async def test_today_goes_to_the_last_minute_whose_bars_are_stored(database: Database) -> None:
    """Bars of a minute come seconds after its end; gaps beyond the bound are counted."""
    now = HALF_DAY + timedelta(minutes=205, seconds=4)
    await store(database, HALF_DAY, {"AAPL": range(0, 204, 2)})
    async with client_of(with_days(database, now)) as client:
        found = (await client.get("/api/quality?feed=market&symbol=AAPL")).json()
    assert (found["date"], found["minutes"], found["symbol"]["covered"]) == ("2026-11-27", 204, 102)
    assert (found["symbol"]["gapCount"], len(found["symbol"]["gaps"])) == (102, MAX_GAPS)


async def test_figures_of_all_ingests_of_the_day(database: Database) -> None:
    day = date(2026, 11, 27)
    one = DayFigures(updates=5, minutes=200, led_seconds=100.04, stale_seconds=1.5, refused={"absurd": 1})
    other = DayFigures(updates=6, minutes=9, corrections=2, refused={"absurd": 1, "halted": 4})
    for age in (50.0, 60.0, 70.0, 900.0):
        other.add_age(age)
    for process, each in (("a", one), ("b", other)):
        await database.session(partial(write, series="stocks", process=process, days={day: each}))
    async with client_of(with_days(database, SATURDAY)) as client:
        found = (await client.get("/api/quality?feed=market&date=2026-11-27")).json()["figures"]
        crypto = (await client.get("/api/quality?feed=crypto&date=2026-11-27")).json()
    written_at = datetime.fromisoformat(found.pop("writtenAt"))
    assert abs(datetime.now(UTC) - written_at) < timedelta(minutes=5)
    assert found == {
        "covered": 209,
        "updates": 11,
        "ageP50Ms": 60.2,
        "ageP90Ms": 955.6,
        "ageP99Ms": 955.6,
        "staleSeconds": 1.5,
        "ledSeconds": 100.0,
        "refused": {"absurd": 2, "halted": 4},
        "corrections": 2,
    }
    assert (crypto["figures"], crypto["minutes"]) == (None, 1440)


@pytest.mark.parametrize(
    ("query", "status", "detail"),
    [
        ("feed=bonds", 422, "Must be"),
        ("symbol=AAPL", 422, "feed"),
        ("feed=market&date=2026-11-29", 422, "Must be from 2025-11-27 to 2026-11-28"),
        ("feed=market&date=2025-11-26", 422, "Must be from 2025-11-27 to 2026-11-28"),
        ("feed=market&date=today", 422, "YYYY-MM-DD"),
        ("feed=market&symbol=NONE", 404, "Symbol not found"),
    ],
)
async def test_what_cannot_be_answered_names_the_bound(query: str, status: int, detail: str) -> None:
    async with client_of(services(full_mirrors(), clock=SATURDAY.timestamp)) as client:
        answer = await client.get(f"/api/quality?{query}")
    assert answer.status_code == status
    assert detail in answer.text


async def test_a_day_without_one_minute_bars_has_its_figures_alone() -> None:
    async with client_of(services(full_mirrors(), clock=SATURDAY.timestamp)) as client:
        for name in ("market", "market&symbol=AAPL"):
            found = (await client.get(f"/api/quality?feed={name}&date=2026-10-28")).json()
            assert (found["symbol"], found["symbols"], found["minutes"]) == (None, None, 390)


async def test_the_first_day_with_bars_has_all_of_them() -> None:
    """PostgreSQL drops a day in UTC after 30 days, in which the next day in Istanbul began."""
    now = datetime(2026, 11, 28, 1, tzinfo=UTC).timestamp
    async with client_of(services(full_mirrors(), clock=now)) as client:
        days = [
            (await client.get(f"/api/quality?feed=doviz&date={date}")).json()["symbols"] is not None
            for date in ("2026-10-29", "2026-10-30")
        ]
    assert days == [False, True]


class Counting(NoDays):
    """Days of which the counts may be late, and the figures are there."""

    counted = 0
    is_late = False

    async def read(self, *asked: Any) -> dict[tuple[str, date], StoredDay]:
        return {("stocks", asked[1]): StoredDay(DayFigures(updates=7), SATURDAY)}

    async def count_minutes(self, *_: object) -> FeedMinutes:
        self.counted += 1
        if self.is_late:
            raise DatabaseAway
        return FeedMinutes(1, 2, {"AAPL": 2})


async def test_counts_of_settled_days_hold_for_a_week() -> None:
    """A final bar never changes."""
    days, now = Counting(), [SATURDAY.timestamp()]
    parts: dict[str, Any] = {"feed_days": days, "cache": MemoryCache(lambda: now[0])}
    async with client_of(services(full_mirrors(), clock=lambda: now[0], **parts)) as client:
        for hours, expected in ((0, 1), (6 * 24, 1), (8 * 24, 2)):
            now[0] = (SATURDAY + timedelta(hours=hours)).timestamp()
            assert (await client.get("/api/quality?feed=market&date=2026-11-25")).status_code == 200
            assert days.counted == expected


async def test_figures_come_without_a_count_that_is_late() -> None:
    days = Counting()
    days.is_late = True
    async with client_of(services(full_mirrors(), clock=SATURDAY.timestamp, feed_days=days)) as client:
        answer = await client.get("/api/quality?feed=market&date=2026-11-27")
    found = answer.json()
    assert (found["symbols"], found["minutes"], found["figures"]["updates"]) == (None, 210, 7)
    assert answer.headers["cache-control"] == "public, max-age=0"


async def test_without_postgres_the_answer_is_503() -> None:
    async with (
        open_database("postgresql://nobody@127.0.0.1:1/none") as away,
        client_of(with_days(away, SATURDAY)) as client,
    ):
        for name in ("market", "market&symbol=AAPL"):
            answer = await client.get(f"/api/quality?feed={name}&date=2026-11-27")
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


async def test_a_key_for_some_symbols_has_no_others(accounts_url: str, database: Database) -> None:
    """Neither in the minutes of a symbol nor among those with the fewest."""
    await store(database, HALF_DAY, {"AAPL": range(3), "MSFT": range(2), "BRK.B": range(1)})
    parts: dict[str, Any] = {"stored_bars": StoredBars(database), "feed_days": FeedDays(database, 30)}
    async with account_service(
        accounts_url, mirrors=full_mirrors(), clock=SATURDAY.timestamp, **parts
    ) as service:
        user = await service.register()
        made = await user.post("/api/keys", {"name": "narrow", "scope": {"symbols": ["AAPL"]}})
        headers = {"X-API-Key": made.json()["secret_key"]}
        path = "/api/quality?feed=market&date=2026-11-27"
        answers = [
            await service.client.get(f"{path}{more}", headers=headers)
            for more in ("", "&symbol=AAPL", "&symbol=MSFT")
        ]
        everybody = await service.client.get(path)
    assert [each.status_code for each in answers] == [200, 200, 404]
    assert answers[0].json()["symbols"]["fewestCovered"] == {"AAPL": 3}
    assert [*everybody.json()["symbols"]["fewestCovered"]] == ["BRK.B", "MSFT", "AAPL"]


async def test_a_plan_bounds_feeds_doors_and_the_past(accounts_url: str) -> None:
    plans = {"anonymous": Plan(feeds=("market",), history_days=5)}
    async with account_service(
        accounts_url, plans=plans, mirrors=full_mirrors(), clock=lambda: NOW
    ) as service:
        codes = [
            (await service.client.get(f"/api/quality?feed={each}")).json().get("code")
            for each in ("crypto", "market&date=2026-11-10", "market")
        ]
    assert codes == ["no_provider", "plan_history", None]


async def test_a_delayed_plan_has_figures_of_days_that_are_over(
    accounts_url: str, database: Database
) -> None:
    """Today's figures would reveal the live market."""
    days = {date(2026, 11, 27): DayFigures(updates=5), date(2026, 11, 26): DayFigures(updates=4)}
    await database.session(lambda link: write(link, "stocks", "a", days))
    now = HALF_DAY + timedelta(minutes=30)
    plans = {"anonymous": Plan(freshness="delayed")}
    async with account_service(
        accounts_url,
        plans=plans,
        mirrors=full_mirrors(),
        delayed=DelayedMarket(full_mirrors(), Documents(), 900),
        clock=now.timestamp,
        feed_days=FeedDays(database, 30),
    ) as service:
        today = (await service.client.get("/api/quality?feed=market")).json()
        before = (await service.client.get("/api/quality?feed=market&date=2026-11-26")).json()
    assert (today["figures"], today["minutes"]) == (None, 14)
    assert (before["figures"]["updates"], before["minutes"]) == (4, 0)
