"""Piccolo's migrations, safe to run from many machines at once.

Each run is one transaction that first takes a lock: a second run waits and finds nothing to do, and a failed
migration changes nothing.
"""

import contextlib
import io
import os
from collections.abc import AsyncIterator, Collection
from typing import Final

import asyncpg
from piccolo.apps.migrations.commands.backwards import BackwardsMigrationManager
from piccolo.apps.migrations.commands.base import BaseMigrationManager, MigrationResult
from piccolo.apps.migrations.commands.forwards import ForwardsMigrationManager
from piccolo.apps.migrations.tables import Migration

from quotecast.database.engine import DB
from quotecast.database.migration_files import APP, migration_names
from quotecast.errors import QuotecastError

# An arbitrary number, the same in every version of the service.
_LOCK: Final = 7_120_531_940_552_611
_WAIT: Final = "60s"


class MigrationFailed(QuotecastError):
    """The migrations failed; the database is unchanged."""


async def apply(url: str) -> list[str]:
    """Applies all pending migrations, and returns their names, oldest first. Raises MigrationFailed."""
    async with _locked_transaction(url) as before:
        # Rows of migrations that the first one replaces.
        await Migration.delete().where(
            Migration.app_name == APP, Migration.name < min(migration_names(), default="")
        )
        await _run(ForwardsMigrationManager(APP))
        return [name for name in await Migration.get_migrations_which_ran(APP) if name not in before]


class LossNotNamed(QuotecastError):
    """An undo would delete data that the operator did not name; the database is unchanged."""

    def __init__(self, lost: list[str]) -> None:
        super().__init__(
            f"This would delete {', '.join(lost)} with all data in it. Back up first; then go on with"
            f" `quotecast migrate --undo --losing {','.join(lost)}`"
            if lost
            else "This deletes no data: go on with `quotecast migrate --undo`"
        )


async def undo(url: str, *, losing: Collection[str] | None = None) -> list[str]:
    """Undoes the newest migration, and returns its name. Raises MigrationFailed.

    Raises LossNotNamed, and changes nothing, unless `losing` names each deleted table and column
    (`table.column`); None agrees to every loss.
    """
    async with _locked_transaction(url) as before:
        columns = await _columns()
        await _run(BackwardsMigrationManager(APP, migration_id="1", auto_agree=True))
        lost = _missing_after(columns, await _columns())
        if losing is not None and set(lost) != set(losing):
            raise LossNotNamed(lost)
        after = await Migration.get_migrations_which_ran(APP)
        return [name for name in before if name not in after]


async def execute(sql: str) -> None:
    """Runs the statements of a migration, which Piccolo would take one at a time."""
    transaction = DB.current_transaction.get()
    if not transaction:
        raise MigrationFailed("A migration runs in a transaction only")
    await transaction.connection.execute(sql)


async def _columns() -> set[tuple[str, str]]:
    """Returns the pairs of table and column in the current schema; a partition belongs to its table."""
    rows = await Migration.raw(
        "SELECT relname AS table_name, attname AS column_name"
        " FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
        " WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT relispartition AND attnum > 0 AND NOT attisdropped"
    )
    return {(row["table_name"], row["column_name"]) for row in rows}


def _missing_after(before: set[tuple[str, str]], after: set[tuple[str, str]]) -> list[str]:
    tables = {table for table, _ in after}
    gone = before - after
    return sorted({f"{table}.{column}" if table in tables else table for table, column in gone})


@contextlib.asynccontextmanager
async def _locked_transaction(url: str) -> AsyncIterator[list[str]]:
    """Opens a transaction under the lock, and gives the names of the migrations applied before."""
    os.environ["PICCOLO_CONF"] = "quotecast.database.piccolo_conf"
    # Through PgBouncer a session may hold another client's prepared statement of the same name.
    DB.config = {"dsn": url, "timeout": 10, "statement_cache_size": 0}
    try:
        async with DB.transaction() as transaction:
            await transaction.connection.execute(f"SET LOCAL lock_timeout = '{_WAIT}'")
            await transaction.connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            await BaseMigrationManager().create_migration_table()
            yield await Migration.get_migrations_which_ran(APP)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise MigrationFailed(f"PostgreSQL did not take the migrations: {error}") from error


async def _run(manager: ForwardsMigrationManager | BackwardsMigrationManager) -> None:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        result: MigrationResult = await manager.run()
    if not result.success:
        raise MigrationFailed(f"The migrations cannot be run: {result.message}")
