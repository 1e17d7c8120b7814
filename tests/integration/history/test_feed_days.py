"""The figures of feeds' days on a real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from quotecast.bus.redis import RedisBus
from quotecast.database.database import Database
from quotecast.errors import BusError
from quotecast.history import feed_days
from quotecast.history.feed_days import FeedDays, FeedMinutes
from quotecast.history.writer import FIGURES_SECONDS
from quotecast.market.feed_days import DayFigures
from quotecast.market.feeds import Feed
from support.made.closings import FIRST, made_closing, made_closings, put, write_all, writer_of
from support.made.memory_bus import MemoryBus
from support.oracles.transactions import open_database, query_server

#: The sweep deletes by the server's date.
DAY = datetime.now(UTC).date() - timedelta(days=2)


def no_bus() -> Any:
    """Returns a bus without closings."""
    return MemoryBus(lambda: 0.0)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url) as database:
        yield database


async def figures(database: Database, series: str = "stocks") -> dict[date, DayFigures]:
    found = await FeedDays(database, 30).read([series], date.min, date.max)
    return {day: each.figures for (_, day), each in found.items()}


async def test_rows_of_two_ingests_add_up_and_a_repeated_write_changes_nothing(database: Database) -> None:
    """A takeover neither loses nor doubles what was counted."""
    clock, bus = Clock(), no_bus()
    one = DayFigures(updates=5, minutes=3, led_seconds=60.5, stale_seconds=2.0, refused={"absurd": 1})
    other = DayFigures(updates=7, corrections=2, led_seconds=30.0, refused={"absurd": 2, "halted": 1})
    one.add_age(10.0)
    other.add_age(4000.0)
    first = writer_of(bus, database, figures={DAY: one}, clock=clock)
    second = writer_of(bus, database, figures={DAY: other}, clock=clock)
    for writer in (first, second, first):
        await writer.write_figures()
    one.updates += 10
    await first.write_figures()
    both = (await figures(database))[DAY]
    assert (both.updates, both.minutes, both.corrections) == (22, 3, 2)
    assert (both.led_seconds, both.stale_seconds) == (90.5, 2.0)
    assert both.refused == {"absurd": 3, "halted": 1}
    assert sum(both.ages) == 2
    assert await figures(database, "stocks.simulator") == {}


async def test_a_writer_writes_once_a_minute(database: Database) -> None:
    clock, days = Clock(), {DAY: DayFigures(updates=1)}
    writer = writer_of(no_bus(), database, figures=days, clock=clock)
    await writer.step()
    days[DAY].updates = 2
    clock.now = FIGURES_SECONDS - 1
    await writer.step()
    assert (await figures(database))[DAY].updates == 1
    clock.now = FIGURES_SECONDS
    await writer.step()
    assert (await figures(database))[DAY].updates == 2


async def test_figures_are_written_while_redis_is_away(database: Database) -> None:
    class Away(MemoryBus):
        async def closings_after(self, *_: object) -> Any:
            raise BusError("away")

    bus: Any = Away(lambda: 0.0)
    await writer_of(bus, database, figures={DAY: DayFigures(updates=3)}).step()
    assert (await figures(database))[DAY].updates == 3


async def test_a_database_that_is_away_loses_no_figures() -> None:
    days = {DAY: DayFigures(updates=1)}
    async with open_database("postgresql://nobody@127.0.0.1:1/none") as away:
        await writer_of(no_bus(), away, figures=days).write_figures()
    assert days[DAY].updates == 1


async def date_of_server(url: str) -> date:
    [(today,)] = await query_server(url, "SELECT current_date")
    assert isinstance(today, date)
    return today


async def test_rows_are_deleted_after_a_year(database: Database, own_accounts_url: str) -> None:
    """By the sweep that drops bars."""
    today = await date_of_server(own_accounts_url)
    oldest = feed_days.KEEP_DAYS + 1
    days = {today - timedelta(days=ago): DayFigures() for ago in (-2, -1, 1, oldest, oldest + 1)}
    writer = writer_of(no_bus(), database, figures=days)
    await writer.step()
    kept = sorted((today - day).days for day in await figures(database))
    is_past_midnight = today != await date_of_server(own_accounts_url)
    # The date in New York may be the one before the server's.
    assert kept == [-1, 1, oldest] or (is_past_midnight and kept == [-2, -1, 1])


async def test_figures_that_did_not_change_keep_their_time(database: Database) -> None:
    """Those of yesterday are written with those of today, each minute."""
    yesterday = DAY - timedelta(days=1)
    days = {yesterday: DayFigures(updates=1), DAY: DayFigures(updates=1)}
    writer, written = writer_of(no_bus(), database, figures=days), []
    for _ in range(2):
        await writer.write_figures()
        written.append(await FeedDays(database, 30).read(["stocks"], yesterday, DAY))
        days[DAY].updates += 1
    before, after = ([each["stocks", day].written_at for each in written] for day in (yesterday, DAY))
    assert (before[0] == before[1], after[0] < after[1]) == (True, True)


async def test_counts_of_whole_feeds_take_one_connection_of_a_worker() -> None:
    class Busy:
        running = most = 0

        async def session(self, _: object) -> list[Any]:
            self.running += 1
            self.most = max(self.most, self.running)
            await asyncio.sleep(0.01)
            self.running -= 1
            return []

    busy: Any = Busy()
    store, now = FeedDays(busy, 30), datetime.now(UTC)
    counts = await asyncio.gather(*(store.count_minutes("stocks", now, now, None) for _ in range(4)))
    assert (counts, busy.most) == ([FeedMinutes(0, 0, {})] * 4, 1)


async def test_minutes_of_a_feed_are_counted_by_symbol(
    database: Database, own_accounts_url: str, redis_url: str
) -> None:
    bus = RedisBus(redis_url, "test")
    closings = [*made_closings(10), made_closing(FIRST + 600, ["AAPL"])]
    await put(bus, closings, Feed.STOCKS)
    await write_all(writer_of(bus, database))
    await bus.close()
    start = datetime.fromtimestamp(FIRST - 60, UTC)
    store = FeedDays(database, 30)
    end = start + timedelta(hours=1)
    assert await store.count_minutes("stocks", start, end, None) == FeedMinutes(
        3, 10, {"MSFT": 10, "ÅÄ/X": 10, "AAPL": 11}
    )
    assert await store.count_minutes("stocks", start, end, ["AAPL"]) == FeedMinutes(1, 11, {"AAPL": 11})
    half = start + timedelta(minutes=5)
    assert (await store.count_minutes("stocks", start, half, None)).median_covered == 5
    assert await store.count_minutes("stocks.simulator", start, end, None) == FeedMinutes(0, 0, {})
    assert await query_server(own_accounts_url, "SELECT count(*) FROM feed_days") == [(0,)]
