"""Alerts, crossings and their events in a real PostgreSQL."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import asyncpg

from quotecast.bus.base import Memory
from quotecast.bus.redis import RedisBus
from quotecast.database.database import Database
from quotecast.market.crossings import Crossing
from quotecast.market.feeds import Feed
from support.made.market import state_of
from support.oracles.transactions import register_user
from support.runs.waits import until_answered
from support.stages.alert_store import AlertRow, Event

USER = f"{1:024x}"


async def put_alerts(url: str, database: Database, alerts: Iterable[AlertRow], **more: Any) -> None:
    """Adds the alerts of user 1, who has a webhook and two browsers."""
    await database.transaction(register_user(1))
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            "INSERT INTO webhooks (user_id, url, signing_secret) VALUES ($1, 'https://example.com', 's')",
            USER,
        )
        await connection.executemany(
            "INSERT INTO push_subscriptions (id, user_id, endpoint, p256dh, auth)"
            " VALUES ($1, $2, $3, '', '')",
            [(f"{number:024x}", USER, f"https://push/{number}") for number in range(2)],
        )
        await connection.executemany(
            "INSERT INTO alerts (id, user_id, kind, ticker, measure, direction, threshold, repeats, active,"
            " armed_at, by_webhook, by_push) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            [_row_of(alert, **more) for alert in alerts],
        )
    finally:
        await connection.close()


def _row_of(alert: AlertRow, *, webhook: bool = False, push: bool = False) -> tuple[Any, ...]:
    armed_at = datetime.fromtimestamp(alert.armed_at, UTC)
    place = alert.feed.spec.kind, alert.ticker, alert.measure, alert.direction
    return (
        f"{int(alert.id):024x}",
        USER,
        *place,
        alert.threshold,
        alert.repeats,
        alert.active,
        armed_at,
        webhook,
        push,
    )


async def put_crossings(bus: RedisBus, crossings: Sequence[Crossing], feed: Feed = Feed.STOCKS) -> None:
    """Adds crossings to Redis as a new epoch does."""
    assert await bus.hold(feed, "test", 60_000)
    assert await bus.begin("test", state_of([], feed=feed), Memory(crossings=crossings))


async def stored_events(url: str) -> list[Event]:
    """Returns all events in the order of their ids."""
    return [
        (str(int(row["alert_id"], 16)), round(row["at"], 4), row["value"])
        for row in await fetch(
            url,
            "SELECT alert_id, extract(epoch FROM happened_at)::float8 AS at, value FROM alert_events"
            " ORDER BY id",
        )
    ]


async def wait_for_lock(url: str) -> None:
    """Waits until a transaction waits for another's lock."""
    query = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    await until_answered(lambda: fetch(url, query))


async def fetch(url: str, query: str) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        rows: list[Any] = await connection.fetch(query)
    finally:
        await connection.close()
    return rows
