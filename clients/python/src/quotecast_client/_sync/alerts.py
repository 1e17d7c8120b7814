# Made by scripts/make_sync.py from _async; not to be edited.
"""Alerts of the user, their events and the webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quotecast_client.calls import Call, path, repeatable
from quotecast_client.rest_types import AlertShown, Events, Trial, WebhookSecret, WebhookShown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quotecast_client._sync.http import Http
    from quotecast_client.rest_types import EventShown

#: Seconds that a request for events waits for one.
POLL_SECONDS = 25


class Alerts:
    """Alerts about prices and changes."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def all(self) -> list[AlertShown]:
        """Returns the alerts."""
        return self._http.send(Call[list[AlertShown]]("GET", "/api/alerts"))

    def add(
        self, ticker: str, condition: str, value: float, *, key: str | None = None, **options: Any
    ) -> AlertShown:
        """Adds an alert once, however often the request is repeated; `key` is its `Idempotency-Key`.

        `condition` is `above` or `below` a price, `rises` or `falls` by a percentage in a `window` (`5m`,
        `15m`, `1h`, `day`). Other options are `type`, `note`, `repeats`, `webhook` and `push`.
        """
        body = {"ticker": ticker, "condition": condition, "value": value, **options}
        return self._http.send(Call[AlertShown]("POST", "/api/alerts", body=body, headers=repeatable(key)))

    def change(self, alert: str, **fields: Any) -> AlertShown:
        """Changes fields of an alert; `active` pauses or starts it."""
        return self._http.send(Call[AlertShown]("PATCH", path("/api/alerts/{}", alert), body=fields))

    def remove(self, alert: str) -> None:
        """Removes an alert."""
        self._http.send(Call[None]("DELETE", path("/api/alerts/{}", alert)))

    def events(
        self, after: int | None = None, *, limit: int | None = None, wait: int | None = None
    ) -> Events:
        """Returns events after an id, the oldest first; without `after` the newest. It may wait for one."""
        query = {"after": after, "limit": limit, "wait": wait}
        return self._http.send(Call[Events]("GET", "/api/alerts/events", query, patience=float(wait or 0)))

    def follow(self, after: int | None = None) -> Iterator[EventShown]:
        """Yields events indefinitely as they come, from now on or after an id; it misses none."""
        last = after if after is not None else (self.events(limit=1))["last"]
        while True:
            answer = self.events(last, wait=POLL_SECONDS)
            for event in answer["events"]:
                yield event
            last = answer["last"]

    def webhook(self) -> WebhookShown:
        """Returns the webhook, with its last error."""
        return self._http.send(Call[WebhookShown]("GET", "/api/alerts/webhook"))

    def set_webhook(self, url: str) -> WebhookSecret:
        """Sets the webhook; only this answer has its secret, for `verify_webhook`."""
        return self._http.send(Call[WebhookSecret]("PUT", "/api/alerts/webhook", body={"url": url}))

    def remove_webhook(self) -> None:
        """Removes the webhook."""
        self._http.send(Call[None]("DELETE", "/api/alerts/webhook"))

    def test_webhook(self) -> Trial:
        """Posts a message to the webhook, and returns what the receiver answered."""
        return self._http.send(Call[Trial]("POST", "/api/alerts/webhook/test"))
