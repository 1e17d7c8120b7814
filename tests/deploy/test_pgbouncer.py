"""Accounts, migrations and the doctor through PgBouncer in transaction mode, as docs/operating.md says."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest
import structlog

from quotecast.bus.redis import RedisBus
from quotecast.commands import doctor
from quotecast.database import migrations
from quotecast.database.database import DEADLINE_SECONDS, Run, _begin
from quotecast.database.tables import User
from quotecast.errors import DatabaseAway
from quotecast.history.writer import CLOSINGS
from quotecast.market.feeds import Feed
from quotecast.settings.model import Settings
from quotecast.users import users
from support.made.closings import made_closings, put, rows_of, stored_rows, write_all, writer_of
from support.oracles.transactions import (
    open_database,
    query_server,
    raises_in_time,
    register_user,
    visible_users,
)
from support.runs.deadlines import scaled
from support.servers.pgbouncer import DEBIAN, NEWER, PgBouncer, running_pgbouncer
from support.servers.processes import Postgres
from support.servers.reserved import port_number, reserve_port

pytestmark = pytest.mark.deploy

CACHE: Final = 100
#: Versions with the lines that they need: Debian's does not translate prepared statements.
VERSIONS: Final = [pytest.param((DEBIAN, 0), id="debian"), pytest.param((NEWER, CACHE), id="newer")]
#: Configurations without support of prepared statements.
UNPREPARED: Final = [
    pytest.param((DEBIAN, {}), id="debian"),
    pytest.param((NEWER, {"max_prepared_statements": "0"}), id="newer"),
]


@pytest.fixture
def pooled(request: pytest.FixtureRequest, own_postgres: Postgres) -> Iterator[tuple[PgBouncer, int]]:
    """Yields a PgBouncer, and the size of the statement cache that it allows."""
    program, cache = request.param
    with running_pgbouncer(own_postgres, program) as pooler:
        yield pooler, cache


@pytest.fixture
def unprepared(request: pytest.FixtureRequest, own_postgres: Postgres) -> Iterator[PgBouncer]:
    program, settings = request.param
    with running_pgbouncer(own_postgres, program, settings) as pooler:
        yield pooler


async def run_together(databases: list[Any], query: str) -> None:
    """Runs a transaction of each at the same time, so that each has its own connection to PostgreSQL."""
    meeting = asyncio.Barrier(len(databases))

    async def work(run: Run) -> None:
        await run(User.raw(query))
        await meeting.wait()

    async with asyncio.timeout(scaled(10)):
        await asyncio.gather(*(database.transaction(work) for database in databases))


def migrate(url: str, *options: str) -> str:
    """Returns the output of `quotecast migrate`, in a process of its own with common statement names."""
    command = [sys.executable, "-m", "quotecast", "migrate", *options]
    environment = {**os.environ, "QUOTECAST_DATABASE_URL": url}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("pooled", VERSIONS, indirect=True)
def test_migrations_go_through(pooled: tuple[PgBouncer, int]) -> None:
    """Repeated and concurrent migrations succeed on server connections that other clients have used."""
    pooler, _ = pooled
    with ThreadPoolExecutor(3) as pool:
        output = list(pool.map(migrate, [pooler.url] * 3))
    assert sorted(each.split(":")[0] for each in output) == ["Nothing to be applied.\n"] * 2 + ["applied"]
    assert migrate(pooler.url).startswith("Nothing")
    assert migrate(pooler.url, "--undo").startswith("undone")
    assert migrate(pooler.url).startswith("applied")


@pytest.mark.parametrize("pooled", VERSIONS, indirect=True)
async def test_transactions_go_through(pooled: tuple[PgBouncer, int]) -> None:
    """Transactions of two workers succeed on any server connection, in turn and at once."""
    pooler, cache = pooled
    await migrations.apply(pooler.url)
    async with (
        open_database(pooler.url, statement_cache=cache) as one,
        open_database(pooler.url, statement_cache=cache) as other,
    ):
        for number in range(0, 40, 2):
            await one.transaction(register_user(number))
            await asyncio.gather(
                run_together([one, other], "SELECT 1"), other.transaction(register_user(number + 1))
            )
            assert await one.transaction(partial(users.find, email=f"{number}@example.com"))
    assert await visible_users(pooler.url) == list(range(40))


@pytest.mark.parametrize("pooled", VERSIONS, indirect=True)
async def test_a_statement_ends_in_time(pooled: tuple[PgBouncer, int]) -> None:
    """PostgreSQL ends a statement at its time-out, which applies to no other client."""
    pooler, cache = pooled
    async with open_database(pooler.url, statement_cache=cache, deadline_seconds=30) as database:
        database._begin = _begin(DEADLINE_SECONDS)  # the server's time-outs, without the client's
        began = time.monotonic()
        with pytest.raises(DatabaseAway) as raised:
            await database.transaction(statement_work("SELECT pg_sleep(30)"))
        assert isinstance(raised.value.__cause__, asyncpg.QueryCanceledError)
        assert time.monotonic() - began < scaled(2)
    [row] = await query_server(pooler.url, "SELECT current_setting('statement_timeout') AS bound")
    assert row["bound"] == "0"


@pytest.mark.parametrize("pooled", VERSIONS, indirect=True)
async def test_a_statement_ends_in_time_though_its_worker_is_gone(
    pooled: tuple[PgBouncer, int], own_postgres: Postgres
) -> None:
    """PostgreSQL ends the statement of a dead worker and frees its session."""
    pooler, cache = pooled
    async with open_database(pooler.url, statement_cache=cache, deadline_seconds=30) as database:
        database._begin = _begin(5)  # the server's time-outs, without the client's
        working = asyncio.create_task(database.transaction(statement_work("SELECT pg_sleep(30)")))
        await sleeping(own_postgres.url, 1, within=5)
        database._pool.terminate()
        await asyncio.gather(working, return_exceptions=True)
    await sleeping(own_postgres.url, 0, within=6)


def statement_work(query: str) -> Callable[[Run], Awaitable[Any]]:
    """Returns work that is one statement."""
    return lambda run: run(User.raw(query))


async def sleeping(url: str, count: int, *, within: float) -> None:
    """Waits until that many sessions sleep in a statement."""
    query = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    async with asyncio.timeout(scaled(within)):
        while True:
            if len(await query_server(url, query)) == count:
                return
            # The server cannot notify us.
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("unprepared", UNPREPARED, indirect=True)
async def test_accounts_are_away_without_the_setting_that_the_log_names(
    unprepared: PgBouncer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the setting account routes answer 503, and the log names the setting."""
    await migrations.apply(unprepared.url)
    async with open_database(unprepared.url) as one, open_database(unprepared.url) as other:
        await one.transaction(statement_work("SELECT 1"))

        async def meanwhile(_: Run) -> None:
            await one.transaction(statement_work("SELECT 1"))

        with raises_in_time():
            await other.transaction(meanwhile)
    assert "QUOTECAST_DATABASE_STATEMENT_CACHE=0" in capsys.readouterr().out


