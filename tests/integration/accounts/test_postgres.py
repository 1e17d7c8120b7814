"""The embedded PostgreSQL and the migrations, on the real server."""

import asyncio
import contextlib
import io
import itertools
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
from piccolo.apps.migrations.commands.new import AutoMigrationManager

from quotecast.database import migration_files, migrations
from quotecast.database.piccolo_app import APP_CONFIG
from quotecast.local import postgres, probes
from support.servers.processes import Postgres, running_postgres

BARS = ["bars_15m", "bars_1h", "bars_1m", "bars_5m", "bars_d", "bars_written"]
#: The migrations, and the tables that each makes.
MADE = {
    "2026-11-21T09:00:00:000000": ["users"],
    "2026-11-21T10:00:00:000000": ["holdings", "idempotency_keys", "layouts", "watchlist"],
    "2026-11-22T12:00:00:000000": BARS,
    "2026-11-22T13:00:00:000000": [
        *("alert_changes", "alert_crossings_written", "alert_deliveries", "alert_events", "alerts"),
        *("push_subscriptions", "webhooks"),
    ],
    "2026-11-22T14:00:00:000000": ["listed_symbols", "watchlists"],
    "2026-11-22T15:00:00:000000": ["sessions"],
    "2026-11-23T12:00:00:000000": ["api_keys", "key_changes", "plans"],
    "2026-11-23T13:00:00:000000": ["api_key_usage", "api_key_usage_batches"],
    "2026-11-23T14:00:00:000000": ["operator_actions", "operator_sessions", "operators"],
    "2026-11-23T20:00:00:000000": [],
    "2026-11-26T20:00:00:000000": [],
}
MIGRATIONS = [*MADE]
USER = {
    "id": "5f3a9c0e1b2d4f6a8c0e1b2d",
    "name": "Ayşe",
    "email": "ayse@example.com",
    "password_hash": "$argon2id$",
}


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def tables(connection: asyncpg.Connection) -> list[str]:
    rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    return [row["tablename"] for row in rows]


def tables_after(done: list[str]) -> list[str]:
    return sorted(["migration", *itertools.chain.from_iterable(MADE[migration] for migration in done)])


async def insert(connection: asyncpg.Connection, **values: object) -> None:
    row = {**USER, **values}
    places = ", ".join(f"${number}" for number in range(1, len(row) + 1))
    await connection.execute(f"INSERT INTO users ({', '.join(row)}) VALUES ({places})", *row.values())  # noqa: S608 - the columns above


async def test_a_start_knows_without_piccolo_whether_there_is_anything_to_migrate(database_url: str) -> None:
    """An empty database lacks migrations, and so does one whose newest migration was undone."""
    assert migration_files.migration_names() == {*MIGRATIONS}
    seen = [await migration_files.are_applied(database_url)]
    await migrations.apply(database_url)
    seen.append(await migration_files.are_applied(database_url))
    await migrations.undo(database_url)
    seen.append(await migration_files.are_applied(database_url))
    assert seen == [False, True, False]


