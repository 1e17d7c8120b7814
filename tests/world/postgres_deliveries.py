"""The statements on deliveries of a simulated PostgreSQL, to webhooks alone."""

from datetime import timedelta
from typing import Any, Final

from msgspec.structs import replace

from quotecast.alerts import delivery_storage as storage
from world.postgres_data import Delivery, Tables, reads, writes
from world.postgres_types import BOOL, FLOAT8, INT4, INT8, INT8S, INTERVAL, TEXT, TEXTS, TIME

_COLUMNS: Final = {
    "delivery_id": INT8, "channel": TEXT, "target": TEXT, "attempts": INT4,
    "id": INT8, "user_id": TEXT, "alert_id": TEXT, "crossing": TEXT, "kind": TEXT, "ticker": TEXT,
    "measure": TEXT, "direction": TEXT, "threshold": FLOAT8, "note": TEXT, "value": FLOAT8,
    "price": FLOAT8, "happened_at": TIME,
    "url": TEXT, "signing_secret": TEXT, "p256dh": TEXT, "auth": TEXT,
}  # fmt: skip


@writes(storage._CLAIM, TEXTS, INT8, INT8, FLOAT8, tag="UPDATE ", id=INT8)
def _claim(tables: Tables, busy: list[str], most_rows: int, most: int, seconds: float) -> list[Any]:
    due = sorted((each for each in _due(tables) if each.user_id not in busy), key=lambda each: each.next_at)[
        :most_rows
    ]
    oldest: dict[str, Delivery] = {}
    for each in sorted(due, key=lambda each: (each.next_at, each.id)):
        oldest.setdefault(each.user_id, each)
    claimed = sorted(oldest.values(), key=lambda each: each.next_at)[:most]
    for each in claimed:
        _put(tables, each, next_at=tables.now + timedelta(seconds=seconds), attempts=each.attempts + 1)
    return [(each.id,) for each in claimed]


@reads(storage._READ, INT8S, **_COLUMNS)
def _read(tables: Tables, ids: list[int]) -> list[Any]:
    rows = []
    for delivery in (tables.alert_deliveries[each] for each in sorted(ids)):
        event, webhook = tables.alert_events[delivery.event_id], tables.webhooks[delivery.user_id]
        alert = tables.alerts[event.alert_id]
        rows.append(
            (
                delivery.id, "webhook", "", delivery.attempts,
                event.id, event.user_id, event.alert_id, event.crossing, alert.kind, event.ticker,
                alert.measure, alert.direction, alert.threshold, alert.note, event.value,
                event.price, event.happened_at,
                webhook.url, webhook.signing_secret, None, None,
            )
        )  # fmt: skip
    return rows


@writes(storage._SENT, INT8, INT4, tag="UPDATE ")
def _note_sent(tables: Tables, delivery_id: int, attempts: int) -> list[Any]:
    return [_put(tables, each, state="sent") for each in _claimed(tables, delivery_id, attempts)]


@writes(storage._RETRY, INT8, INT4, INTERVAL, TEXT, BOOL, INTERVAL, tag="UPDATE ", state=TEXT)
def _retry(tables: Tables, delivery_id: int, attempts: int, *changes: Any) -> list[Any]:
    delay, _, is_final, period = changes
    rows = []
    for each in _claimed(tables, delivery_id, attempts):
        next_at = tables.now + delay
        has_failed = is_final or next_at > each.created_at + period
        rows.append((_put(tables, each, state="failed" if has_failed else "waiting", next_at=next_at).state,))
    return rows


@writes(storage._WEBHOOK_SENT, TEXT, tag="UPDATE ")
def _webhook_sent(tables: Tables, user: str) -> list[Any]:
    """No world reads when a webhook had its last message."""
    return [user] if user in tables.webhooks else []


@writes(storage._WEBHOOK_FAILED, TEXT, TEXT, tag="UPDATE ")
def _webhook_failed(tables: Tables, user: str, _: str) -> list[Any]:
    """No world reads the last error of a webhook."""
    return [user] if user in tables.webhooks else []


@writes(storage._DROP, INT4, INT8, tag="DELETE ")
def _drop(_: Tables, __: int, ___: int) -> list[Any]:
    """No world lasts for days."""
    return []


@reads(storage._WAITING, count=INT8, seconds=FLOAT8)
def _waiting(tables: Tables) -> list[Any]:
    due = [each.next_at for each in _due(tables)]
    return [(len(due), (tables.now - min(due)).total_seconds() if due else 0.0)]


def _due(tables: Tables) -> list[Delivery]:
    return [
        each
        for each in tables.alert_deliveries.values()
        if each.state == "waiting" and each.next_at <= tables.now
    ]


def _claimed(tables: Tables, delivery_id: int, attempts: int) -> list[Delivery]:
    """Returns the delivery, if the claim with this number of attempts is its last one."""
    found = tables.alert_deliveries.get(delivery_id)
    return [found] if found is not None and found.attempts == attempts else []


def _put(tables: Tables, delivery: Delivery, **changes: Any) -> Delivery:
    changed = tables.alert_deliveries[delivery.id] = replace(delivery, **changes)
    return changed
