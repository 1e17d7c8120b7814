"""The writer of bars on a real Redis and PostgreSQL: once each, in order, whatever dies in between."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from quotecast.bus.base import STORED_CLOSINGS
from quotecast.bus.redis import RedisBus
from quotecast.database.database import Database
from quotecast.history import storage
from quotecast.history.statistics import BarStatistics
from quotecast.history.writer import CLOSINGS, POLL_SECONDS
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS, Closing
from support.made.closings import (
    FIRST,
    made_closing,
    made_closings,
    put,
    rows_of,
    stored_rows,
    write_all,
    writer_of,
)
from support.oracles.transactions import open_database, query_server
from support.runs.waits import until_answered

HOUR = 3600


@pytest.fixture
async def bus(redis_url: str) -> AsyncIterator[RedisBus]:
    bus = RedisBus(redis_url, "test")
    yield bus
    await bus.close()


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url, statement_cache=0) as database:
        yield database


async def wait_for_lock(url: str, query: str = "") -> int:
    """Waits until a transaction of ours waits for a lock in such a statement; returns its process."""
    waiting = (
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'quotecast'"  # noqa: S608 - of this test
        f" AND datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '{query}%'"
    )
    rows = await until_answered(lambda: query_server(url, waiting))
    return int(rows[0]["pid"])


async def test_every_bar_is_written_once_to_its_table(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """All intervals, bit for bit; a feed without volume has none; later steps and writers add nothing."""
    first = FIRST // 86_400 * 86_400 + 86_400 - 40 * 60
    closings = [*made_closings(2 * CLOSINGS + 5, first), made_closing(first + 5 * HOUR, volume=None)]
    await put(bus, closings)
    statistics = BarStatistics()
    await write_all(writer_of(bus, database, statistics=statistics))
    await write_all(writer_of(bus, database))
    for interval in LIVE_INTERVALS:
        expected = rows_of(closings, interval)
        assert await stored_rows(own_accounts_url, interval) == expected
        assert statistics.written[interval] == len(expected) > 0
    assert (statistics.waiting, statistics.lost, statistics.failures) == (0, 0, 0)
    written = await query_server(own_accounts_url, "SELECT feed, through FROM bars_written")
    through = datetime.fromtimestamp(closings[-1].through, UTC)
    assert [tuple(row) for row in written] == [("stocks", through)]


async def test_bars_are_written_in_order_of_time(bus: RedisBus, database: Database) -> None:
    """A reader that sees a minute sees every earlier one, also while a backlog is written."""
    closings = made_closings(3 * CLOSINGS)
    await put(bus, closings)
    ends = [closing.through for closing in closings]
    assert await write_all(writer_of(bus, database)) == [*ends[CLOSINGS - 1 :: CLOSINGS], ends[-1]]


async def test_redis_forgets_what_is_written_but_for_the_newest(bus: RedisBus, database: Database) -> None:
    closings = made_closings(STORED_CLOSINGS + 7)
    await put(bus, closings)
    await write_all(writer_of(bus, database))
    assert await bus.closings_after(Feed.STOCKS, 0, 1000) == closings[7:]


async def test_two_writers_at_a_takeover_are_as_one(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    closings = made_closings(5 * CLOSINGS)
    await put(bus, closings)
    counts = [BarStatistics(), BarStatistics()]
    await asyncio.gather(*(write_all(writer_of(bus, database, statistics=each)) for each in counts))
    assert await stored_rows(own_accounts_url) == rows_of(closings)
    assert sum(each.written["1m"] for each in counts) == len(rows_of(closings))
    assert [(each.failures, each.lost, each.waiting) for each in counts] == [(0, 0, 0)] * 2


@contextlib.asynccontextmanager
async def held_before_copy(connection: Any, _: Closing) -> AsyncIterator[None]:
    async with connection.transaction():
        await connection.execute("SELECT * FROM bars_written FOR UPDATE")
        yield


@contextlib.asynccontextmanager
async def held_after_copy(connection: Any, following: Closing) -> AsyncIterator[None]:
    """Holds an uncommitted bar of the same key."""
    transaction = connection.transaction()
    await transaction.start()
    [row] = storage._rows(Feed.STOCKS, [Closing(0, {"1m": dict([*following.bars["1m"].items()][:1])}, {})])
    await connection.execute("INSERT INTO bars_1m VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)", *row[1:])
    yield
    await transaction.rollback()


@contextlib.asynccontextmanager
async def held_in_commit(connection: Any, _: Closing) -> AsyncIterator[None]:
    """Holds a lock that a deferred trigger waits for."""
    await connection.execute(
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER hold AFTER UPDATE ON bars_written"
        " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold()"
    )
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(1)")
        yield


@pytest.mark.parametrize(
    ("held", "statement"),
    [
        (held_before_copy, "INSERT INTO bars_written"),
        (held_after_copy, "INSERT INTO bars_1m"),
        (held_in_commit, "COMMIT"),
    ],
)
async def test_a_connection_that_is_cut_at_any_point_loses_and_repeats_nothing(
    bus: RedisBus,
    database: Database,
    own_accounts_url: str,
    held: Callable[..., contextlib.AbstractAsyncContextManager[None]],
    statement: str,
) -> None:
    """Nothing of the transaction is visible; the next try writes all of it."""
    closings = made_closings(8)
    await put(bus, closings[:1])
    statistics = BarStatistics()
    writer = writer_of(bus, database, statistics=statistics)
    await write_all(writer)
    await put(bus, closings)
    connection = await asyncpg.connect(own_accounts_url)
    async with held(connection, closings[1]):
        step = asyncio.create_task(writer.step())
        pid = await wait_for_lock(own_accounts_url, statement)
        await query_server(own_accounts_url, f"SELECT pg_terminate_backend({pid})")
        assert await step != POLL_SECONDS
        assert await stored_rows(own_accounts_url) == rows_of(closings[:1])
        assert (statistics.failures, statistics.waiting) == (1, 7)
    await connection.close()
    await write_all(writer)
    assert await stored_rows(own_accounts_url) == rows_of(closings)
    assert (statistics.written["1m"], statistics.waiting, statistics.lost) == (len(rows_of(closings)), 0, 0)


async def test_a_commit_whose_acknowledgement_is_lost_is_not_repeated(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    closings = made_closings(4)
    await put(bus, closings)
    writer = writer_of(bus, database)
    await write_all(writer)
    writer._through = closings[1].through
    await write_all(writer)
    assert writer._through == closings[-1].through
    assert await stored_rows(own_accounts_url) == rows_of(closings)


async def test_a_server_that_lost_its_last_transactions_gets_them_again(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """A replica that is promoted may lack them; Redis has the newest closings. Bars that are there stay."""
    closings = made_closings(CLOSINGS)
    await put(bus, closings[:-1])
    writer = writer_of(bus, database)
    await write_all(writer)
    reached, lacks = closings[3].through, closings[9].through
    await query_server(own_accounts_url, f"DELETE FROM bars_1m WHERE opened >= to_timestamp({lacks})")  # noqa: S608
    await query_server(own_accounts_url, f"UPDATE bars_written SET through = to_timestamp({reached})")  # noqa: S608
    await put(bus, closings)
    await write_all(writer)
    assert await stored_rows(own_accounts_url) == rows_of(closings)
