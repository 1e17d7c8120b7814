"""Requirements of a pooler in transaction mode, tested without a pooler."""

import asyncio
import struct
import tempfile
from pathlib import Path

import asyncpg
import pytest

from quotecast.api.worker import composition
from quotecast.database.database import Run
from quotecast.database.tables import User
from quotecast.errors import DatabaseAway
from support.oracles.transactions import open_database, raises_in_time, register_user

#: What PgBouncer takes at the start of a connection without being configured for it.
TAKEN = {"user", "database", "client_encoding", "application_name"}
WELCOME = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\x0018.0\0Z\0\0\0\x05I"


async def startup_parameters() -> dict[str, str]:
    """Returns the startup parameters that a client sends; the server then closes the connection."""
    heard: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length, _version = struct.unpack("!ii", await reader.readexactly(8))
        words = (await reader.readexactly(length - 8)).decode().rstrip("\0").split("\0")
        if not heard.done():
            heard.set_result(dict(zip(words[::2], words[1::2], strict=True)))
        writer.close()

    with tempfile.TemporaryDirectory() as folder:
        async with await asyncio.start_unix_server(hear, Path(folder) / ".s.PGSQL.5432"):
            async with open_database(f"postgresql://nobody@/nothing?host={folder}", pool_size=1) as database:
                with pytest.raises(DatabaseAway):
                    await database.transaction(register_user(1))
            return await heard


async def test_a_connection_begins_with_nothing_that_poolers_refuse() -> None:
    """Statement time-outs are not startup parameters: each transaction sets its own."""
    assert (await startup_parameters()).keys() <= TAKEN


async def test_a_transaction_leaves_no_setting_in_its_session(accounts_url: str) -> None:
    """The next transaction in the session may be another client's."""
    async with open_database(accounts_url, pool_size=1) as database:
        await database.transaction(register_user(1))
        async with database._pool.acquire() as connection:
            names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
            assert [await connection.fetchval(f"SHOW {name}") for name in names] == ["0"] * 3


@pytest.mark.parametrize(("cache", "prepared"), [(0, 0), (100, 3)])
async def test_statements_are_prepared_as_far_as_the_setting_allows(
    accounts_url: str, cache: int, prepared: int
) -> None:
    """Without a statement cache, no session holds a statement that another session lacks."""

    async def work(run: Run) -> int:
        await run(User.select().where(User.email == "a@example.com"))
        await run(User.select().where(User.id == "b"))
        return len(await run(User.raw("SELECT name FROM pg_prepared_statements")))

    async with open_database(accounts_url, pool_size=1, statement_cache=cache) as database:
        for _ in range(2):
            assert await database.transaction(work) == prepared


@pytest.mark.parametrize("state", ["26000", "42P05"])
async def test_a_statement_of_another_session_is_an_outage_that_names_the_setting(
    accounts_url: str, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """PostgreSQL answers so when a pooler changes sessions."""
    raising = f"DO $$ BEGIN RAISE EXCEPTION 'prepared' USING ERRCODE = '{state}'; END $$"
    async with open_database(accounts_url) as database:
        with pytest.raises(DatabaseAway):
            await database.transaction(lambda run: run(User.raw(raising)))
        assert database.measurements.errors == {"prepared_statement": 1}
    assert "QUOTECAST_DATABASE_STATEMENT_CACHE=0" in capsys.readouterr().out


async def test_a_deadline_opens_no_second_connection() -> None:
    """A cancel request opens another connection, and PgBouncer 1.18 crashes when that one breaks."""
    writers: list[asyncio.StreamWriter] = []

    async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.read(1000)
        writer.write(WELCOME)

    with tempfile.TemporaryDirectory() as folder:
        async with await asyncio.start_unix_server(welcome, Path(folder) / ".s.PGSQL.5432"):
            url = f"postgresql://nobody@/nothing?host={folder}"
            async with open_database(url, pool_size=1, deadline_seconds=0.2) as database:
                with raises_in_time():
                    await database.transaction(register_user(1))
                assert database.measurements.errors == {"timeout": 1}
            assert len(writers) == 1
            writers[0].close()


async def test_readiness_asks_the_server_behind_a_pooler() -> None:
    """PgBouncer accepts clients while PostgreSQL is down, and refuses their statements."""
    refusal = b"SFATAL\0C08P01\0Mserver login has been failing\0\0"

    async def welcome_and_refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(WELCOME)
        await reader.read(1000)
        writer.write(b"E" + struct.pack("!i", len(refusal) + 4) + refusal)
        writer.close()

    with tempfile.TemporaryDirectory() as folder:
        async with await asyncio.start_unix_server(welcome_and_refuse, Path(folder) / ".s.PGSQL.5432"):
            with pytest.raises(asyncpg.PostgresConnectionError):
                await composition.postgres_check(f"postgresql://nobody@/nothing?host={folder}")()
