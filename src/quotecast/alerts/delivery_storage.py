"""Statements of deliveries: each function is the work of one transaction on asyncpg's connection."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, Final

from msgspec import Struct

from quotecast.alerts.events import Event
from quotecast.database.database import row_as

#: Rows among which a claim is fair to users.
_LOOKED_AT: Final = 1000

#: The oldest delivery of each user that is due. A claim moves the time of the next try: an instance
#: that dies while it sends leaves the delivery to the others from then on.
_CLAIM: Final = """
    WITH due AS (
        SELECT id, user_id, next_at FROM alert_deliveries
        WHERE state = 'waiting' AND next_at <= now() AND user_id <> ALL($1::varchar[])
        ORDER BY next_at LIMIT $2
    ), fair AS (
        SELECT id FROM (
            SELECT DISTINCT ON (user_id) id, next_at FROM due ORDER BY user_id, next_at, id
        ) AS oldest
        ORDER BY next_at LIMIT $3
    ), claimed AS (
        SELECT id FROM alert_deliveries
        WHERE id IN (SELECT id FROM fair) AND state = 'waiting' AND next_at <= now()
        FOR UPDATE SKIP LOCKED
    )
    UPDATE alert_deliveries AS delivery
    SET next_at = now() + make_interval(secs => $4), attempts = delivery.attempts + 1
    FROM claimed WHERE delivery.id = claimed.id RETURNING delivery.id
"""
_READ: Final = """
    SELECT delivery.id AS delivery_id, delivery.channel, delivery.target, delivery.attempts, event.*,
        coalesce(webhook.url, browser.endpoint) AS url, webhook.signing_secret, browser.p256dh, browser.auth
    FROM alert_deliveries AS delivery
    JOIN alert_events AS event ON event.id = delivery.event_id
    JOIN users ON users.id = delivery.user_id AND NOT users.disabled
    LEFT JOIN webhooks AS webhook
        ON delivery.channel = 'webhook' AND webhook.user_id = delivery.user_id
    LEFT JOIN push_subscriptions AS browser
        ON delivery.channel = 'push' AND browser.id = delivery.target AND browser.user_id = delivery.user_id
    WHERE delivery.id = ANY($1::bigint[]) AND coalesce(webhook.url, browser.endpoint) IS NOT NULL
    ORDER BY delivery.id
"""
_FORGET: Final = "DELETE FROM alert_deliveries WHERE id = ANY($1::bigint[])"
_SENT: Final = "UPDATE alert_deliveries SET state = 'sent', last_error = '' WHERE id = $1 AND attempts = $2"
_RETRY: Final = """
    UPDATE alert_deliveries SET
        state = CASE WHEN $5 OR now() + $3 > created_at + $6 THEN 'failed' ELSE 'waiting' END,
        next_at = now() + $3, last_error = $4
    WHERE id = $1 AND attempts = $2 RETURNING state
"""
_WEBHOOK_SENT: Final = "UPDATE webhooks SET last_sent_at = now() WHERE user_id = $1"
_WEBHOOK_FAILED: Final = "UPDATE webhooks SET last_error = $2, last_error_at = now() WHERE user_id = $1"
_UNSUBSCRIBE: Final = "DELETE FROM push_subscriptions WHERE id = $1 AND user_id = $2 AND endpoint = $3"
_DROP: Final = """
    DELETE FROM alert_events WHERE id IN (
        SELECT id FROM alert_events WHERE happened_at < now() - make_interval(days => $1)
        ORDER BY happened_at LIMIT $2
    )
"""
_WAITING: Final = """
    SELECT count(*), coalesce(extract(epoch FROM now() - min(next_at)), 0)
    FROM alert_deliveries WHERE state = 'waiting' AND next_at <= now()
"""


class Claim(Struct, frozen=True):
    """A delivery that this instance sends now, with its event and the secrets of its receiver.

    `attempts` counts the tries with this one, and so names the claim: a later claim has another count.
    """

    delivery_id: int
    channel: str
    target: str
    attempts: int
    user_id: str
    url: str
    signing_secret: str | None
    p256dh: str | None
    auth: str | None
    event: Event

    def __repr__(self) -> str:
        """Omits the secrets, so that no log contains them."""
        return f"Claim(delivery_id={self.delivery_id}, attempts={self.attempts})"


async def claim(connection: Any, *, busy: Collection[str], count: int, lease_seconds: float) -> list[Claim]:
    """Claims up to `count` deliveries that are due, one of a user, and none of the `busy` users.

    Forgets deliveries whose receiver is gone.
    """
    rows = await connection.fetch(_CLAIM, [*busy], _LOOKED_AT, count, lease_seconds)
    claimed = [row["id"] for row in rows]
    if not claimed:
        return []
    rows = await connection.fetch(_READ, claimed)
    claims = [row_as(Claim, row, event=row_as(Event, row)) for row in rows]
    lost = {*claimed} - {each.delivery_id for each in claims}
    if lost:
        await connection.execute(_FORGET, [*lost])
    return claims


async def note_sent(connection: Any, sent: Claim) -> None:
    """Records a success."""
    await connection.execute(_SENT, sent.delivery_id, sent.attempts)
    if sent.channel == "webhook":
        await connection.execute(_WEBHOOK_SENT, sent.user_id)


async def note_failure(
    connection: Any, failed: Claim, problem: str, *, delay: timedelta, period: timedelta, is_final: bool
) -> bool:
    """Records a failure. Returns whether it was the last try: the next one would be after `period`."""
    state = await connection.fetchval(
        _RETRY, failed.delivery_id, failed.attempts, delay, problem, is_final, period
    )
    if failed.channel == "webhook":
        await connection.execute(_WEBHOOK_FAILED, failed.user_id, problem)
    return bool(state == "failed")


async def unsubscribe(connection: Any, gone: Claim) -> None:
    """Removes a browser that has unsubscribed, and the delivery."""
    await connection.execute(_UNSUBSCRIBE, gone.target, gone.user_id, gone.url)
    await connection.execute(_FORGET, [gone.delivery_id])


async def drop_expired(connection: Any, days: int, count: int) -> int:
    """Drops up to `count` events past retention, with their deliveries; returns how many it dropped."""
    return int((await connection.execute(_DROP, days, count)).rpartition(" ")[2])


async def overdue(connection: Any) -> tuple[int, float]:
    """Returns the number of deliveries that are due, and the seconds for which the oldest one is."""
    count, seconds = await connection.fetchrow(_WAITING)
    return int(count), float(seconds)
