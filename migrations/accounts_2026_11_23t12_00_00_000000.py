"""The tables of API keys and plans, and the count of their changes."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.table import Table

ID: Final = "2026-11-23T12:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "API keys and plans"

#: Doubled braces: Piccolo takes single ones for places of values.
_KEYS: Final = (
    "id varchar(24) PRIMARY KEY CONSTRAINT api_keys_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{{24}}$'),"
    " user_id varchar(24) REFERENCES users (id) ON DELETE CASCADE,"
    " name varchar(100) NOT NULL"
    " CONSTRAINT api_keys_name_is_trimmed CHECK (name <> '' AND name = btrim(name)),"
    " plan varchar(40) NOT NULL DEFAULT '',"
    " secret_hash varchar(64) NOT NULL"
    " CONSTRAINT api_keys_hash_is_a_digest CHECK (secret_hash ~ '^[0-9a-f]{{64}}$'),"
    " previous_hash varchar(64), previous_until timestamptz,"
    " scope text NOT NULL CONSTRAINT api_keys_scope_is_small CHECK (octet_length(scope) <= 65536),"
    " created_at timestamptz NOT NULL, expires_at timestamptz, revoked_at timestamptz"
)
_PLANS: Final = (
    "name varchar(40) PRIMARY KEY"
    " CONSTRAINT plans_name_is_plain CHECK (name ~ '^[a-z][a-z0-9-]{{0,39}}$'),"
    " definition text NOT NULL CONSTRAINT plans_are_small CHECK (octet_length(definition) <= 16384),"
    " updated_at timestamptz NOT NULL"
)
#: Workers look at this number to learn of changes. A transaction that changes it holds its row until it
#: commits, so numbers become visible in their order.
_CHANGES: Final = (
    "one boolean PRIMARY KEY DEFAULT true CONSTRAINT key_changes_has_one_row CHECK (one),"
    " number bigint NOT NULL"
)
_FUNCTION: Final = (
    "CREATE FUNCTION count_key_change() RETURNS trigger LANGUAGE plpgsql AS"
    " 'BEGIN UPDATE key_changes SET number = number + 1; RETURN NULL; END'"
)
#: An insertion changes no key that a worker knows; that of a plan may complete one.
_TRIGGERS: Final = {
    "api_keys": "UPDATE OR DELETE ON api_keys",
    "plans": "INSERT OR UPDATE OR DELETE ON plans",
    "users": "UPDATE OF disabled ON users",
}


async def create() -> None:
    """Creates the tables, their index and the triggers."""
    await Table.raw(f"CREATE TABLE api_keys ({_KEYS})")
    await Table.raw("CREATE INDEX api_keys_of_user ON api_keys (user_id, id)")
    await Table.raw(f"CREATE TABLE plans ({_PLANS})")
    await Table.raw(f"CREATE TABLE key_changes ({_CHANGES})")
    await Table.raw("INSERT INTO key_changes (number) VALUES (0)")
    await Table.raw(_FUNCTION)
    for table, event in _TRIGGERS.items():
        await Table.raw(
            f"CREATE TRIGGER {table}_count_key_changes AFTER {event}"
            " FOR EACH STATEMENT EXECUTE FUNCTION count_key_change()"
        )


async def drop() -> None:
    """Drops the triggers and the tables."""
    for table in _TRIGGERS:
        await Table.raw(f"DROP TRIGGER {table}_count_key_changes ON {table}")
    await Table.raw("DROP FUNCTION count_key_change()")
    await Table.raw("DROP TABLE key_changes")
    await Table.raw("DROP TABLE plans")
    await Table.raw("DROP TABLE api_keys")


async def forwards() -> MigrationManager:
    """The tables of API keys and plans; backwards drops them."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
