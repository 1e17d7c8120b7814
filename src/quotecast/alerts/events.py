"""A user's events: crossings that the user's alerts waited for."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from quotecast.database.database import row_as
from quotecast.database.tables import AlertEvent as Table
from quotecast.market.feeds import Kind
from quotecast.users.account import Account

_USERS_AFTER: Final = (
    "SELECT coalesce(max(id), $1) AS newest, coalesce(array_agg(DISTINCT user_id), '{}') AS users"
    " FROM alert_events WHERE id > $1"
)


class Event(Struct, frozen=True):
    """A crossing, with the alert's choices then; `value` is the measure after it."""

    id: int
    alert_id: str
    kind: Kind
    ticker: str
    measure: str
    direction: str
    threshold: float
    note: str
    value: float
    price: float
    happened_at: datetime


async def newest(account: Account, limit: int) -> list[Event]:
    """Returns the newest events, the oldest of them first."""
    rows = await account.select(Table, order_by=Table.id, ascending=False, limit=limit)
    return [row_as(Event, row) for row in reversed(rows)]


async def after(account: Account, event_id: int, limit: int) -> list[Event]:
    """Returns the events after an id, the oldest first."""
    rows = await account.select(Table, Table.id > event_id, order_by=Table.id, limit=limit)
    return [row_as(Event, row) for row in rows]


async def users_after(connection: Any, event_id: int | None) -> tuple[int, list[str]]:
    """Returns the newest event's id, and the users with events after an id; without one, no users.

    This is the work of one transaction on asyncpg's connection.
    """
    if event_id is None:
        return int(await connection.fetchval("SELECT coalesce(max(id), 0) FROM alert_events")), []
    row = await connection.fetchrow(_USERS_AFTER, event_id)
    return int(row["newest"]), list(row["users"])
