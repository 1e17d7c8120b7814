"""Alerts of the user, their events and the webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quotecast_client.calls import Call, path, repeatable
from quotecast_client.rest_types import AlertShown, Events, Trial, WebhookSecret, WebhookShown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from quotecast_client._async.http import AsyncHttp
    from quotecast_client.rest_types import EventShown

#: Seconds that a request for events waits for one.
POLL_SECONDS = 25


class AsyncAlerts:
    """Alerts about prices and changes."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def all(self) -> list[AlertShown]:
        """Returns the alerts."""
        return await self._http.send(Call[list[AlertShown]]("GET", "/api/alerts"))

    async def add(
        self, ticker: str, condition: str, value: float, *, key: str | None = None, **options: Any
    ) -> AlertShown:
        """Adds an alert once, however often the request is repeated; `key` is its `Idempotency-Key`.

        `condition` is `above` or `below` a price, `rises` or `falls` by a percentage in a `window` (`5m`,
        `15m`, `1h`, `day`). Other options are `type`, `note`, `repeats`, `webhook` and `push`.
        """
        body = {"ticker": ticker, "condition": condition, "value": value, **options}
        return await self._http.send(
            Call[AlertShown]("POST", "/api/alerts", body=body, headers=repeatable(key))
        )

    async def change(self, alert: str, **fields: Any) -> AlertShown:
        """Changes fields of an alert; `active` pauses or starts it."""
        return await self._http.send(Call[AlertShown]("PATCH", path("/api/alerts/{}", alert), body=fields))

    async def remove(self, alert: str) -> None:
        """Removes an alert."""
        await self._http.send(Call[None]("DELETE", path("/api/alerts/{}", alert)))

    async def events(
        self, after: int | None = None, *, limit: int | None = None, wait: int | None = None
    ) -> Events:
        """Returns events after an id, the oldest first; without `after` the newest. It may wait for one."""
        query = {"after": after, "limit": limit, "wait": wait}
        return await self._http.send(
            Call[Events]("GET", "/api/alerts/events", query, patience=float(wait or 0))
        )

    async def follow(self, after: int | None = None) -> AsyncIterator[EventShown]:
        """Yields events indefinitely as they come, from now on or after an id; it misses none."""
        last = after if after is not None else (await self.events(limit=1))["last"]
        while True:
            answer = await self.events(last, wait=POLL_SECONDS)
            for event in answer["events"]:
                yield event
            last = answer["last"]

    async def webhook(self) -> WebhookShown:
        """Returns the webhook, with its last error."""
        return await self._http.send(Call[WebhookShown]("GET", "/api/alerts/webhook"))

    async def set_webhook(self, url: str) -> WebhookSecret:
        """Sets the webhook; only this answer has its secret, for `verify_webhook`."""
        return await self._http.send(Call[WebhookSecret]("PUT", "/api/alerts/webhook", body={"url": url}))

    async def remove_webhook(self) -> None:
        """Removes the webhook."""
        await self._http.send(Call[None]("DELETE", "/api/alerts/webhook"))

    async def test_webhook(self) -> Trial:
        """Posts a message to the webhook, and returns what the receiver answered."""
        return await self._http.send(Call[Trial]("POST", "/api/alerts/webhook/test"))
