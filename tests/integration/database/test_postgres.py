"""The embedded PostgreSQL and the migrations, on the real server."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
from piccolo.table import Table

from quotecast.database import migration_files, migrations
from quotecast.database import tables as declared
from quotecast.local import postgres, probes
from support.servers.processes import Postgres, running_postgres
from support.servers.users_command import command

MIGRATIONS = [
    "2026-11-26T20:00:00:000000",
    "2026-11-28T08:00:00:000000",
    "2026-11-28T12:00:00:000000",
    "2026-11-28T16:00:00:000000",
    "2026-11-28T18:00:00:000000",
]
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
    made = await tables(connection)
    assert await migrations.apply(database_url) == []
    for name in reversed(MIGRATIONS):
        assert await migrations.undo(database_url) == [name]
    assert await tables(connection) == ["migration"]
    assert await migrations.undo(database_url) == []
    assert await migrations.apply(database_url) == MIGRATIONS
    assert await tables(connection) == made


async def test_a_database_with_the_migrations_before_the_first_has_them_all(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """The first migration replaces them: it has the name of the last of them."""
    await migrations.apply(database_url)
    await connection.execute(
        "INSERT INTO migration (name, app_name, ran_on)"
        " VALUES ('2026-11-21T09:00:00:000000', 'accounts', now())"
    )
    await insert(connection)
    assert not await migration_files.are_applied(database_url)
    assert await migrations.apply(database_url) == []
    assert await migration_files.are_applied(database_url)
    assert await connection.fetchval("SELECT count(*) FROM users") == 1


async def undone(database_url: str, *options: str) -> tuple[int | None, str]:
    """Runs `quotecast migrate --undo` in production; returns its exit code and error output."""
    code, _, said = await command(
        *("--undo", *options),
        of="migrate",
        mode="production",
        database_url=database_url,
        redis_url="redis://127.0.0.1:1",
    )
    return code, said


async def test_in_production_what_is_lost_has_to_be_named(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """The database stays unchanged; the error names the loss, without partitions, and the command for it."""
    await migrations.apply(database_url)
    newest = await undone(database_url, "--losing", "known_bars")
    assert newest == (0, f"undone: {MIGRATIONS[-1]}\n")
    for name in reversed(MIGRATIONS[1:-1]):
        assert await migrations.undo(database_url) == [name]
    made = await tables(connection)
    lost = [table for table in made if table != "migration"]
    partition = "bars_1m_20261122"
    await connection.execute(
        f"CREATE TABLE {partition} PARTITION OF bars_1m FOR VALUES FROM ('2026-11-22') TO ('2026-11-23')"
    )
    for options in ([], ["--losing", "bars_1m"], ["--losing", "users"]):
        code, said = await undone(database_url, *options)
        assert code == 1
        assert f"would delete {', '.join(lost)} with all data" in said
        assert f"quotecast migrate --undo --losing {','.join(lost)}" in said
        assert await tables(connection) == sorted([partition, *made])
    assert await undone(database_url, "--losing", ",".join(lost)) == (0, f"undone: {MIGRATIONS[0]}\n")
    assert await tables(connection) == ["migration"]


async def test_a_column_that_is_lost_is_named_with_its_table() -> None:
    """The name of a deleted table covers its columns."""
    before = {("users", "id"), ("users", "email"), ("notes", "id"), ("notes", "text")}
    assert migrations._missing_after(before, {("users", "id")}) == ["notes", "users.email"]


async def test_many_that_migrate_at_once_are_as_one(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """All runs succeed, and one of them does the work."""
    runs = [command(of="migrate", database_url=database_url) for _ in range(3)]
    ended = await asyncio.gather(*runs)
    said = [errors for _, _, errors in ended]
    assert [code for code, _, _ in ended] == [0, 0, 0], said
    assert sorted(said) == ["Nothing to be applied.\n"] * 2 + [f"applied: {', '.join(MIGRATIONS)}\n"]
    assert "users" in await tables(connection)


async def test_a_migration_that_fails_leaves_no_trace(
    database_url: str, connection: asyncpg.Connection
) -> None:
    """The failed run leaves not even Piccolo's own table behind."""
    await connection.execute("CREATE TABLE users (id int)")
    with pytest.raises(migrations.MigrationFailed, match='relation "users" already exists'):
        await migrations.apply(database_url)
    assert await tables(connection) == ["users"]


async def columns(connection: asyncpg.Connection, schema: str) -> set[tuple[object, ...]]:
    rows = await connection.fetch(
        "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable"
        " FROM information_schema.columns WHERE table_schema = $1",
        schema,
    )
    return {tuple(row) for row in rows}


async def test_tables_and_migrations_agree(database_url: str, connection: asyncpg.Connection) -> None:
    """The migrations make the declared columns, of the declared types."""
    await migrations.apply(database_url)
    await connection.execute("CREATE SCHEMA declared; SET search_path TO declared")
    for table in vars(declared).values():
        if isinstance(table, type) and issubclass(table, Table) and table is not Table:
            await connection.execute(";".join(table.create_table().ddl))
    found, wanted = await columns(connection, "public"), await columns(connection, "declared")
    assert len({name for name, *_ in wanted}) == 18
    assert wanted - found == set()
    assert {row for row in found if row[0] in {name for name, *_ in wanted}} == wanted


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
