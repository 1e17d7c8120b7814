"""The count of changes to API keys, plans, users' states and sessions, on a real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final

import asyncpg
import pytest

from quotecast.access import key_text
from support.runs.waits import until_answered

NOW: Final = datetime(2026, 11, 23, 12, tzinfo=UTC)
USER_ID: Final = "5f3a9c0e1b2d4f6a8c0e1b2d"
KEY_ID: Final = "01a1fc87e0c47a905dd5d088"
OTHER_ID: Final = "01a1fc87e0c47a905dd5d089"
#: Changes that workers must see, and what each is of.
CHANGES: Final = {
    "a revocation": "UPDATE api_keys SET revoked_at = now()",
    "another name": "UPDATE api_keys SET name = 'Other'",
    "another plan": "UPDATE api_keys SET plan = 'partner'",
    "a deleted key": "DELETE FROM api_keys",
    "a new plan": "INSERT INTO plans VALUES ('partner', '{}', now())",
    "a stored plan again": "INSERT INTO plans VALUES ('basic', '{}', now())"
    " ON CONFLICT (name) DO UPDATE SET definition = '{}'",
    "a changed plan": "UPDATE plans SET definition = '{}'",
    "a deleted plan": "DELETE FROM plans",
    "a disabled user": "UPDATE users SET disabled = true",
    "an enabled user": "UPDATE users SET disabled = false",
    "a deleted user": "DELETE FROM users",
    "an ended session": "DELETE FROM sessions",
}
#: Changes of which no worker needs to know.
SILENT: Final = {
    "a new key": f"INSERT INTO api_keys (id, name, secret_hash, scope, created_at)"  # noqa: S608 - a digest
    f" VALUES ('{OTHER_ID}', 'New', '{key_text.digest('new')}', '{{}}', now())",
    "a renamed user": "UPDATE users SET name = 'Bo'",
    "another version of tokens": "UPDATE users SET token_version = token_version + 1",
    "a new session": f"INSERT INTO sessions (id, user_id, device, address, created_at, expires_at)"  # noqa: S608
    f" VALUES ('{OTHER_ID}', '{USER_ID}', '', '', now(), now())",
    "a login that ends no session": "DELETE FROM sessions WHERE expires_at < '2026-01-01'",
}


async def connect(url: str) -> asyncpg.Connection:
    connection: asyncpg.Connection = await asyncpg.connect(url)
    return connection


@pytest.fixture
async def connection(accounts_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Yields a connection to a database with a user, a key and a session of the user, and a plan."""
    connection = await connect(accounts_url)
    await connection.execute(
        "INSERT INTO users (id, name, email, password_hash) VALUES ($1, 'Ayşe', 'ayse@example.com', 'x')",
        USER_ID,
    )
    await insert(connection)
    await connection.execute(
        "INSERT INTO sessions (id, user_id, device, address, created_at, expires_at)"
        " VALUES ($1, $2, '', '', $3, $3)",
        KEY_ID,
        USER_ID,
        NOW,
    )
    await connection.execute("INSERT INTO plans VALUES ('basic', '{}', now())")
    yield connection
    await connection.close()


async def insert(connection: asyncpg.Connection, **values: object) -> None:
    row = {
        "id": KEY_ID,
        "user_id": USER_ID,
        "name": "Ticker",
        "secret_hash": key_text.digest("secret"),
        "scope": "{}",
        "created_at": NOW,
        **values,
    }
    places = ", ".join(f"${number}" for number in range(1, len(row) + 1))
    await connection.execute(
        f"INSERT INTO api_keys ({', '.join(row)}) VALUES ({places})",  # noqa: S608 - the columns above
        *row.values(),
    )


async def number(connection: asyncpg.Connection) -> int:
    return int(await connection.fetchval("SELECT number FROM key_changes"))


@pytest.mark.parametrize("change", CHANGES)
async def test_change_raises_the_number(connection: asyncpg.Connection, change: str) -> None:
    before = await number(connection)
    await connection.execute(CHANGES[change])
    assert await number(connection) > before


@pytest.mark.parametrize("change", SILENT)
async def test_number_stays_when_no_known_key_changes(connection: asyncpg.Connection, change: str) -> None:
    before = await number(connection)
    await connection.execute(SILENT[change])
    assert await number(connection) == before


async def test_change_that_was_rolled_back_does_not_count(connection: asyncpg.Connection) -> None:
    before = await number(connection)
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(CHANGES["a revocation"])
    await transaction.rollback()
    assert await number(connection) == before


async def until_blocked(connection: asyncpg.Connection, process: int) -> None:
    """Waits until a process of the server waits for another one's lock."""
    query = "SELECT cardinality(pg_blocking_pids($1)) > 0"
    await until_answered(lambda: connection.fetchval(query, process))


async def test_concurrent_changes_count_one_by_one(connection: asyncpg.Connection, accounts_url: str) -> None:
    """The second change waits for the commit of the first: a reader of a number sees all changes up to it."""
    await insert(connection, id=OTHER_ID)
    before = await number(connection)
    others = [await connect(accounts_url) for _ in range(2)]
    first, second = [each.transaction() for each in others]
    await first.start()
    await second.start()
    change = "UPDATE api_keys SET revoked_at = now() WHERE id = $1"
    await others[0].execute(change, KEY_ID)
    waiting = asyncio.create_task(others[1].execute(change, OTHER_ID))
    await until_blocked(connection, others[1].get_server_pid())
    assert await number(connection) == before
    await first.commit()
    await waiting
    assert await number(connection) == before + 1
    await second.commit()
    assert await number(connection) == before + 2
    for each in others:
        await each.close()


async def test_number_has_one_row(connection: asyncpg.Connection) -> None:
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute("INSERT INTO key_changes (number) VALUES (0)")
    with pytest.raises(asyncpg.CheckViolationError):
        await connection.execute("INSERT INTO key_changes VALUES (false, 0)")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", "x"),
        ("id", "A" * 24),
        ("name", ""),
        ("name", " Ticker"),
        ("secret_hash", "a secret"),
        ("scope", " " * 65_537),
    ],
)
async def test_database_itself_refuses_a_wrong_key(
    connection: asyncpg.Connection, column: str, value: object
) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await insert(connection, **{"id": OTHER_ID, column: value})


@pytest.mark.parametrize("name", ["", "Basic", "1st", "a_b", "ü"])
async def test_database_itself_refuses_a_wrong_plan(connection: asyncpg.Connection, name: str) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await connection.execute("INSERT INTO plans VALUES ($1, '{}', now())", name)