def run_doctor(pooler_url: str, folder: Path, cache: int) -> int:
    """Returns the doctor's exit code."""
    with reserve_port() as held:
        settings = Settings(
            data_dir=folder,
            port=port_number(held),
            database_url=pooler_url,
            database_statement_cache=cache,
        )
        try:
            return doctor.examine(settings)
        finally:
            structlog.reset_defaults()


@pytest.mark.parametrize("pooled", VERSIONS, indirect=True)
def test_the_doctor_accepts_a_working_configuration(
    pooled: tuple[PgBouncer, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The doctor accepts a working configuration, every time."""
    pooler, cache = pooled
    for _ in range(3):
        assert run_doctor(pooler.url, tmp_path, cache) == 0, capsys.readouterr().out
    assert "ok      postgres: PostgreSQL 18" in capsys.readouterr().out


@pytest.mark.parametrize("unprepared", UNPREPARED, indirect=True)
def test_the_doctor_names_the_setting_that_is_missing(
    unprepared: PgBouncer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The doctor names the missing setting, and accepts the configuration with it."""
    for _ in range(2):
        assert run_doctor(unprepared.url, tmp_path, CACHE) == 1
        output, logged = capsys.readouterr()
        assert "FAILS   postgres: " in output
        assert "QUOTECAST_DATABASE_STATEMENT_CACHE=0" in output
        assert "database is unavailable" not in output + logged
    assert run_doctor(unprepared.url, tmp_path, 0) == 0


@pytest.mark.parametrize(
    ("setting", "advice"),
    [
        (("pool_mode", "statement"), "pool_mode = transaction"),
        (("default_pool_size", "1"), "default_pool_size"),
        (("max_client_conn", "1"), "max_client_conn"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else None,
)
def test_the_doctor_names_missing_lines_of_pgbouncer(
    own_postgres: Postgres,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    setting: tuple[str, str],
    advice: str,
) -> None:
    """The doctor names each missing line of PgBouncer's configuration with its remedy."""
    with running_pgbouncer(own_postgres, DEBIAN, dict([setting])) as pooler:
        assert run_doctor(pooler.url, tmp_path, 0) == 1
    assert advice in capsys.readouterr().out


def test_the_doctor_names_an_option_that_pgbouncer_refuses(
    own_postgres: Postgres, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The doctor names an option of the URL that PgBouncer rejects."""
    with running_pgbouncer(own_postgres) as pooler:
        assert run_doctor(f"{pooler.url}&statement_timeout=1000", tmp_path, 0) == 1
    assert "ignore_startup_parameters" in capsys.readouterr().out


@pytest.mark.parametrize("pooled", VERSIONS, indirect=True)
async def test_bars_are_written_through_a_pooler(pooled: tuple[PgBouncer, int], redis_url: str) -> None:
    """Each transaction has its temporary table on the session that it gets; no setting is needed."""
    pooler, _ = pooled
    await migrations.apply(pooler.url)
    bus, closings = RedisBus(redis_url, "test"), made_closings(3 * CLOSINGS)
    for feed in Feed:
        await put(bus, closings, feed)
    async with open_database(pooler.url, pool_size=3, statement_cache=0) as database:
        await asyncio.gather(*(write_all(writer_of(bus, database, feed=feed)) for feed in Feed))
    await bus.close()
    expected = sorted(row for feed in Feed for row in rows_of(closings, feed=feed))
    assert await stored_rows(pooler.url) == expected
