"""Storage of alerts. Every write counts itself, by which an ingest notices it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from quotecast.database.tables import Alert
from quotecast.errors import Full, NotFound
from quotecast.users.account import Account

#: Changes after which earlier crossings are no events of an alert.
_ARMING: Final = {"ticker", "measure", "direction", "threshold"}


async def create(account: Account, *, now: datetime, most: int, **values: Any) -> Any:
    """Adds an alert and returns its row. Raises Full at `most` of them.

    The account must be opened with `writing`, or two requests could both add the last one.
    """
    if await account.count(Alert) >= most:
        raise Full(most, "alerts")
    row = await account.insert(Alert, created_at=now, armed_at=now, **values)
    await account.note_alert_change(row["kind"])
    return row


async def change(account: Account, alert_id: str, values: Mapping[str, Any], now: datetime) -> Any:
    """Changes an alert and returns its row; another condition or a new start arms it. Raises NotFound."""
    rows = await account.select(Alert, Alert.id == alert_id)
    if not rows:
        raise NotFound("Alert")
    starts = values.get("active", False) and not rows[0]["active"]
    if starts:
        values = {**values, "events": 0}
    if starts or any(values[name] != rows[0][name] for name in _ARMING & values.keys()):
        values = {**values, "armed_at": now}
    # An ingest may have found a crossing meanwhile: what it wrote stays, unless these values say otherwise.
    changed = await account.update(Alert, values, Alert.id == alert_id)
    if not changed:
        raise NotFound("Alert")
    await account.note_alert_change(changed[0]["kind"])
    return changed[0]


async def remove(account: Account, alert_id: str) -> None:
    """Deletes an alert. Raises NotFound."""
    rows = await account.select(Alert, Alert.id == alert_id)
    if not await account.delete(Alert, Alert.id == alert_id):
        raise NotFound("Alert")
    await account.note_alert_change(rows[0]["kind"])
