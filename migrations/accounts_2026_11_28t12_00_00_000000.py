"""Corporate actions, with the time at which they were known."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from quotecast.database.migrations import execute

ID: Final = "2026-11-28T12:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "Corporate actions as they were known"

_CREATE: Final = """
CREATE TABLE corporate_actions (
    provider varchar(40) NOT NULL,
    symbol varchar(40) NOT NULL,
    id text NOT NULL,
    content text NOT NULL,
    known_at timestamptz NOT NULL,
    known_until timestamptz,
    PRIMARY KEY (provider, symbol, id, known_at),
    CONSTRAINT corporate_actions_end_after_they_begin CHECK (known_until > known_at)
);
CREATE UNIQUE INDEX corporate_actions_present ON corporate_actions (provider, symbol, id)
    WHERE known_until IS NULL;
"""


async def create() -> None:
    """Creates the table."""
    await execute(_CREATE)


async def drop() -> None:
    """Drops it."""
    await execute("DROP TABLE corporate_actions")


async def forwards() -> MigrationManager:
    """The table; backwards drops it."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
