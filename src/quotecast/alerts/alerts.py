"""Storage of a user's alerts, and of the receivers of their events: a webhook, and browsers by Web Push.

Every write of an alert counts itself, by which an ingest notices it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from quotecast.database.database import row_as
from quotecast.database.tables import Alert, AlertDelivery, PushSubscription, Webhook
from quotecast.errors import Full, NotFound
from quotecast.users.account import Account

#: Changes after which earlier crossings are not events of an alert.
_ARMING: Final = {"ticker", "measure", "direction", "threshold"}
MAX_SUBSCRIPTIONS: Final = 10


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


class StoredWebhook(Struct, frozen=True):
    """A webhook and its last results; `waiting` and `failed` count deliveries."""

    url: str
    signing_secret: str
    created_at: datetime
    last_sent_at: datetime | None
    last_error: str
    last_error_at: datetime | None
    waiting: int = 0
    failed: int = 0

    def __repr__(self) -> str:
        """Omits the secret, so that no log contains it."""
        return f"StoredWebhook(url={self.url!r})"


class Browser(Struct, frozen=True):
    """A subscription to Web Push, with the keys that encrypt for it."""

    id: str
    endpoint: str
    p256dh: str
    auth: str
    created_at: datetime

    def __repr__(self) -> str:
        """Omits endpoint and keys, which let anybody send."""
        return f"Browser(id={self.id!r})"


async def webhook(account: Account) -> StoredWebhook:
    """Returns the user's webhook. Raises NotFound."""
    rows = await account.select(Webhook)
    if not rows:
        raise NotFound("Webhook")
    mine = AlertDelivery.channel == "webhook"
    waiting = await account.count(AlertDelivery, mine, AlertDelivery.state == "waiting")
    failed = await account.count(AlertDelivery, mine, AlertDelivery.state == "failed")
    return row_as(StoredWebhook, rows[0], waiting=waiting, failed=failed)


async def set_webhook(account: Account, url: str, secret: str, now: datetime) -> StoredWebhook:
    """Replaces the user's webhook, and forgets the results of the old one.

    The account must be opened with `writing`. Deliveries that still wait go to the new webhook.
    """
    await account.delete(Webhook)
    await account.insert(Webhook, url=url, signing_secret=secret, created_at=now)
    return await webhook(account)


async def remove_webhook(account: Account) -> None:
    """Deletes the webhook with its deliveries. Raises NotFound."""
    if not await account.delete(Webhook):
        raise NotFound("Webhook")
    await account.delete(AlertDelivery, AlertDelivery.channel == "webhook")


async def browsers(account: Account) -> list[Browser]:
    """Returns the user's browsers, in the order in which they subscribed."""
    rows = await account.select(PushSubscription, order_by=PushSubscription.id)
    return [row_as(Browser, row) for row in rows]


async def add_browser(account: Account, new: Browser) -> tuple[Browser, bool]:
    """Adds a browser, or renews the keys of a known one; returns it, and whether it is new. Raises Full.

    The account must be opened with `writing`, or two requests could both add the last one.
    """
    keys = {"p256dh": new.p256dh, "auth": new.auth}
    renewed = await account.update(PushSubscription, keys, PushSubscription.endpoint == new.endpoint)
    if renewed:
        return row_as(Browser, renewed[0]), False
    if await account.count(PushSubscription) >= MAX_SUBSCRIPTIONS:
        raise Full(MAX_SUBSCRIPTIONS, "push subscriptions")
    row = await account.insert(
        PushSubscription, id=new.id, endpoint=new.endpoint, created_at=new.created_at, **keys
    )
    return row_as(Browser, row), True


async def remove_browser(account: Account, browser_id: str) -> None:
    """Deletes a browser with its deliveries. Raises NotFound."""
    if not await account.delete(PushSubscription, PushSubscription.id == browser_id):
        raise NotFound("Push subscription")
    await account.delete(AlertDelivery, AlertDelivery.channel == "push", AlertDelivery.target == browser_id)
