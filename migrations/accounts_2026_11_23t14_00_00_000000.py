"""The tables of operators, their sessions, and the log of their actions, to which rows are only added."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.table import Table

ID: Final = "2026-11-23T14:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "Operators and the log of their actions"

_OPERATORS: Final = (
    "user_id varchar(24) PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,"
    " totp text CONSTRAINT operators_totp_is_short CHECK (octet_length(totp) <= 200),"
    " totp_step bigint NOT NULL DEFAULT 0, added_at timestamptz NOT NULL"
)
#: Doubled braces: Piccolo takes single ones for places of values.
_SESSIONS: Final = (
    "id varchar(24) PRIMARY KEY"
    " CONSTRAINT operator_sessions_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{{24}}$'),"
    " user_id varchar(24) NOT NULL REFERENCES operators (user_id) ON DELETE CASCADE,"
    " token_version integer NOT NULL, address varchar(50) NOT NULL,"
    " created_at timestamptz NOT NULL, seen_at timestamptz NOT NULL, expires_at timestamptz NOT NULL"
)
#: No reference to users: a row outlives the user whom it names.
_ACTIONS: Final = (
    "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, happened_at timestamptz NOT NULL DEFAULT now(),"
    " via varchar(5) NOT NULL CONSTRAINT operator_actions_via_is_known CHECK (via IN ('page', 'shell')),"
    " actor varchar(254) NOT NULL, address varchar(50) NOT NULL,"
    " action varchar(40) NOT NULL CONSTRAINT operator_actions_action_is_plain"
    " CHECK (action ~ '^[a-z]+[.][a-z]+$'),"
    " target varchar(60) NOT NULL, detail varchar(100) NOT NULL,"
    " outcome varchar(7) NOT NULL"
    " CONSTRAINT operator_actions_outcome_is_known CHECK (outcome IN ('done', 'refused'))"
)
_FUNCTION: Final = (
    "CREATE FUNCTION keep_operator_actions() RETURNS trigger LANGUAGE plpgsql AS"
    " 'BEGIN RAISE EXCEPTION ''rows of operator_actions stay as they are''"
    " USING ERRCODE = ''insufficient_privilege''; END'"
)


async def create() -> None:
    """Creates the tables, the index of a user's sessions, and the trigger that keeps the log."""
    await Table.raw(f"CREATE TABLE operators ({_OPERATORS})")
    await Table.raw(f"CREATE TABLE operator_sessions ({_SESSIONS})")
    await Table.raw("CREATE INDEX operator_sessions_of_user ON operator_sessions (user_id)")
    await Table.raw(f"CREATE TABLE operator_actions ({_ACTIONS})")
    await Table.raw(_FUNCTION)
    await Table.raw(
        "CREATE TRIGGER operator_actions_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_actions"
        " FOR EACH STATEMENT EXECUTE FUNCTION keep_operator_actions()"
    )
    # Also for sessions of replication, in which other triggers rest.
    await Table.raw("ALTER TABLE operator_actions ENABLE ALWAYS TRIGGER operator_actions_stay")


async def drop() -> None:
    """Drops the tables, the log included."""
    await Table.raw("DROP TABLE operator_actions")
    await Table.raw("DROP FUNCTION keep_operator_actions()")
    await Table.raw("DROP TABLE operator_sessions")
    await Table.raw("DROP TABLE operators")


async def forwards() -> MigrationManager:
    """The tables of operators; backwards drops them."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
