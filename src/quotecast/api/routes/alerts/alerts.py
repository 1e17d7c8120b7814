"""A user's alerts: what the service waits for."""

from datetime import UTC, datetime
from typing import Any, Final

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath
from msgspec import Struct

from quotecast.alerts import alerts as stored
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
from quotecast.api.routes.alerts import alert_events, alert_push, alert_webhook
from quotecast.api.routes.alerts.alert_bodies import (
    AlertChange,
    AlertShown,
    NewAlert,
    changed_values,
    shown_alert,
    values_of,
)
from quotecast.api.routes.bodies import body_of
from quotecast.api.routes.portfolio.watchlist import resolve_ticker
from quotecast.api.routes.retries import replay_key, run_once
from quotecast.database.ids import ID_PATTERN, new_id
from quotecast.database.tables import Alert
from quotecast.errors import NotFound, Problem
from quotecast.market import codec
from quotecast.users.account import Account

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
_FULL: Final = refused("You have as many as you may", Problem("At most 100 alerts", "full", ID))
_UNKNOWN: Final = refused("No feed has the symbol", Problem("Symbol not found", "symbol_not_found", ID))
_MISSING: Final = not_found("Alert")


@get(
    "/",
    operation_id="listAlerts",
    summary="Your alerts",
    operation_class=AccountOperation,
    security=SECURED,
    responses=outcomes(200, list[AlertShown], [_SHOWN], "The newest first"),
)
async def alerts(request: HttpRequest) -> Answer:
    """Returns all alerts, paused ones too."""

    async def read(account: Account) -> list[Any]:
        return await account.select(Alert, order_by=Alert.id, ascending=False)

    return answer([shown_alert(row) for row in await with_account(request, read)])


@post(
    "/",
    operation_id="createAlert",
    summary="Add an alert",
    operation_class=taking(NewAlert, _GIVEN, headers=replayable()),
    security=SECURED,
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
    now = datetime.fromtimestamp(services.clock(), UTC)
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
    security=SECURED,
    responses=outcomes(200, AlertShown, _SHOWN, "The alert", others={404: _MISSING}),
)
async def one(request: HttpRequest, alert_id: FromPath[str]) -> Answer:
    """Answers 404 for another user's alert too."""
    wanted = _require_id(alert_id)
    return answer(shown_alert(await with_account(request, lambda account: _row(account, wanted))))


@patch(
    "/{alert_id:str}",
    operation_id="updateAlert",
    summary="Change, pause or start an alert",
    operation_class=taking(AlertChange, {"value": 3.5, "active": True}),
    security=SECURED,
    responses=outcomes(
        200, AlertShown, _SHOWN, "The alert after the change", body=True, others={404: _MISSING}
    ),
)
async def change(request: HttpRequest, alert_id: FromPath[str]) -> Answer:
    """Changes what is given. Another condition, and a start, count crossings from now on only."""
    wanted = _require_id(alert_id)
    given = await body_of(request, AlertChange)
    now = datetime.fromtimestamp(services_of(request).clock(), UTC)

    async def write(account: Account) -> Any:
        values = changed_values(given, before := await _row(account, wanted))
        return await stored.change(account, wanted, values, now) if values else before

    return answer(shown_alert(await with_account(request, write, writing=True)))


@delete(
    "/{alert_id:str}",
    operation_id="deleteAlert",
    summary="Remove an alert",
    operation_class=AccountOperation,
    security=SECURED,
    responses=none_left("Removed", others={404: _MISSING}),
)
async def remove(request: HttpRequest, alert_id: FromPath[str]) -> None:
    """Removes an alert; its events stay."""
    wanted = _require_id(alert_id)
    await with_account(request, lambda account: stored.remove(account, wanted), writing=True)


async def _row(account: Account, alert_id: str) -> Any:
    rows = await account.select(Alert, Alert.id == alert_id)
    if not rows:
        raise NotFound("Alert")
    return rows[0]


def _require_id(alert_id: str) -> str:
    if not ID_PATTERN.fullmatch(alert_id):
        raise NotFound("Alert")
    return alert_id


BODIES: Final[tuple[type[Struct], ...]] = (
    NewAlert,
    AlertChange,
    alert_webhook.NewWebhook,
    alert_push.NewSubscription,
)

ROUTER: Final = Router(
    "/api/alerts",
    route_handlers=[
        alerts,
        add,
        one,
        change,
        remove,
        *alert_events.HANDLERS,
        *alert_webhook.HANDLERS,
        *alert_push.HANDLERS,
    ],
    guards=[require_token],
    tags=["Alerts"],
    opt={
        "tag": "Prices that you wait for, the events, and who receives them.",
        "feed": None,
        "live": True,
        "limit": "alerts",
    },
)
