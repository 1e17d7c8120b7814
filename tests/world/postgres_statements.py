"""The statements on alerts, keys and usage of a simulated PostgreSQL."""

from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from asyncpg import introspection
from msgspec.structs import replace

from quotecast.access import storage as key_storage
from quotecast.access import usage_storage
from quotecast.alerts import storage as alert_storage
from world.postgres_data import Alert, Delivery, Event, Tables, reads, writes
from world.postgres_types import (
    ARRAYS,
    DATE,
    DATES,
    FLOAT8S,
    INT4,
    INT8,
    INT8S,
    OIDS,
    TEXT,
    TEXTS,
    TIME,
    VOID,
)

_HOUR_MS: Final = 3_600_000


@writes("SELECT pg_advisory_xact_lock($1)", INT8, tag="SELECT ", pg_advisory_xact_lock=VOID)
def _lock(_: Tables, __: int) -> list[Any]:
    """Transactions that write take turns anyway."""
    return [("",)]


@reads("SELECT * FROM alert_changes", kind=TEXT, number=INT8)
def _alert_changes(tables: Tables) -> list[Any]:
    return [*tables.alert_changes.items()]


@reads(alert_storage._THRESHOLDS, TEXT, ticker=TEXT, measure=TEXT, direction=TEXT, thresholds=FLOAT8S)
def _thresholds(tables: Tables, kind: str) -> list[Any]:
    found: dict[tuple[str, str, str], set[float]] = {}
    for alert in tables.alerts.values():
        if alert.kind == kind and alert.active:
            found.setdefault((alert.ticker, alert.measure, alert.direction), set()).add(alert.threshold)
    return [(*names, sorted(thresholds)) for names, thresholds in sorted(found.items())]


@reads(alert_storage._WRITTEN, TEXT, through=TEXT)
def _crossings_written(tables: Tables, feed: str) -> list[Any]:
    through = tables.alert_crossings_written.get(feed)
    if through is None or int(through.partition("-")[0]) >= tables.now.timestamp() * 1000 + _HOUR_MS:
        return []
    return [(through,)]


@writes(alert_storage._NOTE_WRITTEN, TEXT, TEXT)
def _note_written(tables: Tables, feed: str, through: str) -> list[Any]:
    tables.alert_crossings_written[feed] = through
    return [through]


@writes(alert_storage._COUNT_CHANGE, TEXT)
def count_alert_change(tables: Tables, kind: str) -> list[Any]:
    """Counts a change to the alerts of a kind."""
    tables.alert_changes[kind] = tables.alert_changes.get(kind, 0) + 1
    return [kind]


class _Crossing(NamedTuple):
    """The parameters of one crossing."""

    id: str
    ticker: str
    measure: str
    before: float
    value: float
    price: float
    at: float


_COUNTS: Final = {"events": INT8, "stopped": INT8, "users": TEXTS, "matches": INT8}


@writes(
    alert_storage._MAKE_EVENTS,
    TEXT, TEXTS, TEXTS, TEXTS, FLOAT8S, FLOAT8S, FLOAT8S, FLOAT8S, INT8, INT4,
    tag="SELECT ",
    **_COUNTS,
)  # fmt: skip
def _make_events(tables: Tables, kind: str, *columns_and_bounds: Any) -> list[Any]:
    *columns, most, most_events = columns_and_bounds
    matches = [
        (alert, crossing)
        for crossing in map(_Crossing._make, zip(*columns, strict=True))
        for alert in sorted(tables.alerts.values(), key=lambda each: each.id)
        if alert.kind == kind and _waits_for(tables, alert, crossing)
    ][:most]
    users: dict[str, None] = {}
    made, before = 0, dict(tables.alerts)
    for alert, crossing in matches:
        present = tables.alerts[alert.id]
        room = most_events - alert.events if alert.repeats else 1
        if present.events - alert.events >= room:
            continue
        made += 1
        users[alert.user_id] = None
        count = present.events + 1
        is_active = alert.repeats and count < most_events
        tables.alerts[alert.id] = replace(present, events=count, active=is_active)
        number = max(tables.alert_events, default=0) + 1
        if alert.by_webhook and alert.user_id in tables.webhooks:
            _deliver(tables, number, alert.user_id)
        tables.alert_events[number] = Event(
            number,
            alert.user_id,
            alert.id,
            crossing.id,
            alert.ticker,
            crossing.value,
            crossing.price,
            datetime.fromtimestamp(crossing.at, UTC),
            tables.now,
        )
    stopped = sum(
        tables.alerts[each].active != alert.active for each, alert in before.items() if alert.active
    )
    return [(made, stopped, [*users], len(matches))]


