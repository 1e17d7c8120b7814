"""Transactions while PostgreSQL is dead, frozen, changed or missing."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quotecast.database import migrations
from quotecast.database.database import DEADLINE_SECONDS, Run
from quotecast.database.tables import User
from quotecast.errors import DatabaseAway
from quotecast.users import users
from support.oracles.transactions import (
    PROMISED_SECONDS,
    check_pool,
    open_database,
    query_server,
    raises_in_time,
    register_user,
    until_idle,
    until_sessions,
    visible_users,
    wait_for_recovery,
)
from support.runs.deadlines import scaled
from support.servers.processes import Postgres

pytestmark = pytest.mark.slow


@pytest.fixture
async def own_url(own_postgres: Postgres) -> str:
    """Gives a migrated database on a server of the test's own."""
    await migrations.apply(own_postgres.url)
    return own_postgres.url


async def test_it_opens_without_a_server() -> None:
    """The pool opens without a server; each transaction fails by itself."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_database(
            f"postgresql://nobody@/nothing?host={folder}", deadline_seconds=DEADLINE_SECONDS
        ) as database:
            for _ in range(3):
                with raises_in_time():
                    await database.transaction(register_user(1))


class Stranger(asyncio.Protocol):
    """Answers a client's first message with fixed bytes, then nothing; None closes the connection."""

    def __init__(self, answer: bytes | None, connected: list[asyncio.BaseTransport]) -> None:
        self._answer = answer
        self._connected = connected

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connected.append(transport)

    def data_received(self, _: bytes) -> None:
        if self._answer is None:
            self._transport.abort()
        else:
            self._transport.write(self._answer)
            self._answer = b""


@contextlib.asynccontextmanager
async def stranger(answer: bytes | None) -> AsyncIterator[str]:
    """Gives the URL of a server that is not PostgreSQL, or a broken one."""
    connected: list[asyncio.BaseTransport] = []
    with tempfile.TemporaryDirectory() as folder:
        server = await asyncio.get_running_loop().create_unix_server(
            lambda: Stranger(answer, connected), Path(folder) / ".s.PGSQL.5432"
        )
        async with server:
            yield f"postgresql://nobody@/nothing?host={folder}"
            for transport in connected:
                transport.close()


WELCOME = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\x0018.0\0Z\0\0\0\x05I"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(None, id="hangs-up"),
        pytest.param(b"", id="says-nothing"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", id="speaks-http"),
        pytest.param(WELCOME[:5], id="half-a-welcome"),
        pytest.param(b"R\0\0\0\x08\0\0\0\x63", id="unknown-authentication"),
        pytest.param(b"R\0\0\0\x01", id="impossible-length"),
        pytest.param(b"?\0\0\0\x04", id="unknown-message"),
        pytest.param(WELCOME, id="welcomes-and-answers-nothing"),
        pytest.param(WELCOME + b"?\0\0\0\x04", id="unknown-message-later"),
        pytest.param(WELCOME + b"D\0\0\0\x06\0\x01", id="a-row-nobody-asked-for"),
        pytest.param(b"\xff" * 4096, id="noise"),
    ],
)
async def test_a_server_that_speaks_something_else_is_away(answer: bytes | None) -> None:
    """Every error of the driver means an outage."""
    async with stranger(answer) as url, open_database(url, pool_size=1, deadline_seconds=0.2) as database:
        for _ in range(2):
            with raises_in_time():
                await database.transaction(register_user(1))


