"""Events as users see them: in answers of the API, in webhooks and in notifications."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from quotecast.alerts.conditions import Condition, Window, condition_of, value_of, window_of
from quotecast.alerts.events import Event
from quotecast.market import codec
from quotecast.market.feeds import Kind


class EventShown(Struct, frozen=True):
    """A crossing that an alert waited for.

    `value` and `window` are the alert's; `measured` is the price after the crossing, or the change in the
    window in percent, which is negative for a fall.
    """

    id: int
    alert_id: str
    ticker: str
    type: Kind
    condition: Condition
    value: float
    window: Window | None
    note: str
    measured: float
    price: float
    happened_at: str


class EventMessage(Struct, frozen=True):
    """The body of a webhook and the payload of a notification (Standard Webhooks)."""

    type: Literal["alert.crossed", "test"]
    timestamp: str
    data: EventShown | Mapping[str, Any]


def shown_event(event: Event) -> EventShown:
    """Returns an event as users see it."""
    condition = condition_of(event.measure, event.direction)
    return EventShown(
        event.id,
        event.alert_id,
        event.ticker,
        event.kind,
        condition,
        value_of(condition, event.threshold),
        window_of(event.measure),  # type: ignore[arg-type]  # the table admits no other
        event.note,
        event.value,
        event.price,
        iso_time(event.happened_at),
    )


def message_of(event: Event) -> bytes:
    """Returns the message about an event, in JSON."""
    return codec.encode_json(EventMessage("alert.crossed", iso_time(event.happened_at), shown_event(event)))


def trial_message(now: datetime) -> bytes:
    """Returns a message that only tries a receiver."""
    return codec.encode_json(EventMessage("test", iso_time(now), {}))


def iso_time(moment: datetime) -> str:
    """Returns a time in ISO 8601 with milliseconds."""
    return codec.iso_utc(moment.timestamp())
