"""The statements on users and their events of a simulated PostgreSQL, as Piccolo writes them."""

from datetime import UTC, datetime
from typing import Any, Final

from piccolo.columns.combination import WhereRaw
from piccolo.query.base import Query

from quotecast.alerts import events
from quotecast.database.tables import AlertEvent, User
from world.postgres_data import Tables, reads
from world.postgres_types import BOOL, FLOAT8, INT4, INT8, TEXT, TEXTS, TIME, Type

#: Events of one answer.
LIMIT: Final = 100

_USER: Final[dict[str, Type]] = {
    "id": TEXT, "name": TEXT, "email": TEXT, "password_hash": TEXT, "token_version": INT4,
    "disabled": BOOL, "created_at": TIME,
}  # fmt: skip
_EVENT: Final[dict[str, Type]] = {
    "id": INT8, "user_id": TEXT, "alert_id": TEXT, "crossing": TEXT, "kind": TEXT, "ticker": TEXT,
    "measure": TEXT, "direction": TEXT, "threshold": FLOAT8, "note": TEXT, "value": FLOAT8,
    "price": FLOAT8, "happened_at": TIME,
}  # fmt: skip


def _text_of(query: Query[Any, Any]) -> str:
    (querystring,) = query.querystrings
    text: str = querystring.compile_string()[0]
    return text


_OPEN: Final = _text_of(
    User.select().where(
        User.id == "",
        WhereRaw(
            "EXISTS (SELECT 1 FROM sessions WHERE sessions.id = {} AND sessions.user_id = users.id)", ""
        ),
    )
)
_AFTER: Final = _text_of(
    AlertEvent.select()
    .where(AlertEvent.user_id == "", AlertEvent.id > 0)
    .order_by(AlertEvent.id, ascending=True)
    .limit(LIMIT)
)


@reads(_OPEN, TEXT, TEXT, **_USER)
def _open_account(tables: Tables, user: str, session: str) -> list[Any]:
    """Every user has logged in before the world began."""
    if tables.sessions.get(session) != user:
        return []
    return [(user, "a user", f"{user}@example.com", "", 0, False, datetime(2026, 11, 1, tzinfo=UTC))]


@reads(_AFTER, TEXT, INT8, **_EVENT)
def _events_after(tables: Tables, user: str, after: int) -> list[Any]:
    rows: list[Any] = []
    for event in sorted(tables.alert_events.values(), key=lambda each: each.id):
        if event.user_id == user and event.id > after and len(rows) < LIMIT:
            alert = tables.alerts[event.alert_id]
            rows.append(
                (
                    event.id, user, alert.id, event.crossing, alert.kind, event.ticker,
                    alert.measure, alert.direction, alert.threshold, alert.note, event.value,
                    event.price, event.happened_at,
                )
            )  # fmt: skip
    return rows


@reads("SELECT coalesce(max(id), 0) FROM alert_events", newest=INT8)
def _newest_event(tables: Tables) -> list[Any]:
    return [(max(tables.alert_events, default=0),)]


@reads(events._USERS_AFTER, INT8, newest=INT8, users=TEXTS)
def _users_after(tables: Tables, after: int) -> list[Any]:
    newer = {number: event.user_id for number, event in tables.alert_events.items() if number > after}
    return [(max(newer, default=after), sorted({*newer.values()}))]