async def test_a_server_that_takes_no_writes_is_away(own_accounts_url: str) -> None:
    """A replica before its promotion still serves reads."""
    async with open_database(own_accounts_url, deadline_seconds=DEADLINE_SECONDS) as database:
        name = own_accounts_url.partition("?")[0].rpartition("/")[2]
        await query_server(own_accounts_url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        with raises_in_time():
            await database.transaction(register_user(1))
        assert await database.transaction(lambda run: users.find(run, email="1@example.com")) is None


async def test_connections_to_a_server_that_takes_no_writes_are_not_used_again(own_accounts_url: str) -> None:
    """Their address may be that of the new primary by now."""
    async with open_database(own_accounts_url, pool_size=1, deadline_seconds=DEADLINE_SECONDS) as database:
        name = own_accounts_url.partition("?")[0].rpartition("/")[2]
        takes_no_writes = f"ALTER DATABASE {name} SET default_transaction_read_only"
        await query_server(own_accounts_url, f"{takes_no_writes} = on")
        with raises_in_time():
            await database.transaction(register_user(1))
        # A session keeps the value with which it began.
        writing = f"{own_accounts_url}&default_transaction_read_only=off"
        await query_server(writing, f"{takes_no_writes} = off")
        assert await database.transaction(register_user(1))


async def test_tables_that_are_not_there_yet_are_away(database_url: str) -> None:
    """A worker may start before the migrations."""
    async with open_database(database_url, deadline_seconds=DEADLINE_SECONDS) as database:
        with raises_in_time():
            await database.transaction(register_user(1))
        await migrations.apply(database_url)
        assert await database.transaction(register_user(1))


async def test_a_table_that_changes_under_a_prepared_query_is_away_for_a_moment(
    own_accounts_url: str,
) -> None:
    """A newer version's migration may run beside workers of the older one."""
    async with open_database(own_accounts_url, pool_size=1, deadline_seconds=DEADLINE_SECONDS) as database:
        for number in (1, 2):
            await database.transaction(register_user(number))
        await query_server(own_accounts_url, "ALTER TABLE users ALTER token_version TYPE bigint")
        await wait_for_recovery(database, 3)
        assert await visible_users(own_accounts_url) == [1, 2, 3]


async def test_a_session_that_the_server_ended_is_away_for_a_moment(accounts_url: str) -> None:
    """This holds in the middle of a transaction, which leaves no row."""

    async def work(run: Run) -> None:
        await register_user(1)(run)
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'quotecast'"
        await query_server(accounts_url, query)
        await register_user(2)(run)

    async with open_database(accounts_url, pool_size=1, deadline_seconds=DEADLINE_SECONDS) as database:
        with raises_in_time():
            await database.transaction(work)
        await wait_for_recovery(database, 3)
        assert await visible_users(accounts_url) == [3]


async def test_a_session_that_idled_too_long_in_a_transaction_is_away(accounts_url: str) -> None:
    """A worker may be suspended and resumed."""

    async def work(run: Run) -> None:
        await run(User.raw("SET LOCAL idle_in_transaction_session_timeout = 1"))
        await until_sessions(accounts_url, lambda states: not states)
        await register_user(1)(run)

    async with open_database(accounts_url, pool_size=1, deadline_seconds=DEADLINE_SECONDS) as database:
        with raises_in_time():
            await database.transaction(work)
        await wait_for_recovery(database, 2)


async def test_a_frozen_server_is_away_in_time_and_the_pool_whole_after(
    own_postgres: Postgres, own_url: str
) -> None:
    """All connections are in use, and more transactions wait."""
    async with open_database(own_url, pool_size=3, deadline_seconds=DEADLINE_SECONDS) as database:
        await check_pool(database, 3)
        own_postgres.freeze()
        began = time.monotonic()
        calls = [database.transaction(register_user(number)) for number in range(9)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert time.monotonic() - began < scaled(PROMISED_SECONDS)
        assert {type(outcome) for outcome in outcomes} == {DatabaseAway}
        own_postgres.thaw()
        await wait_for_recovery(database, 100)
        await check_pool(database, 3)
        await until_idle(own_url, at_most=3)


async def test_a_commit_without_an_answer_is_no_success(own_postgres: Postgres, own_url: str) -> None:
    """The write may have taken effect or not; a repetition with the same key shows it."""

    async def work(run: Run) -> None:
        await register_user(1)(run)
        own_postgres.freeze()

    async with open_database(own_url, pool_size=1, deadline_seconds=DEADLINE_SECONDS) as database:
        with raises_in_time():
            await database.transaction(work)
        own_postgres.thaw()
        await wait_for_recovery(database, 2)
        assert await visible_users(own_url) in ([2], [1, 2])


async def test_a_server_that_dies_at_the_commit_is_no_success(own_postgres: Postgres, own_url: str) -> None:
    """No write that failed reports success; after the server's return transactions work again."""

    async def work(run: Run) -> None:
        await register_user(1)(run)
        await asyncio.to_thread(own_postgres.kill)

    async with open_database(own_url, deadline_seconds=DEADLINE_SECONDS) as database:
        await database.transaction(register_user(0))
        with raises_in_time():
            await database.transaction(work)
        for _ in range(3):
            with raises_in_time():
                await database.transaction(register_user(1))
        await asyncio.to_thread(own_postgres.start)
        await wait_for_recovery(database, 2)
        await check_pool(database, 4)
        assert await visible_users(own_url) == [0, 2]
