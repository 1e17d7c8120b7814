"""Transactions for tests of the database, and the server's view of its sessions."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import asyncpg
import pytest

from quotecast.database.database import Database, Run
from quotecast.database.tables import User
from quotecast.errors import DatabaseAway
from quotecast.users import users
from support.runs.deadlines import scaled
from support.runs.waits import until_answered

#: Most seconds of a transaction in any outage; `tests/faults` hold it on an idle machine.
PROMISED_SECONDS = 2.0


def register_user(number: int) -> Callable[[Run], Awaitable[Any]]:
    """Returns work that registers the user of that number."""

    async def work(run: Run) -> str:
        user = await users.create(
            run,
            user_id=f"{number:024x}",
            name="Ayşe",
            email=f"{number}@example.com",
            password_hash="$argon2id$",
        )
        return user.id

    return work


def hold_connection(event: asyncio.Event) -> Callable[[Run], Awaitable[Any]]:
    """Returns work that holds its connection until the event."""

    async def work(run: Run) -> None:
        await run(User.select(User.id))
        await event.wait()

    return work


async def visible_users(url: str) -> list[int]:
    """Returns the numbers of the users that another connection sees."""
    return [int(row["id"], 16) for row in await query_server(url, "SELECT id FROM users ORDER BY id")]


async def query_server(url: str, query: str) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        rows: list[Any] = await connection.fetch(query)
    finally:
        await connection.close()
    return rows


async def sessions(url: str) -> list[str]:
    """Returns the state of our connections, as the server lists them."""
    query = "SELECT state FROM pg_stat_activity WHERE application_name = 'quotecast'"
    return [row["state"] for row in await query_server(url, query)]


async def until_sessions(url: str, expected: Callable[[list[str]], bool]) -> None:
    """Fails when our connections do not reach the state soon."""

    async def reached() -> bool:
        return expected(await sessions(url))

    await until_answered(reached)


async def until_idle(url: str, *, at_most: int) -> None:
    """Fails when a connection of ours stays in a transaction, or more than the pool's stay open."""
    await until_sessions(url, lambda states: set(states) <= {"idle"} and len(states) <= at_most)


async def check_pool(database: Database, size: int) -> None:
    """Fails unless as many transactions as the pool has connections run at the same time."""
    meeting = asyncio.Barrier(size)

    async def work(run: Run) -> None:
        await run(User.select(User.id))
        await meeting.wait()

    async with asyncio.timeout(scaled(5)):
        await asyncio.gather(*(database.transaction(work) for _ in range(size)))


async def wait_for_recovery(database: Database, number: int) -> None:
    """Retries until a transaction succeeds."""

    async def succeeds() -> bool:
        await database.transaction(register_user(number))
        return True

    await until_answered(succeeds, ignoring=(DatabaseAway,))


@contextlib.contextmanager
def raises_in_time() -> Iterator[None]:
    """Fails unless work raises the error of an outage in time."""
    began = time.monotonic()
    with pytest.raises(DatabaseAway):
        yield
    assert time.monotonic() - began < scaled(PROMISED_SECONDS)


@contextlib.asynccontextmanager
async def open_database(
    url: str, *, pool_size: int = 4, deadline_seconds: float = 20.0, **more: Any
) -> AsyncIterator[Database]:
    """Opens accounts with the deadline of a busy machine: a test of the service's own names that."""
    async with Database(url, pool_size=pool_size, deadline_seconds=deadline_seconds, **more) as database:
        yield database
