"""The writer of bars while PostgreSQL or Redis is dead, frozen, empty or not migrated, and past retention."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
import redis
from structlog.testing import capture_logs

from quotecast.bus.redis import RedisBus
from quotecast.database import migrations
from quotecast.database.database import Database
from quotecast.history.statistics import BarStatistics
from quotecast.history.writer import CLOSINGS, POLL_SECONDS, RETENTION_SECONDS, BarWriter
from quotecast.market.feeds import Feed
from support.made.closings import (
    FIRST,
    RETENTION,
    made_closing,
    made_closings,
    put,
    rows_of,
    stored_rows,
    write_all,
    writer_of,
)
from support.oracles.transactions import open_database, query_server
from support.runs.deadlines import scaled
from support.servers.processes import Postgres

pytestmark = pytest.mark.slow

DAY = 86_400
STREAM = "test:{stocks}:closings"


@pytest.fixture
async def bus(redis_url: str) -> AsyncIterator[RedisBus]:
    bus = RedisBus(redis_url, "test")
    yield bus
    await bus.close()


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url, statement_cache=0) as database:
        yield database


async def test_bars_wait_for_a_postgres_that_is_away(bus: RedisBus, own_postgres: Postgres) -> None:
    """What waits is counted, with its age; all of it is written once PostgreSQL is back, and none is lost."""
    await migrations.apply(own_postgres.url)
    closings = made_closings(2 * CLOSINGS + 9)
    now = 100.0
    statistics = BarStatistics(lambda: now)
    async with open_database(own_postgres.url, statement_cache=0) as database:
        writer = writer_of(bus, database, statistics=statistics)
        await put(bus, closings[:3])
        await write_all(writer)
        own_postgres.kill()
        await put(bus, closings[: CLOSINGS + 9])
        assert 0 < await writer.step() < POLL_SECONDS
        now += 300
        await put(bus, closings[:-6])
        await writer.step()
        assert (statistics.waiting, statistics.lag, statistics.failures) == (2 * CLOSINGS, 300, 2)
        await asyncio.to_thread(own_postgres.start)
        await write_all(writer)
        await put(bus, closings)
        await step_while_frozen(writer, database, own_postgres)
        assert (statistics.waiting, statistics.failures) == (6, 3)
        await write_all(writer)
        assert await stored_rows(own_postgres.url) == rows_of(closings)
    assert (statistics.waiting, statistics.lost) == (0, 0)


async def step_while_frozen(writer: BarWriter, database: Database, server: Postgres) -> None:
    """Fails if a step waits for a frozen server for longer than its deadline."""
    deadline, database._deadline_seconds = database._deadline_seconds, 0.5
    server.freeze()
    try:
        async with asyncio.timeout(scaled(5)):
            await writer.step()
    finally:
        server.thaw()
        database._deadline_seconds = deadline


async def test_bars_that_leave_redis_unwritten_are_counted(
    bus: RedisBus, redis_url: str, database: Database, own_accounts_url: str
) -> None:
    """An outage that outlasts Redis' buffer loses the oldest minutes; the count says how many."""
    closings = made_closings(12)
    statistics = BarStatistics()
    writer = writer_of(bus, database, statistics=statistics)
    await put(bus, closings[:2])
    await write_all(writer)
    await put(bus, closings)
    await query_server(own_accounts_url, "ALTER TABLE bars_written RENAME TO hidden")
    await writer.step()
    with redis.Redis.from_url(redis_url) as client:
        client.xtrim(STREAM, maxlen=6, approximate=False)
    await writer.step()
    await query_server(own_accounts_url, "ALTER TABLE hidden RENAME TO bars_written")
    await write_all(writer)
    assert (statistics.lost, statistics.waiting) == (4, 0)
    assert await stored_rows(own_accounts_url) == rows_of([*closings[:2], *closings[6:]])


async def test_a_redis_that_lost_its_data_loses_and_repeats_no_bar(
    bus: RedisBus, redis_url: str, database: Database, own_accounts_url: str
) -> None:
    """The leader gives the newest closings back; those that are written stay as they are."""
    closings = made_closings(9)
    statistics = BarStatistics()
    writer = writer_of(bus, database, statistics=statistics)
    await put(bus, closings[:4])
    await write_all(writer)
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    await write_all(writer)
    await put(bus, closings)
    await write_all(writer)
    assert await stored_rows(own_accounts_url) == rows_of(closings)
    assert (statistics.lost, statistics.waiting) == (0, 0)


