"""The tables of alerts."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.table import Table

ID: Final = "2026-11-22T13:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "Alerts"

_USER: Final = "varchar(24) NOT NULL REFERENCES users (id) ON DELETE CASCADE"
_WAITED_FOR: Final = (
    " kind varchar(6) NOT NULL, ticker varchar(40) NOT NULL, measure varchar(5) NOT NULL,"
    " direction varchar(4) NOT NULL, threshold double precision NOT NULL,"
    " note varchar(200) NOT NULL DEFAULT ''"
)
#: `Table.raw` takes a single brace for a placeholder.
TABLES: Final = {
    "alerts": (
        "id varchar(24) PRIMARY KEY CONSTRAINT alerts_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{{24}}$'),"
        f" user_id {_USER}, {_WAITED_FOR},"
        " repeats boolean NOT NULL DEFAULT false, active boolean NOT NULL DEFAULT true,"
        " events integer NOT NULL DEFAULT 0,"
        " by_webhook boolean NOT NULL DEFAULT false, by_push boolean NOT NULL DEFAULT false,"
        " created_at timestamptz NOT NULL DEFAULT now(), armed_at timestamptz NOT NULL DEFAULT now(),"
        " CONSTRAINT alerts_kind_is_known CHECK (kind IN ('stock', 'crypto', 'doviz')),"
        " CONSTRAINT alerts_ticker_is_plain CHECK (ticker ~ '^[A-Za-z0-9./-]+$'),"
        " CONSTRAINT alerts_measure_is_known CHECK (measure IN ('price', '5m', '15m', '1h', 'day')),"
        " CONSTRAINT alerts_direction_is_known CHECK (direction IN ('up', 'down')),"
        " CONSTRAINT alerts_threshold_is_in_bounds CHECK (threshold > -1e12 AND threshold < 1e12)"
    ),
    "alert_events": (
        f"id bigserial PRIMARY KEY, user_id {_USER}, alert_id varchar(24) NOT NULL,"
        f" crossing varchar(60) NOT NULL, {_WAITED_FOR},"
        " value double precision NOT NULL, price double precision NOT NULL,"
        " happened_at timestamptz NOT NULL DEFAULT now(),"
        " CONSTRAINT alert_events_name_a_crossing_once UNIQUE (alert_id, crossing)"
    ),
    "webhooks": (
        "user_id varchar(24) PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,"
        " url text NOT NULL, signing_secret text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),"
        " last_sent_at timestamptz, last_error varchar(200) NOT NULL DEFAULT '', last_error_at timestamptz,"
        " CONSTRAINT webhooks_url_is_short CHECK (octet_length(url) <= 2048)"
    ),
    "push_subscriptions": (
        f"id varchar(24) PRIMARY KEY, user_id {_USER}, endpoint text NOT NULL, p256dh text NOT NULL,"
        " auth text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),"
        " CONSTRAINT push_subscriptions_name_a_browser_once UNIQUE (user_id, endpoint),"
        " CONSTRAINT push_subscriptions_endpoint_is_short CHECK (octet_length(endpoint) <= 2048)"
    ),
    "alert_deliveries": (
        "id bigserial PRIMARY KEY, event_id bigint NOT NULL REFERENCES alert_events (id) ON DELETE CASCADE,"
        f" user_id {_USER},"
        " channel varchar(7) NOT NULL, target varchar(24) NOT NULL DEFAULT '',"
        " attempts integer NOT NULL DEFAULT 0, state varchar(7) NOT NULL DEFAULT 'waiting',"
        " created_at timestamptz NOT NULL DEFAULT now(), next_at timestamptz NOT NULL DEFAULT now(),"
        " last_error varchar(200) NOT NULL DEFAULT '',"
        " CONSTRAINT alert_deliveries_channel_is_known CHECK (channel IN ('webhook', 'push')),"
        " CONSTRAINT alert_deliveries_state_is_known CHECK (state IN ('waiting', 'sent', 'failed'))"
    ),
    #: Counts the writes to the alerts of a kind, so that an ingest notices them.
    "alert_changes": "kind varchar(6) PRIMARY KEY, number bigint NOT NULL",
    #: Up to which crossing each feed's events are written.
    "alert_crossings_written": "feed text PRIMARY KEY, through text NOT NULL",
}
INDEXES: Final = {
    "alerts_user_id": "alerts (user_id)",
    "alerts_of_symbol": "alerts (kind, ticker, measure) WHERE active",
    "alert_events_of_user": "alert_events (user_id, id)",
    "alert_events_of_time": "alert_events (happened_at)",
    "alert_deliveries_event_id": "alert_deliveries (event_id)",
    "alert_deliveries_user_id": "alert_deliveries (user_id)",
    "alert_deliveries_waiting": "alert_deliveries (next_at) WHERE state = 'waiting'",
}


async def create() -> None:
    """Creates the tables and their indexes."""
    for table, columns in TABLES.items():
        await Table.raw(f"CREATE TABLE {table} ({columns})")
    for name, index in INDEXES.items():
        await Table.raw(f"CREATE INDEX {name} ON {index}")


async def drop() -> None:
    """Drops the tables."""
    for table in reversed(TABLES):
        await Table.raw(f"DROP TABLE {table}")


async def forwards() -> MigrationManager:
    """The tables of alerts; backwards drops them."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
