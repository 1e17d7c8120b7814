"""The tables of further watchlists; the first list of a user stays in `watchlist`."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.table import Table

ID: Final = "2026-11-22T14:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "Watchlists"

_USER: Final = "varchar(24) NOT NULL REFERENCES users (id) ON DELETE CASCADE"
# Doubled braces: Piccolo reads single ones in raw SQL as placeholders.
TABLES: Final = {
    "watchlists": (
        f"id varchar(24) PRIMARY KEY, user_id {_USER},"
        " name varchar(60) NOT NULL, position integer NOT NULL, is_default boolean NOT NULL DEFAULT false,"
        " created_at timestamptz NOT NULL DEFAULT now(),"
        " CONSTRAINT watchlists_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{{24}}$'),"
        " CONSTRAINT watchlists_name_is_trimmed CHECK (name <> '' AND name = btrim(name)),"
        " CONSTRAINT watchlists_position_is_not_negative CHECK (position >= 0),"
        " CONSTRAINT watchlists_have_names_of_their_own UNIQUE (user_id, name)"
    ),
    "listed_symbols": (
        f"id bigserial PRIMARY KEY, user_id {_USER},"
        " list_id varchar(24) NOT NULL REFERENCES watchlists (id) ON DELETE CASCADE,"
        " kind varchar(6) NOT NULL, ticker varchar(40) NOT NULL,"
        " added_at timestamptz NOT NULL DEFAULT now(),"
        " CONSTRAINT listed_symbols_name_a_symbol_once UNIQUE (list_id, kind, ticker),"
        " CONSTRAINT listed_symbols_kind_is_known CHECK (kind IN ('stock', 'crypto', 'doviz')),"
        " CONSTRAINT listed_symbols_ticker_is_plain CHECK (ticker ~ '^[A-Za-z0-9./-]+$')"
    ),
}
INDEXES: Final = {"listed_symbols_user_id": "listed_symbols (user_id)"}


async def create() -> None:
    """Creates the tables and their index."""
    for table, columns in TABLES.items():
        await Table.raw(f"CREATE TABLE {table} ({columns})")
    for name, index in INDEXES.items():
        await Table.raw(f"CREATE INDEX {name} ON {index}")


async def drop() -> None:
    """Drops the tables."""
    for table in reversed(TABLES):
        await Table.raw(f"DROP TABLE {table}")


async def forwards() -> MigrationManager:
    """The tables of further watchlists; backwards drops them."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