async def test_a_closing_that_nobody_can_read_holds_up_no_other(
    bus: RedisBus, redis_url: str, database: Database, own_accounts_url: str
) -> None:
    closings = made_closings(3)
    with redis.Redis.from_url(redis_url) as client:
        client.xadd(STREAM, {"epoch": "e", "seq": 1, "closing": b"\xc1"}, id=f"{FIRST - 60}-0")
        client.xadd(STREAM, {"other": "field"}, id=f"{FIRST - 30}-0")
    await put(bus, closings)
    await write_all(writer_of(bus, database))
    assert await stored_rows(own_accounts_url) == rows_of(closings)


async def test_bars_wait_for_the_migrations(bus: RedisBus, database_url: str) -> None:
    """An ingest may start before them: the log names the remedy once, and the bars are written afterwards."""
    closings = made_closings(3)
    await put(bus, closings)
    async with open_database(database_url, statement_cache=0) as database:
        writer = writer_of(bus, database)
        with capture_logs() as logs:
            for _ in range(3):
                await writer.step()
        warnings = [each for each in logs if each["log_level"] == "warning"]
        assert [each["event"] for each in warnings] == ["database is unavailable", "could not write bars"]
        assert "quotecast migrate" in warnings[0]["hint"]
        assert warnings[1]["minutes_waiting"] == 3
        await migrations.apply(database_url)
        await write_all(writer)
    assert await stored_rows(database_url) == rows_of(closings)


async def test_partitions_past_retention_are_dropped_and_readers_never_wait_long(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """A long transaction delays the drop, but the drop delays no other reader for more than a moment."""
    now = 0.0
    days = RETENTION | {"1m": 2}
    writer = writer_of(bus, database, days=days, clock=lambda: now)
    old, last = made_closing(FIRST // DAY * DAY), made_closing(FIRST // DAY * DAY + 3 * DAY)
    await put(bus, [old])
    await write_all(writer)
    await put(bus, [old, last])
    reader = await asyncpg.connect(own_accounts_url)
    async with reader.transaction():
        await reader.fetch("SELECT * FROM bars_1m")
        now += RETENTION_SECONDS
        await write_all(writer)
        assert await stored_rows(own_accounts_url) == rows_of([old, last])
    await reader.close()
    now += RETENTION_SECONDS
    await write_all(writer)
    assert await stored_rows(own_accounts_url) == rows_of([last])
    assert await stored_rows(own_accounts_url, "5m") == rows_of([old, last], "5m")
    names = await query_server(
        own_accounts_url,
        "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' AND relname LIKE 'bars_1m%'",
    )
    assert [row["relname"] for row in names] == ["bars_1m_20260312"]


async def test_a_closing_from_the_future_ages_no_bar(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """An ingest with a wrong clock deletes nothing: PostgreSQL's clock bounds the time of retention."""
    [row] = await query_server(own_accounts_url, "SELECT extract(epoch FROM now())::bigint / 60 * 60 AS now")
    closings = [made_closing(row["now"]), made_closing(row["now"] + 4000 * DAY)]
    await put(bus, closings)
    writer = writer_of(bus, database, days=dict.fromkeys(RETENTION, 1))
    await write_all(writer)
    writer._drop_at = 0.0
    await write_all(writer)
    assert await stored_rows(own_accounts_url) == rows_of(closings)


async def test_a_time_from_the_future_stops_no_later_writer(
    bus: RedisBus, redis_url: str, database: Database, own_accounts_url: str
) -> None:
    """After a run with a wrong clock, or a simulation that ran fast, the next run writes its bars."""
    [row] = await query_server(own_accounts_url, "SELECT extract(epoch FROM now())::bigint / 60 * 60 AS now")
    future, present = made_closings(2, row["now"] + DAY), made_closings(3, row["now"] - 180)
    await put(bus, future)
    await write_all(writer_of(bus, database))
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    await put(bus, present)
    await write_all(writer_of(bus, database))
    assert await stored_rows(own_accounts_url) == rows_of([*present, *future])


async def test_simulated_bars_never_mix_with_real_ones(
    bus: RedisBus, redis_url: str, database: Database, own_accounts_url: str
) -> None:
    """An operator who tried the simulator first gets the upstream's bars of the same minutes, too."""
    closings = made_closings(4)
    await put(bus, closings[:2])
    await write_all(writer_of(bus, database, market="simulator"))
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    await put(bus, closings)
    await write_all(writer_of(bus, database))
    expected = sorted([*rows_of(closings[:2], feed="stocks.simulator"), *rows_of(closings)])
    assert await stored_rows(own_accounts_url) == expected


async def test_other_feeds_write_at_the_same_time(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """They share partitions, and whichever comes first makes them."""
    closings = made_closings(CLOSINGS)
    for feed in Feed:
        await put(bus, closings, feed)
    await asyncio.gather(*(write_all(writer_of(bus, database, feed=feed)) for feed in Feed))
    expected = sorted(row for feed in Feed for row in rows_of(closings, feed=feed))
    assert await stored_rows(own_accounts_url) == expected