async def test_migrations_go_forwards_and_backwards(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """Each step prints its result; a step with nothing to do is not an error."""
    assert await migrations.apply(database_url) == MIGRATIONS
    assert await tables(connection) == tables_after(MIGRATIONS)
    assert await migrations.apply(database_url) == []
    for count, migration in reversed([*enumerate(MIGRATIONS)]):
        assert await migrations.undo(database_url) == [migration]
        assert await tables(connection) == tables_after(MIGRATIONS[:count])
    assert await migrations.undo(database_url) == []
    assert await migrations.apply(database_url) == MIGRATIONS


async def with_users_of_former_release(
    database_url: str, connection: asyncpg.Connection, *emails: str
) -> None:
    await migrations.apply(database_url)
    await migrations.undo(database_url)
    for number, email in enumerate(emails):
        await insert(connection, id=f"{number:024x}", email=email)


async def test_emails_of_former_releases_get_a_domain_in_unicode(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """Log-in and operators' commands look for that form; labels that are no Punycode stay."""
    emails = "x@xn--mnchen-3ya.example", "y@xn--99999999.example", "xn--z@example.com", "x@other.example"
    await with_users_of_former_release(database_url, connection, *emails)
    assert await migrations.apply(database_url) == MIGRATIONS[-1:]
    rows = await connection.fetch("SELECT email FROM users ORDER BY id")
    assert [row["email"] for row in rows] == ["x@münchen.example", *emails[1:]]


async def test_users_with_both_forms_of_an_email_stop_the_migration(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """One of them would be out of reach; the error names both, and nothing changes."""
    emails = ("x@münchen.example", "x@xn--mnchen-3ya.example", "y@xn--mnchen-3ya.example")
    await with_users_of_former_release(database_url, connection, *emails)
    with pytest.raises(migrations.MigrationFailed, match=r"x@xn--mnchen-3ya\.example \(id 0{23}1\).*0{24}\)"):
        await migrations.apply(database_url)
    rows = await connection.fetch("SELECT email FROM users ORDER BY id")
    assert [row["email"] for row in rows] == [*emails]


async def undone(database_url: str, *options: str) -> tuple[int | None, str]:
    """Runs `quotecast migrate --undo` in production; returns its exit code and error output."""
    production = {
        "QUOTECAST_MODE": "production",
        "QUOTECAST_DATABASE_URL": database_url,
        "QUOTECAST_REDIS_URL": "redis://127.0.0.1:1",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "quotecast", "migrate", "--undo", *options),
        env={**os.environ, **production},
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    return process.returncode, said.decode()


@pytest.mark.parametrize("options", [[], ["--losing", "bars_1m"], ["--losing", "users"]])
async def test_in_production_what_is_lost_has_to_be_named(
    database_url: str, connection: asyncpg.Connection, options: list[str]
) -> None:
    """The database stays unchanged; the error names the loss, without partitions, and the command for it."""
    await migrations.apply(database_url)
    third = MIGRATIONS[2]
    while (await migrations.undo(database_url)) != [MIGRATIONS[3]]:
        pass
    partition = "bars_1m_20261122"
    await connection.execute(
        f"CREATE TABLE {partition} PARTITION OF bars_1m FOR VALUES FROM ('2026-11-22') TO ('2026-11-23')"
    )
    code, said = await undone(database_url, *options)
    assert code == 1
    assert f"would delete {', '.join(BARS)} with all data" in said
    assert f"quotecast migrate --undo --losing {','.join(BARS)}" in said
    assert await tables(connection) == sorted([partition, *tables_after(MIGRATIONS[:3])])
    assert await undone(database_url, "--losing", ",".join(BARS)) == (0, f"undone: {third}\n")
    assert await tables(connection) == tables_after(MIGRATIONS[:2])


async def test_a_column_that_is_lost_is_named_with_its_table() -> None:
    """The name of a deleted table covers its columns."""
    before = {("users", "id"), ("users", "email"), ("notes", "id"), ("notes", "text")}
    assert migrations._missing_after(before, {("users", "id")}) == ["notes", "users.email"]


async def test_many_that_migrate_at_once_are_as_one(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """All runs succeed, and one of them does the work."""
    environment = {**os.environ, "QUOTECAST_DATABASE_URL": database_url}
    processes = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "quotecast", "migrate"),
            env=environment,
            stderr=asyncio.subprocess.PIPE,
        )
        for _ in range(3)
    ]
    said = [(await process.communicate())[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], said
    assert sorted(said) == ["Nothing to be applied.\n"] * 2 + [f"applied: {', '.join(MIGRATIONS)}\n"]
    assert await tables(connection) == tables_after(MIGRATIONS)


async def test_a_migration_that_fails_leaves_no_trace(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """The failed run leaves not even Piccolo's own table behind."""
    await connection.execute("CREATE TABLE users (id int)")
    with pytest.raises(migrations.MigrationFailed, match='relation "users" already exists'):
        await migrations.apply(database_url)
    assert await tables(connection) == ["users"]


async def test_tables_and_migrations_agree() -> None:
    """The migrations build exactly the declared tables: Piccolo finds no difference."""
    with contextlib.redirect_stdout(io.StringIO()):
        statements = await AutoMigrationManager().get_alter_statements(APP_CONFIG)
    assert [line for each in statements for line in each.statements] == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", "5F3A9C0E1B2D4F6A8C0E1B2D"),
        ("id", "5f3a"),
        ("name", ""),
        ("name", " Ayşe"),
        ("email", "Ayse@example.com"),
        ("email", ""),
        ("token_version", -1),
    ],
)
async def test_the_database_itself_refuses_a_wrong_row(
    database_url: str, connection: asyncpg.Connection, column: str, value: object
) -> None:
    """The database itself enforces the rules."""
    await migrations.apply(database_url)
    with pytest.raises(asyncpg.CheckViolationError):
        await insert(connection, **{column: value})


async def test_a_user_has_defaults_and_an_email_of_their_own(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """A new user is enabled, at token version 0, created now; an email is unique."""
    await migrations.apply(database_url)
    await insert(connection)
    row = await connection.fetchrow("SELECT token_version, disabled, created_at <= now() AS past FROM users")
    assert row
    assert tuple(row) == (0, False, True)
    with pytest.raises(asyncpg.UniqueViolationError):
        await insert(connection, id="0" * 24)
    with pytest.raises(asyncpg.NotNullViolationError):
        await insert(connection, id="1" * 24, email=None)


@pytest.fixture
def durable_postgres() -> Iterator[Postgres]:
    """Yields a PostgreSQL with the options of `up`."""
    with running_postgres(durable=True) as server:
        yield server


async def test_a_commit_survives_a_crash(durable_postgres: Postgres) -> None:
    """The embedded server is durable: it recovers committed data."""
    connection = await asyncpg.connect(durable_postgres.url)
    await connection.execute("CREATE TABLE durable AS SELECT 42 AS answer")
    await asyncio.to_thread(durable_postgres.kill)
    await asyncio.to_thread(durable_postgres.start)
    connection = await asyncpg.connect(durable_postgres.url)
    assert await connection.fetchval("SELECT answer FROM durable") == 42
    assert await connection.fetchval("SHOW fsync") == "on"
    await connection.close()


async def test_the_server_is_reached_through_its_socket_alone(own_postgres: Postgres) -> None:
    """The server has no network address, and only its owner can enter the socket's folder."""
    connection = await asyncpg.connect(own_postgres.url)
    assert await connection.fetchval("SHOW listen_addresses") == ""
    assert await connection.fetchval("SHOW unix_socket_permissions") == "0700"
    await connection.close()


async def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    """Neither a failed connection nor an unreadable URL shows its password."""
    for url in ("postgresql://user:hidden@127.0.0.1:1/x", "postgresql://user:hidden@127.0.0.1:port/x"):
        with pytest.raises(probes.NoAnswer, match=r"^PostgreSQL at 127\.0\.0\.1:(1|port) does not") as caught:
            await probes.postgres(url)
        assert "hidden" not in str(caught.value)


def test_a_url_escapes_any_folder() -> None:
    """The URL escapes blanks and other characters of a path."""
    url = postgres.url(Path("/srv/Gümüş & Çeyrek"), "test")
    assert url == "postgresql://quotecast@/test?host=%2Fsrv%2FG%C3%BCm%C3%BC%C5%9F+%26+%C3%87eyrek&port=5432"
