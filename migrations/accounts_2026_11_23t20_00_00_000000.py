"""The count of changes to keys counts the ends of sessions too, which open feeds as keys do."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.table import Table

ID: Final = "2026-11-23T20:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "Ends of sessions"

#: Most logins delete no session; a number that rose with each would make all workers read their keys.
_FUNCTION: Final = (
    "CREATE FUNCTION count_session_end() RETURNS trigger LANGUAGE plpgsql AS"
    " 'BEGIN IF EXISTS (SELECT FROM ended) THEN UPDATE key_changes SET number = number + 1; END IF;"
    " RETURN NULL; END'"
)


async def create() -> None:
    """Creates the trigger; it fires as well when a user is deleted with their sessions."""
    await Table.raw(_FUNCTION)
    await Table.raw(
        "CREATE TRIGGER sessions_count_key_changes AFTER DELETE ON sessions"
        " REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION count_session_end()"
    )


async def drop() -> None:
    """Drops the trigger."""
    await Table.raw("DROP TRIGGER sessions_count_key_changes ON sessions")
    await Table.raw("DROP FUNCTION count_session_end()")


async def forwards() -> MigrationManager:
    """The trigger on sessions; backwards drops it."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
