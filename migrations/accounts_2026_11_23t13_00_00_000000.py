"""The table of the usage of API keys, and that of the batches that workers added to it."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.table import Table

ID: Final = "2026-11-23T13:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "Usage of API keys"

_COUNTS: Final = ("requests", "refused", "socket_ms", "quotes", "bytes")
_USAGE: Final = (
    "key_id varchar(24) NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE, day date NOT NULL,"
    + "".join(f" {each} bigint NOT NULL DEFAULT 0," for each in _COUNTS)
    + " PRIMARY KEY (key_id, day)"
)
#: The newest batch of each worker: a retry of a batch whose commit had no answer adds nothing.
_BATCHES: Final = (
    "worker varchar(32) PRIMARY KEY, number bigint NOT NULL, added_at timestamptz NOT NULL DEFAULT now()"
)


async def create() -> None:
    """Creates the tables, and the index by which old rows go.

    Workers update the rows of today every ten seconds; the room in each page keeps these updates in place.
    """
    await Table.raw(f"CREATE TABLE api_key_usage ({_USAGE}) WITH (fillfactor = 80)")
    await Table.raw("CREATE INDEX api_key_usage_by_day ON api_key_usage (day)")
    await Table.raw(f"CREATE TABLE api_key_usage_batches ({_BATCHES})")


async def drop() -> None:
    """Drops the tables."""
    await Table.raw("DROP TABLE api_key_usage_batches")
    await Table.raw("DROP TABLE api_key_usage")


async def forwards() -> MigrationManager:
    """The tables of usage; backwards drops them."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
