"""Holdings, idempotency keys, watchlist and layouts, as `piccolo migrations new` wrote them."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns.base import OnDelete
from piccolo.columns.base import OnUpdate
from piccolo.columns.column_types import BigSerial
from piccolo.columns.column_types import Date
from piccolo.columns.column_types import ForeignKey
from piccolo.columns.column_types import Integer
from piccolo.columns.column_types import JSON
from piccolo.columns.column_types import Numeric
from piccolo.columns.column_types import Text
from piccolo.columns.column_types import Timestamptz
from piccolo.columns.column_types import Varchar
from piccolo.columns.defaults.timestamptz import TimestamptzNow
from piccolo.columns.indexes import IndexMethod
from piccolo.constraints import Check
from piccolo.constraints import Unique
from piccolo.table import Table


class User(Table, tablename="users", schema=None):
    """What the others refer to."""

    id = Varchar(
        length=24,
        default=None,
        null=False,
        primary_key=True,
        unique=False,
        index=False,
        index_method=IndexMethod.btree,
        choices=None,
        db_column_name=None,
        secret=False,
    )


ID = "2026-11-21T10:00:00:000000"
VERSION = "1.38.0"
DESCRIPTION = "Holdings, watchlist and layouts"


async def forwards() -> MigrationManager:
    """The four tables, their keys and their checks; backwards drops them."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)

    manager.add_table(
        class_name="IdempotencyKey",
        tablename="idempotency_keys",
        schema=None,
        columns=None,
    )

    manager.add_table(class_name="Holding", tablename="holdings", schema=None, columns=None)

    manager.add_table(class_name="Layout", tablename="layouts", schema=None, columns=None)

    manager.add_table(
        class_name="WatchlistEntry",
        tablename="watchlist",
        schema=None,
        columns=None,
    )

    manager.add_column(
        table_class_name="IdempotencyKey",
        tablename="idempotency_keys",
        column_name="id",
        db_column_name="id",
        column_class_name="BigSerial",
        column_class=BigSerial,
        params={
            "null": False,
            "primary_key": True,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="IdempotencyKey",
        tablename="idempotency_keys",
        column_name="user_id",
        db_column_name="user_id",
        column_class_name="ForeignKey",
        column_class=ForeignKey,
        params={
            "references": User,
            "on_delete": OnDelete.cascade,
            "on_update": OnUpdate.cascade,
            "target_column": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="IdempotencyKey",
        tablename="idempotency_keys",
        column_name="key",
        db_column_name="key",
        column_class_name="Varchar",
        column_class=Varchar,
        params={
            "length": 255,
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="IdempotencyKey",
        tablename="idempotency_keys",
        column_name="fingerprint",
        db_column_name="fingerprint",
        column_class_name="Varchar",
        column_class=Varchar,
        params={
            "length": 64,
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="IdempotencyKey",
        tablename="idempotency_keys",
        column_name="answer",
        db_column_name="answer",
        column_class_name="Text",
        column_class=Text,
        params={
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="IdempotencyKey",
        tablename="idempotency_keys",
        column_name="created_at",
        db_column_name="created_at",
        column_class_name="Timestamptz",
        column_class=Timestamptz,
        params={
            "default": TimestamptzNow(),
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Holding",
        tablename="holdings",
        column_name="id",
        db_column_name="id",
        column_class_name="Varchar",
        column_class=Varchar,
        params={
            "length": 24,
            "default": None,
            "null": False,
            "primary_key": True,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Holding",
        tablename="holdings",
        column_name="user_id",
        db_column_name="user_id",
        column_class_name="ForeignKey",
        column_class=ForeignKey,
        params={
            "references": User,
            "on_delete": OnDelete.cascade,
            "on_update": OnUpdate.cascade,
            "target_column": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": True,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Holding",
        tablename="holdings",
        column_name="ticker",
        db_column_name="ticker",
        column_class_name="Varchar",
        column_class=Varchar,
        params={
            "length": 40,
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Holding",
        tablename="holdings",
        column_name="shares",
        db_column_name="shares",
        column_class_name="Numeric",
        column_class=Numeric,
        params={
            "default": None,
            "digits": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Holding",
        tablename="holdings",
        column_name="avg_cost",
        db_column_name="avg_cost",
        column_class_name="Numeric",
        column_class=Numeric,
        params={
            "default": None,
            "digits": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Holding",
        tablename="holdings",
        column_name="bought_at",
        db_column_name="bought_at",
        column_class_name="Date",
        column_class=Date,
        params={
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Holding",
        tablename="holdings",
        column_name="currency",
        db_column_name="currency",
        column_class_name="Varchar",
        column_class=Varchar,
        params={
            "length": 3,
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Holding",
        tablename="holdings",
        column_name="created_at",
        db_column_name="created_at",
        column_class_name="Timestamptz",
        column_class=Timestamptz,
        params={
            "default": TimestamptzNow(),
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Layout",
        tablename="layouts",
        column_name="user_id",
        db_column_name="user_id",
        column_class_name="ForeignKey",
        column_class=ForeignKey,
        params={
            "references": User,
            "on_delete": OnDelete.cascade,
            "on_update": OnUpdate.cascade,
            "target_column": None,
            "null": False,
            "primary_key": True,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Layout",
        tablename="layouts",
        column_name="layout",
        db_column_name="layout",
        column_class_name="JSON",
        column_class=JSON,
        params={
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Layout",
        tablename="layouts",
        column_name="version",
        db_column_name="version",
        column_class_name="Integer",
        column_class=Integer,
        params={
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="Layout",
        tablename="layouts",
        column_name="updated_at",
        db_column_name="updated_at",
        column_class_name="Timestamptz",
        column_class=Timestamptz,
        params={
            "default": TimestamptzNow(),
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="WatchlistEntry",
        tablename="watchlist",
        column_name="id",
        db_column_name="id",
        column_class_name="BigSerial",
        column_class=BigSerial,
        params={
            "null": False,
            "primary_key": True,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="WatchlistEntry",
        tablename="watchlist",
        column_name="user_id",
        db_column_name="user_id",
        column_class_name="ForeignKey",
        column_class=ForeignKey,
        params={
            "references": User,
            "on_delete": OnDelete.cascade,
            "on_update": OnUpdate.cascade,
            "target_column": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="WatchlistEntry",
        tablename="watchlist",
        column_name="kind",
        db_column_name="kind",
        column_class_name="Varchar",
        column_class=Varchar,
        params={
            "length": 6,
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="WatchlistEntry",
        tablename="watchlist",
        column_name="ticker",
        db_column_name="ticker",
        column_class_name="Varchar",
        column_class=Varchar,
        params={
            "length": 40,
            "default": None,
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_column(
        table_class_name="WatchlistEntry",
        tablename="watchlist",
        column_name="added_at",
        db_column_name="added_at",
        column_class_name="Timestamptz",
        column_class=Timestamptz,
        params={
            "default": TimestamptzNow(),
            "null": False,
            "primary_key": False,
            "unique": False,
            "index": False,
            "index_method": IndexMethod.btree,
            "choices": None,
            "db_column_name": None,
            "secret": False,
        },
        schema=None,
    )

    manager.add_constraint(
        table_class_name="IdempotencyKey",
        tablename="idempotency_keys",
        constraint_name="idempotency_keys_belong_to_users",
        constraint_class=Unique,
        params={"columns": ["user_id", "key"], "nulls_distinct": True},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="IdempotencyKey",
        tablename="idempotency_keys",
        constraint_name="idempotency_keys_key_is_not_empty",
        constraint_class=Check,
        params={"condition": "key <> ''"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="Holding",
        tablename="holdings",
        constraint_name="holdings_id_is_hexadecimal",
        constraint_class=Check,
        params={"condition": "id ~ '^[0-9a-f]{24}$'"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="Holding",
        tablename="holdings",
        constraint_name="holdings_ticker_is_plain",
        constraint_class=Check,
        params={"condition": "ticker ~ '^[A-Za-z0-9./-]+$'"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="Holding",
        tablename="holdings",
        constraint_name="holdings_shares_are_in_bounds",
        constraint_class=Check,
        params={"condition": "shares > 0 AND shares < 1e12 AND scale(shares) <= 8"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="Holding",
        tablename="holdings",
        constraint_name="holdings_cost_is_in_bounds",
        constraint_class=Check,
        params={"condition": "avg_cost >= 0 AND avg_cost < 1e12 AND scale(avg_cost) <= 8"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="Holding",
        tablename="holdings",
        constraint_name="holdings_currency_is_a_code",
        constraint_class=Check,
        params={"condition": "currency ~ '^[A-Z]{3}$'"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="Layout",
        tablename="layouts",
        constraint_name="layouts_are_objects",
        constraint_class=Check,
        params={"condition": "json_typeof(layout) = 'object'"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="Layout",
        tablename="layouts",
        constraint_name="layouts_are_small",
        constraint_class=Check,
        params={"condition": "octet_length(layout::text) <= 65536"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="Layout",
        tablename="layouts",
        constraint_name="layouts_version_is_positive",
        constraint_class=Check,
        params={"condition": "version > 0"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="WatchlistEntry",
        tablename="watchlist",
        constraint_name="watchlist_names_a_symbol_once",
        constraint_class=Unique,
        params={"columns": ["user_id", "kind", "ticker"], "nulls_distinct": True},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="WatchlistEntry",
        tablename="watchlist",
        constraint_name="watchlist_kind_is_known",
        constraint_class=Check,
        params={"condition": "kind IN ('stock', 'crypto', 'doviz')"},
        schema=None,
    )

    manager.add_constraint(
        table_class_name="WatchlistEntry",
        tablename="watchlist",
        constraint_name="watchlist_ticker_is_plain",
        constraint_class=Check,
        params={"condition": "ticker ~ '^[A-Za-z0-9./-]+$'"},
        schema=None,
    )

    return manager
