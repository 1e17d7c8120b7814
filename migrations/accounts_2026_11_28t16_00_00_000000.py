"""The figures of feeds' days."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from quotecast.database.migrations import execute

ID: Final = "2026-11-28T16:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "The figures of feeds' days"

_CREATE: Final = """
CREATE TABLE feed_days (
    feed text NOT NULL,
    day date NOT NULL,
    process text NOT NULL,
    figures text NOT NULL,
    written_at timestamptz NOT NULL,
    PRIMARY KEY (feed, day, process)
);
"""


async def create() -> None:
    """Creates the table."""
    await execute(_CREATE)


async def drop() -> None:
    """Drops it."""
    await execute("DROP TABLE feed_days")


async def forwards() -> MigrationManager:
    """The table; backwards drops it."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
