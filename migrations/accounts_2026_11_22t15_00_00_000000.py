"""The table of sessions."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.table import Table

ID: Final = "2026-11-22T15:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "Sessions"

#: Doubled braces: Piccolo takes single ones for places of values.
_COLUMNS: Final = (
    "id varchar(24) PRIMARY KEY CONSTRAINT sessions_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{{24}}$'),"
    " user_id varchar(24) NOT NULL REFERENCES users (id) ON DELETE CASCADE,"
    " device varchar(200) NOT NULL, address varchar(50) NOT NULL,"
    " created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL"
)


async def create() -> None:
    """Creates the table and its index."""
    await Table.raw(f"CREATE TABLE sessions ({_COLUMNS})")
    await Table.raw("CREATE INDEX sessions_of_user ON sessions (user_id, id)")


async def drop() -> None:
    """Drops the table."""
    await Table.raw("DROP TABLE sessions")


async def forwards() -> MigrationManager:
    """The table of sessions; backwards drops it."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
