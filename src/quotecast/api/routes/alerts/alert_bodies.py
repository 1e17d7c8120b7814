"""Bodies of requests about alerts, their validation, and alerts as users see them."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from quotecast.alerts.conditions import (
    Condition,
    Threshold,
    Window,
    condition_of,
    threshold_of,
    value_of,
    window_of,
)
from quotecast.alerts.messages import iso_time
from quotecast.errors import InvalidValue
from quotecast.market.feeds import Feed, Kind
from quotecast.users import rules

_KINDS = ", ".join(feed.spec.kind for feed in Feed)

ConditionGiven = Annotated[
    Condition,
    Meta(description="`above` and `below` a price; `rises` and `falls` by a percentage in a window"),
]
Value = Annotated[
    float,
    Meta(
        description="A price above 0, in the quote's currency; or a percentage from 0.01 to 1000, of a fall "
        "at most 99.99",
        extra_json_schema={"exclusiveMinimum": 0, "exclusiveMaximum": 10**12},
    ),
]
WindowGiven = Annotated[
    Window | None,
    Meta(description="For `rises` and `falls`: the time of the change; `day` counts from the previous close"),
]
Note = Annotated[str, Meta(description=f"At most {rules.MAX_NOTE} characters; blanks around it do not count")]
Repeats = Annotated[
    bool, Meta(description="Whether each crossing is an event; otherwise the first one ends the alert")
]
ByWebhook = Annotated[bool, Meta(description="Whether events go to your webhook")]
ByPush = Annotated[bool, Meta(description="Whether events go to your subscribed browsers")]


class NewAlert(Struct, frozen=True):
    """The body of a request that adds an alert."""

    ticker: Annotated[str, Meta(description="A stock, pair, currency or metal, in any case")]
    condition: ConditionGiven
    value: Value
    type: Annotated[
        Kind | None, Meta(description=f"By default the first of {_KINDS} that has the ticker")
    ] = None
    window: WindowGiven = None
    note: Note = ""
    repeats: Repeats = False
    webhook: ByWebhook = False
    push: ByPush = False


class AlertChange(Struct, frozen=True):
    """The body of a request that changes an alert; a field that is not given stays."""

    condition: ConditionGiven | UnsetType = UNSET
    value: Value | UnsetType = UNSET
    window: WindowGiven | UnsetType = UNSET
    note: Note | UnsetType = UNSET
    repeats: Repeats | UnsetType = UNSET
    webhook: ByWebhook | UnsetType = UNSET
    push: ByPush | UnsetType = UNSET
    active: (
        Annotated[bool, Meta(description="`false` pauses the alert, `true` starts it again")] | UnsetType
    ) = UNSET


class AlertShown(Struct, frozen=True):
    """An alert; crossings since `armed_at` are its events. It is inactive after a pause or its only event."""

    id: str
    ticker: str
    type: Kind
    condition: Condition
    value: float
    window: Window | None
    note: str
    repeats: bool
    webhook: bool
    push: bool
    active: bool
    created_at: str
    armed_at: str


def values_of(given: NewAlert) -> dict[str, Any]:
    """Returns the columns of a new alert but for its id and symbol. Raises InvalidValue."""
    return {
        **structs.asdict(threshold_of(given.condition, given.value, given.window)),
        "note": rules.note(given.note),
        "repeats": given.repeats,
        "by_webhook": given.webhook,
        "by_push": given.push,
    }


def changed_values(given: AlertChange, before: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the columns that a request changes; `before` is the alert's row. Raises InvalidValue."""
    values: dict[str, Any] = {
        column: value
        for column, value in (
            ("repeats", given.repeats),
            ("by_webhook", given.webhook),
            ("by_push", given.push),
            ("active", given.active),
        )
        if value is not UNSET
    }
    if given.note is not UNSET:
        values["note"] = rules.note(given.note)
    if any(each is not UNSET for each in (given.condition, given.value, given.window)):
        values |= structs.asdict(_changed_threshold(given, before))
    return values


def shown_alert(row: Mapping[str, Any]) -> AlertShown:
    """Returns an alert's row as users see it."""
    condition = condition_of(row["measure"], row["direction"])
    return AlertShown(
        id=row["id"],
        ticker=row["ticker"],
        type=row["kind"],
        condition=condition,
        value=value_of(condition, row["threshold"]),
        window=window_of(row["measure"]),  # type: ignore[arg-type]  # the table admits no other
        note=row["note"],
        repeats=row["repeats"],
        webhook=row["by_webhook"],
        push=row["by_push"],
        active=row["active"],
        created_at=iso_time(row["created_at"]),
        armed_at=iso_time(row["armed_at"]),
    )


def _changed_threshold(given: AlertChange, before: Mapping[str, Any]) -> Threshold:
    old = condition_of(before["measure"], before["direction"])
    condition = old if given.condition is UNSET else given.condition
    to_price = condition in {"above", "below"}
    if given.value is UNSET and to_price != (before["measure"] == "price"):
        raise InvalidValue("value", "Must be given: a price and a percentage are not the same")
    value = value_of(old, before["threshold"]) if given.value is UNSET else given.value
    stays = None if to_price else window_of(before["measure"])
    return threshold_of(condition, value, stays if given.window is UNSET else given.window)
