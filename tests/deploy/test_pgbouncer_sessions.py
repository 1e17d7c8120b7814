"""Nothing here needs a session of PostgreSQL of its own: PgBouncer gives each transaction any of them."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from quotecast.alerts.writer import POLL_SECONDS, CrossingWriter
from quotecast.bus.redis import RedisBus
from quotecast.database import migrations
from quotecast.market.crossings import Crossing
from quotecast.market.feeds import Feed
from support.made.closings import made_closings, put, write_all, writer_of
from support.oracles.transactions import open_database, query_server, register_user, visible_users
from support.runs.deadlines import scaled
from support.servers.pgbouncer import DEBIAN, NEWER, PgBouncer, running_pgbouncer
from support.servers.processes import Postgres
from support.stages.alert_store import AlertRow
from support.stages.alerts_stored import put_alerts, put_crossings, stored_events

pytestmark = pytest.mark.deploy

#: Versions of PgBouncer with statement caches of the service, off and on.
POOLERS: Final = [
    pytest.param((DEBIAN, 0), id="debian"),
    pytest.param((NEWER, 0), id="newer, cache off"),
    pytest.param((NEWER, 100), id="newer, cache on"),
]
#: What lasts longer than a transaction, by the statement that asks for it.
SESSION: Final = re.compile(
    r"\b(LISTEN|UNLISTEN|NOTIFY) |pg_notify|pg_(try_)?advisory_lock|\bPREPARE |WITH HOLD|add_listener"
    r"|\bSET (SESSION|ROLE|search_path|statement_timeout|lock_timeout|TIME ZONE)"
    r"|set_config\([^)]*false\)|TEMP(ORARY)? TABLE(?!.*ON COMMIT DROP)"
)
FIRST: Final = 1_763_722_800_000


@pytest.fixture(params=POOLERS)
def pooled(request: pytest.FixtureRequest, own_postgres: Postgres) -> Iterator[tuple[PgBouncer, int]]:
    """Yields a PgBouncer, and the size of the service's statement cache."""
    program, cache = request.param
    with running_pgbouncer(own_postgres, program) as pooler:
        yield pooler, cache


async def use_everything(pooler: PgBouncer, own: Postgres, cache: int, redis_url: str) -> None:
    """Migrates, registers users, writes bars and events of alerts, all at once, on two databases."""
    await asyncio.gather(*(migrations.apply(pooler.url) for _ in range(2)))
    bus = RedisBus(redis_url, "test")
    alert = AlertRow("7", Feed.STOCKS, "AAPL", "price", "up", 100.0, FIRST / 1000, repeats=True)
    crossings = [
        Crossing(FIRST + number, 0, "AAPL", "price", 99.5, 100.0, 100.0, FIRST / 1000 + number)
        for number in range(20)
    ]
    async with (
        open_database(pooler.url, statement_cache=cache) as accounts,
        open_database(pooler.url, pool_size=3, statement_cache=0) as writers,
    ):
        await put_alerts(own.url, accounts, [alert])
        await put(bus, made_closings(3), Feed.CRYPTO)
        await put_crossings(bus, crossings)
        await asyncio.gather(
            write_all(writer_of(bus, writers, feed=Feed.CRYPTO)),
            write_events(CrossingWriter(Feed.STOCKS, bus, writers)),
            *(accounts.transaction(register_user(number)) for number in range(2, 42)),
        )
    await bus.close()


async def write_events(writer: CrossingWriter) -> None:
    async with asyncio.timeout(scaled(20)):
        while await writer.step() != POLL_SECONDS:
            pass


async def test_nothing_of_a_session_is_left(
    pooled: tuple[PgBouncer, int], own_postgres: Postgres, redis_url: str
) -> None:
    """All of it is stored, and sessions keep no lock, setting, temporary table, cursor or subscription."""
    pooler, cache = pooled
    await use_everything(pooler, own_postgres, cache, redis_url)
    assert await visible_users(pooler.url) == list(range(1, 42))
    assert len(await stored_events(pooler.url)) == 20
    server = own_postgres.url
    assert await query_server(server, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'") == []
    assert await query_server(server, "SELECT 1 FROM pg_class WHERE relpersistence = 't'") == []
    for session in await sessions_of(pooler):
        assert session == ("0", "0", "0", 0, 0)


async def sessions_of(pooler: PgBouncer) -> set[tuple[Any, ...]]:
    """Returns what the sessions behind the pooler have set; transactions at once see different ones."""
    query = (
        "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),"
        " current_setting('idle_in_transaction_session_timeout'), (SELECT count(*) FROM pg_cursors"
        " WHERE is_holdable), (SELECT count(*) FROM pg_listening_channels()), pg_backend_pid()"
    )
    meeting = asyncio.Barrier(4)

    async def look() -> tuple[Any, ...]:
        connection = await asyncpg.connect(pooler.url, statement_cache_size=0)
        try:
            async with connection.transaction():
                row = await connection.fetchrow(query)
                await meeting.wait()
        finally:
            await connection.close()
        assert row
        return tuple(row)

    async with asyncio.timeout(scaled(20)):
        rows = await asyncio.gather(*(look() for _ in range(meeting.parties)))
    assert len({row[-1] for row in rows}) == meeting.parties
    return {row[:-1] for row in rows}


def test_no_statement_lasts_longer_than_its_transaction() -> None:
    """The sources set with SET LOCAL, lock with pg_advisory_xact_lock, and listen to Redis alone."""
    sources = Path(__file__).parents[2] / "src" / "quotecast"
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(sources.rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if SESSION.search(line)
    ]
    assert found == []
    for statement in ("LISTEN events", "SELECT pg_advisory_lock(1)", "SET statement_timeout = 1"):
        assert SESSION.search(statement)
