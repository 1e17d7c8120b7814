"""The tables of bars, partitioned by time; ingest makes their partitions."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.table import Table

ID = "2026-11-22T12:00:00:000000"
VERSION = "1.38.0"
DESCRIPTION = "Bars"

TABLES = ("bars_1m", "bars_5m", "bars_15m", "bars_1h", "bars_d")


async def create() -> None:
    """Creates a partitioned table for each interval, and the one that says what is written."""
    for table in TABLES:
        await Table.raw(
            f"CREATE TABLE {table} ("
            " feed text NOT NULL, symbol text NOT NULL, opened timestamptz NOT NULL,"
            " open double precision NOT NULL, high double precision NOT NULL,"
            " low double precision NOT NULL, close double precision NOT NULL,"
            " volume double precision, updates integer NOT NULL,"
            " PRIMARY KEY (feed, symbol, opened)"
            ") PARTITION BY RANGE (opened)"
        )
    await Table.raw("CREATE TABLE bars_written (feed text PRIMARY KEY, through timestamptz NOT NULL)")


async def drop() -> None:
    """Drops the tables with their partitions."""
    for table in (*TABLES, "bars_written"):
        await Table.raw(f"DROP TABLE {table}")


async def forwards() -> MigrationManager:
    """The tables of bars; backwards drops them."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
