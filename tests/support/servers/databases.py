"""Databases on the tests' shared PostgreSQL: empty, migrated, or a copy."""

import contextlib
from collections.abc import AsyncIterator

import asyncpg

from quotecast.database import migrations
from support.servers.processes import Postgres

#: Deletes users, plans, and the rows that refer to them. Few rows are deleted faster than TRUNCATE writes new
#: files for every table and index. A session with this role skips triggers, except those that are ALWAYS on:
#: only the table's owner can disable such a trigger.
_CLEAR = """
SET session_replication_role = replica;
DO $$
DECLARE each regclass;
BEGIN
    LOCK TABLE users, plans, operator_actions;
    FOR each IN
        WITH RECURSIVE dependent(id) AS (
            VALUES ('users'::regclass), ('plans'::regclass)
            UNION
            SELECT conrelid FROM pg_constraint JOIN dependent ON confrelid = id WHERE contype = 'f'
        )
        SELECT id FROM dependent
    LOOP
        EXECUTE format('DELETE FROM %s', each);
    END LOOP;
    IF (SELECT is_called FROM operator_actions_id_seq) THEN
        ALTER TABLE operator_actions DISABLE TRIGGER operator_actions_stay;
        TRUNCATE operator_actions RESTART IDENTITY;
        ALTER TABLE operator_actions ENABLE ALWAYS TRIGGER operator_actions_stay;
    END IF;
END $$
"""


@contextlib.asynccontextmanager
async def made(server: Postgres, name: str, of: str = "template1") -> AsyncIterator[str]:
    """Yields the URL of a database that ends with the test."""
    await copy(server, of, name)
    yield server.database_url(name)
    await _execute(server.url, f"DROP DATABASE {name} WITH (FORCE)")


async def copy(server: Postgres, original: str, name: str) -> None:
    """Makes a database with the tables of another, to which nobody is connected."""
    # Copies files, where the default would log every page.
    await _execute(server.url, f"CREATE DATABASE {name} TEMPLATE {original} STRATEGY file_copy")


async def migrate(server: Postgres, name: str) -> None:
    """Makes a database with all tables."""
    await copy(server, "template1", name)
    await migrations.apply(server.database_url(name))


async def clear(url: str) -> None:
    """Empties a migrated database of users and plans, and of all that refers to them."""
    connection = await asyncpg.connect(url)
    # A transaction that an earlier test left open must neither block this one nor count as this test's own.
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await connection.execute(_CLEAR)
    await connection.close()


async def _execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()
