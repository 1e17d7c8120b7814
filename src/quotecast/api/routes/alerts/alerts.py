"""A user's alerts: what the service waits for."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from quotecast.alerts import alerts as stored
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
from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import require_token, with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import (
    SECURED,
    AccountOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    replayable,
    taking,
)
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.alerts import alert_events, alert_receivers
from quotecast.api.routes.bodies import body_of
from quotecast.api.routes.portfolio.watchlist import KindGiven, resolve_ticker
from quotecast.api.routes.retries import replay_key, run_once
from quotecast.database.ids import new_id, require_id
from quotecast.database.tables import Alert
from quotecast.errors import InvalidValue, NotFound, Problem
from quotecast.market import codec
from quotecast.market.feeds import Kind
from quotecast.users import rules
from quotecast.users.account import Account

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
    type: KindGiven = None
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


_GIVEN: Final = {"ticker": "AAPL", "condition": "rises", "value": 3, "window": "15m"}
_SHOWN: Final = AlertShown(
    id=ID + "0" * 8,
    ticker="AAPL",
    type="stock",
    condition="rises",
    value=3.0,
    window="15m",
    note="",
    repeats=False,
    webhook=False,
    push=False,
    active=True,
    created_at="2026-11-20T15:30:00.000Z",
    armed_at="2026-11-20T15:30:00.000Z",
)
_FULL: Final = refused(
    "You have as many as you may", Problem("You have the maximum of 100 alerts; delete one first", "full", ID)
)
_UNKNOWN: Final = refused("No feed has the symbol", Problem("Symbol not found", "symbol_not_found", ID))
_MISSING: Final = not_found("Alert")


@get(
    "/",
    operation_id="listAlerts",
    summary="Your alerts",
    operation_class=AccountOperation,
    responses=outcomes(200, list[AlertShown], [_SHOWN], "The newest first"),
)
async def alerts(request: HttpRequest) -> Answer:
    """Returns all alerts, paused ones too."""
    rows = await with_account(
        request, lambda account: account.select(Alert, order_by=Alert.id, ascending=False)
    )
    return answer([shown_alert(row) for row in rows])


@post(
    "/",
    operation_id="createAlert",
    summary="Add an alert",
    operation_class=taking(NewAlert, _GIVEN, headers=replayable()),
    responses=outcomes(
        201, AlertShown, _SHOWN, "The new alert", body=True, others={404: _UNKNOWN, 409: _FULL}
    ),
)
async def add(request: HttpRequest) -> Answer:
    """Waits for a price, or for its change, to cross a value.

    With an `Idempotency-Key`, a retry within 24 hours gets the same answer and adds nothing.
    """
    key = replay_key(request)
    given = await body_of(request, NewAlert)
    services = services_of(request)
    kind, ticker = resolve_ticker(services, given.ticker, given.type)
    values = {"id": new_id(services.clock), "kind": kind, "ticker": ticker, **values_of(given)}
    now = services.wall_time()
    most = services.alerts.per_user

    async def write(account: Account) -> None:
        await stored.create(account, now=now, most=most, **values)

    body = codec.encode_json(shown_alert({**values, "active": True, "created_at": now, "armed_at": now}))
    asked = codec.encode_json(("alert", kind, ticker, values_of(given)))
    return await run_once(request, key, asked, body, write)


@get(
    "/{alert_id:str}",
    operation_id="getAlert",
    summary="One alert",
    operation_class=AccountOperation,
    responses=outcomes(200, AlertShown, _SHOWN, "The alert", others={404: _MISSING}),
)
async def one(request: HttpRequest, alert_id: FromPath[str]) -> Answer:
    """Answers 404 for another user's alert too."""
    require_id("Alert", alert_id)
    return answer(shown_alert(await with_account(request, lambda account: _row(account, alert_id))))


@patch(
    "/{alert_id:str}",
    operation_id="updateAlert",
    summary="Change, pause or start an alert",
    operation_class=taking(AlertChange, {"value": 3.5, "active": True}),
    responses=outcomes(
        200, AlertShown, _SHOWN, "The alert after the change", body=True, others={404: _MISSING}
    ),
)
async def change(request: HttpRequest, alert_id: FromPath[str]) -> Answer:
    """Changes what is given. Another condition, and a start, count crossings from now on only."""
    require_id("Alert", alert_id)
    given = await body_of(request, AlertChange)
    now = services_of(request).wall_time()

    async def write(account: Account) -> Any:
        values = changed_values(given, before := await _row(account, alert_id))
        return await stored.change(account, alert_id, values, now) if values else before

    return answer(shown_alert(await with_account(request, write, writing=True)))


@delete(
    "/{alert_id:str}",
    operation_id="deleteAlert",
    summary="Remove an alert",
    operation_class=AccountOperation,
    responses=none_left("Removed", others={404: _MISSING}),
)
async def remove(request: HttpRequest, alert_id: FromPath[str]) -> None:
    """Removes an alert; its events stay."""
    require_id("Alert", alert_id)
    await with_account(request, lambda account: stored.remove(account, alert_id), writing=True)


async def _row(account: Account, alert_id: str) -> Any:
    rows = await account.select(Alert, Alert.id == alert_id)
    if not rows:
        raise NotFound("Alert")
    return rows[0]


BODIES: Final[tuple[type[Struct], ...]] = (
    NewAlert,
    AlertChange,
    alert_receivers.NewWebhook,
    alert_receivers.NewSubscription,
)

ROUTER: Final = Router(
    "/api/alerts",
    route_handlers=[
        alerts,
        add,
        one,
        change,
        remove,
        alert_events.events,
        *alert_receivers.HANDLERS,
    ],
    guards=[require_token],
    security=SECURED,
    tags=["Alerts"],
    opt={
        "tag": "Prices that you wait for, the events, and who receives them.",
        "feed": None,
        "live": True,
        "limit": "alerts",
    },
)


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
