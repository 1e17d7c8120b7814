"""Daily bars, with the time at which they were known."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from quotecast.database.migrations import execute

ID: Final = "2026-11-28T18:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "Daily bars as they were known"

_CREATE: Final = """
CREATE TABLE known_bars (
    feed varchar(80) NOT NULL,
    symbol varchar(40) NOT NULL,
    provider varchar(40) NOT NULL,
    known_at timestamptz NOT NULL,
    bars bytea NOT NULL,
    PRIMARY KEY (feed, symbol, known_at)
);
"""


async def create() -> None:
    """Creates the table."""
    await execute(_CREATE)


async def drop() -> None:
    """Drops it."""
    await execute("DROP TABLE known_bars")


async def forwards() -> MigrationManager:
    """The table; backwards drops it."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
