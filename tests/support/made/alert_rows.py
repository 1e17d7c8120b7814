"""Rows of alerts' tables, written past the service, as the engine would write them."""

from typing import Any, Final

import asyncpg

EVENT: Final = (
    "INSERT INTO alert_events (user_id, alert_id, crossing, kind, ticker, measure, direction, threshold,"
    " note, value, price, happened_at) SELECT $1, $2, $3, 'stock', 'AAPL', $4, $5, $6, '', $7, 300.02, now()"
    " RETURNING id"
)
SECRET: Final = "whsec_c2VjcmV0"
DELIVERY: Final = "INSERT INTO alert_deliveries (event_id, user_id, channel, target) VALUES ($1, $2, $3, $4)"
USER: Final = "INSERT INTO users (id, name, email, password_hash) VALUES ($1, 'Ayşe', $2, 'x')"


class AlertRows:
    """Writes and reads rows over a connection of its own."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._crossings = 0

    @classmethod
    async def connect(cls, url: str) -> "AlertRows":
        return cls(await asyncpg.connect(url))

    async def close(self) -> None:
        await self._connection.close()

    async def user(self, number: int = 1) -> str:
        user_id = f"{number:024x}"
        await self._connection.execute(USER, user_id, f"{number}@example.com")
        return user_id

    async def event(
        self, user_id: str, *, measure: str = "price", direction: str = "up", threshold: float = 300.0
    ) -> int:
        """Adds an event; the measure after the crossing is a little more than the threshold."""
        self._crossings += 1
        values = (measure, direction, threshold, threshold * 1.001)
        return int(await self._connection.fetchval(EVENT, user_id, "a" * 24, f"{self._crossings}-0", *values))

    async def webhook(self, user_id: str, url: str, secret: str = SECRET) -> None:
        await self.execute(
            "INSERT INTO webhooks (user_id, url, signing_secret) VALUES ($1, $2, $3)", user_id, url, secret
        )

    async def browser(self, user_id: str, endpoint: str, p256dh: str, auth: str) -> str:
        browser_id = f"{self._crossings:024x}"
        columns = "id, user_id, endpoint, p256dh, auth"
        await self.execute(
            f"INSERT INTO push_subscriptions ({columns}) VALUES ($1, $2, $3, $4, $5)",  # noqa: S608 - constant
            *(browser_id, user_id, endpoint, p256dh, auth),
        )
        return browser_id

    async def delivery(self, user_id: str, channel: str = "webhook", target: str = "") -> int:
        """Adds an event with a delivery; returns the event's id."""
        event_id = await self.event(user_id)
        await self.execute(DELIVERY, event_id, user_id, channel, target)
        return event_id

    async def make_due(self) -> None:
        """Moves every waiting delivery to now, as if its pause were over."""
        await self.execute("UPDATE alert_deliveries SET next_at = now() WHERE state = 'waiting'")

    async def deliveries(self) -> list[tuple[str, int, str]]:
        """Returns state, attempts and last error of each delivery, in their order."""
        rows = await self.fetch("SELECT state, attempts, last_error FROM alert_deliveries ORDER BY id")
        return [tuple(row) for row in rows]

    async def execute(self, statement: str, *values: Any) -> None:
        await self._connection.execute(statement, *values)

    async def fetch(self, query: str, *values: Any) -> list[Any]:
        rows: list[Any] = await self._connection.fetch(query, *values)
        return rows
