"""The tables of release 0.1.0, which `tables.sql` creates."""

from pathlib import Path
from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from quotecast.database.migrations import execute

ID: Final = "2026-11-26T20:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "The tables of release 0.1.0"

_DROP: Final = """
DROP TABLE alert_changes, alert_crossings_written, alert_deliveries, alert_events, alerts, api_key_usage,
    api_key_usage_batches, api_keys, bars_15m, bars_1h, bars_1m, bars_5m, bars_d, bars_written, holdings,
    idempotency_keys, key_changes, layouts, listed_symbols, operator_actions, operator_sessions, operators,
    plans, push_subscriptions, sessions, users, watchlist, watchlists, webhooks;
DROP FUNCTION count_key_change, count_session_end, keep_operator_actions;
"""


async def create() -> None:
    """Creates the tables, their indexes and triggers."""
    await execute(Path(__file__).with_name("tables.sql").read_text("utf-8"))


async def drop() -> None:
    """Drops all of them."""
    await execute(_DROP)


async def forwards() -> MigrationManager:
    """The tables; backwards drops them."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