def _deliver(tables: Tables, event: int, user: str) -> None:
    number = max(tables.alert_deliveries, default=0) + 1
    tables.alert_deliveries[number] = Delivery(
        id=number, event_id=event, user_id=user, created_at=tables.now, next_at=tables.now
    )


def _waits_for(tables: Tables, alert: Alert, crossing: _Crossing) -> bool:
    """Returns whether an alert waits for a crossing, and does not have it yet."""
    if not alert.active or (alert.ticker, alert.measure) != (crossing.ticker, crossing.measure):
        return False
    if alert.armed_at > datetime.fromtimestamp(crossing.at, UTC):
        return False
    if alert.direction == "up":
        is_crossed = crossing.before < alert.threshold <= crossing.value
    else:
        is_crossed = crossing.before > alert.threshold >= crossing.value
    known = {(each.alert_id, each.crossing) for each in tables.alert_events.values()}
    return is_crossed and (alert.id, crossing.id) not in known


@reads("SELECT number FROM key_changes", number=INT8)
def _key_changes(tables: Tables) -> list[Any]:
    return [(tables.key_changes[True],)]


@reads("SELECT name, definition FROM plans", name=TEXT, definition=TEXT)
def _plans(tables: Tables) -> list[Any]:
    return [*tables.plans.items()]


_KEY_COLUMNS: Final = {
    "id": TEXT,
    "user_id": TEXT,
    "name": TEXT,
    "plan": TEXT,
    "secret_hash": TEXT,
    "previous_hash": TEXT,
    "previous_until": TIME,
    "scope": TEXT,
    "created_at": TIME,
    "expires_at": TIME,
    "revoked_at": TIME,
}


@reads(key_storage._KEYS, TEXTS, **_KEY_COLUMNS)
def _keys(tables: Tables, ids: list[str]) -> list[Any]:
    found = [tables.api_keys[each] for each in sorted({*ids}) if each in tables.api_keys]
    return [tuple(getattr(key, name) for name in _KEY_COLUMNS) for key in found]


@writes(usage_storage._ADD, TEXT, INT4, TEXTS, DATES, INT8S, INT8S, INT8S, INT8S, INT8S)
def _add_usage(tables: Tables, worker: str, number: int, *columns: list[Any]) -> list[Any]:
    if number <= tables.api_key_usage_batches.get(worker, number - 1):
        return []
    tables.api_key_usage_batches[worker] = number
    added = []
    for key_id, day, *counts in zip(*columns, strict=True):
        if key_id in tables.api_keys:
            before = tables.api_key_usage.get((key_id, day), (0,) * len(counts))
            row = tuple(old + new for old, new in zip(before, counts, strict=True))
            tables.api_key_usage[key_id, day] = row
            added.append(row)
    return added


@writes(usage_storage._DELETE_OLD, DATE, INT8, tag="DELETE ")
def _delete_usage(tables: Tables, day: Any, most: int) -> list[Any]:
    old = [key for key in tables.api_key_usage if key[1] < day][:most]
    return [tables.api_key_usage.pop(key) for key in old]


@writes(usage_storage._DELETE_WORKERS, INT4, tag="DELETE ")
def _delete_workers(_: Tables, __: int) -> list[Any]:
    """No world lasts for days."""
    return []


def _types(_: Tables, oids: list[int]) -> list[Any]:
    """Tells the driver of the arrays that it does not know by itself."""
    return [
        (
            array.oid,
            "pg_catalog",
            f"_{item.oid}",
            "b",
            None,
            item.oid,
            ",",
            None,
            None,
            None,
            0,
            None,
            "",
            None,
        )
        for array, item in ARRAYS.items()
        if array.oid in oids
    ]


_TYPE_COLUMNS: Final = {
    "oid": INT4,
    "ns": TEXT,
    "name": TEXT,
    "kind": TEXT,
    "basetype": INT4,
    "elemtype": INT4,
    "elemdelim": TEXT,
    "range_subtype": INT4,
    "attrtypoids": OIDS,
    "attrnames": TEXTS,
    "depth": INT4,
    "basetype_name": TEXT,
    "elemtype_name": TEXT,
    "range_subtype_name": TEXT,
}
reads(introspection.INTRO_LOOKUP_TYPES_13, OIDS, **_TYPE_COLUMNS)(_types)
