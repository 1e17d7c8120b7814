"""The receivers of a user's events: the webhook to which the service posts them, and browsers by Web Push."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from litestar import delete, get, post, put
from litestar.params import FromPath
from msgspec import Meta, Struct
from msgspec.structs import asdict

from quotecast.alerts import alerts as stored
from quotecast.alerts import push, webhooks
from quotecast.alerts.alerts import MAX_SUBSCRIPTIONS, Browser, StoredWebhook
from quotecast.alerts.messages import iso_time, trial_message
from quotecast.alerts.urls import MAX_BYTES, BadUrl
from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, Services, services_of
from quotecast.api.reference.account_operations import (
    AccountOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    secret_answer,
    taking,
)
from quotecast.api.reference.openapi import ID, described, refused
from quotecast.api.routes.bodies import body_of
from quotecast.database.ids import new_id, require_id
from quotecast.errors import Busy, Full, InvalidValue, Problem, PushOff


class NewWebhook(Struct, frozen=True):
    """The body of a request that sets the webhook."""

    url: Annotated[
        str,
        Meta(
            description=f"An https:// URL with a public address, at most {MAX_BYTES} bytes, on port 443 or "
            "one from 1024 on"
        ),
    ]


class WebhookShown(Struct, frozen=True, kw_only=True):
    """The webhook and its last results; `waiting` and `failed` count deliveries."""

    url: str
    created_at: str
    waiting: int
    failed: int
    last_sent_at: str | None
    last_error: str | None
    last_error_at: str | None


class WebhookSecret(WebhookShown, frozen=True, kw_only=True):
    """A new webhook with its secret, which no later answer shows."""

    secret: str

    def __repr__(self) -> str:
        """Omits the secret, so that no log contains it."""
        return f"WebhookSecret(url={self.url!r})"


class Trial(Struct, frozen=True):
    """The outcome of a test: the receiver's status, or an error in words."""

    delivered: bool
    status: int | None
    error: str | None


class Keys(Struct, frozen=True):
    """The keys of a subscription, in base64url."""

    p256dh: Annotated[str, Meta(description="The browser's public key", max_length=100)]
    auth: Annotated[str, Meta(description="The browser's secret of 16 bytes", max_length=32)]


class NewSubscription(Struct, frozen=True):
    """A browser's `PushSubscription` as its `toJSON` gives it."""

    endpoint: Annotated[str, Meta(description="The URL at the browser's push service")]
    keys: Keys

    def __repr__(self) -> str:
        """Omits the endpoint and the keys, which let anybody send."""
        return "NewSubscription()"


class Subscription(Struct, frozen=True):
    """A subscribed browser; `service` is the host of its push service."""

    id: str
    service: str
    created_at: str


class Push(Struct, frozen=True):
    """The key for `applicationServerKey`, and the subscribed browsers."""

    public_key: str
    subscriptions: list[Subscription]


_URL: Final = "https://example.com/alerts"
_WEBHOOK: Final = WebhookShown(
    url=_URL,
    created_at="2026-11-20T15:30:00.000Z",
    waiting=1,
    failed=0,
    last_sent_at="2026-11-20T16:00:00.000Z",
    last_error="HTTP 500",
    last_error_at="2026-11-20T16:02:00.000Z",
)
_NEW_WEBHOOK: Final = WebhookSecret(
    **asdict(_WEBHOOK) | {"waiting": 0},
    secret="whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",  # noqa: S106 - the example of Standard Webhooks
)
_MISSING: Final = not_found("Webhook")
_PUBLIC_KEY: Final = (
    "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"  # of RFC 8291
)
_SUBSCRIPTION: Final = Subscription(ID + "0" * 8, "push.example.net", "2026-11-20T15:30:00.000Z")
_NEW_SUBSCRIPTION: Final = {
    "endpoint": "https://push.example.net/send/f0e1d2",
    "keys": {"p256dh": _PUBLIC_KEY, "auth": "BTBZMqHH6r4Tts7J_aSIgg"},
}
_OFF: Final = refused(
    "The service has no key for Web Push, or accounts are unavailable",
    Problem("This service sends no notifications: it has no VAPID key", "push_off", ID),
    Problem("Account data is temporarily unavailable", "database", ID),
)
_FULL: Final = refused(
    "You have as many as you may", Problem(str(Full(MAX_SUBSCRIPTIONS, "push subscriptions")), "full", ID)
)


@get(
    "/webhook",
    operation_id="getWebhook",
    summary="Your webhook",
    operation_class=AccountOperation,
    responses=outcomes(200, WebhookShown, _WEBHOOK, "The webhook", others={404: _MISSING}),
)
async def webhook(request: HttpRequest) -> Answer:
    """Returns the address, and how the last deliveries went; the secret stays hidden."""
    return answer(_webhook_shown(await with_account(request, stored.webhook), WebhookShown))


@put(
    "/webhook",
    operation_id="updateWebhook",
    summary="Set your webhook",
    operation_class=taking(NewWebhook, {"url": _URL}),
    responses=outcomes(200, WebhookSecret, _NEW_WEBHOOK, "The webhook with its new secret", body=True),
)
async def set_webhook(request: HttpRequest) -> Answer:
    """Replaces the webhook. Each time the answer has a new secret, which signs the posts."""
    given = await body_of(request, NewWebhook)
    services = services_of(request)
    url = given.url.strip()
    try:
        services.alerts.outbound.check(url)
    except BadUrl as error:
        raise InvalidValue("url", str(error)) from error
    now = services.wall_time()
    secret = webhooks.new_secret()
    receiver = await with_account(
        request, lambda account: stored.set_webhook(account, url, secret, now), writing=True
    )
    return secret_answer(_webhook_shown(receiver, WebhookSecret, secret=secret))


@delete(
    "/webhook",
    operation_id="deleteWebhook",
    summary="Remove your webhook",
    operation_class=AccountOperation,
    responses=none_left("Removed, with what it has not received", others={404: _MISSING}),
)
async def remove_webhook(request: HttpRequest) -> None:
    """Removes the webhook with its deliveries; events stay."""
    await with_account(request, stored.remove_webhook, writing=True)


@post(
    "/webhook/test",
    status_code=200,
    operation_id="testWebhook",
    summary="Test your webhook",
    operation_class=AccountOperation,
    responses=outcomes(200, Trial, Trial(False, 500, "HTTP 500"), "The result", others={404: _MISSING}),
)
async def test_webhook(request: HttpRequest) -> Answer:
    """Posts a signed message of type `test` once, and says how the receiver answered."""
    receiver = await with_account(request, stored.webhook)
    services = services_of(request)
    if services.alerts.trials.locked():
        raise Busy
    now = services.clock()
    async with services.alerts.trials:
        result = await webhooks.post(
            services.alerts.outbound,
            receiver.url,
            secret=receiver.signing_secret,
            message_id=f"test_{secrets.token_hex(12)}",
            now=now,
            body=trial_message(datetime.fromtimestamp(now, UTC)),
        )
    return answer(Trial(result.succeeded, result.status, result.problem or None))


@get(
    "/push",
    operation_id="listPushSubscriptions",
    summary="Your subscribed browsers",
    operation_class=AccountOperation,
    responses=outcomes(200, Push, Push(_PUBLIC_KEY, [_SUBSCRIPTION]), "The oldest first", others={503: _OFF}),
)
async def subscriptions(request: HttpRequest) -> Answer:
    """Returns the service's key, with which a browser subscribes at its push service."""
    key = _public_key(services_of(request))
    found = await with_account(request, stored.browsers)
    return answer(Push(key, [_browser_shown(browser) for browser in found]))


@post(
    "/push",
    operation_id="createPushSubscription",
    summary="Subscribe a browser",
    operation_class=taking(NewSubscription, _NEW_SUBSCRIPTION),
    responses=outcomes(
        201,
        Subscription,
        _SUBSCRIPTION,
        "Subscribed",
        body=True,
        others={
            200: described(Subscription, _SUBSCRIPTION, "It was subscribed already"),
            409: _FULL,
            503: _OFF,
        },
    ),
)
async def subscribe(request: HttpRequest) -> Answer:
    """Takes what the browser's `pushManager.subscribe` gave; 200 if the service has it already."""
    services = services_of(request)
    _public_key(services)
    given = await body_of(request, NewSubscription)
    try:
        services.alerts.outbound.check(given.endpoint)
    except BadUrl as error:
        raise InvalidValue("endpoint", str(error)) from error
    if not push.is_public_key(_decoded("keys.p256dh", given.keys.p256dh)):
        raise InvalidValue("keys.p256dh", "Must be a public key of P-256")
    if len(_decoded("keys.auth", given.keys.auth)) != push.AUTH_BYTES:
        raise InvalidValue("keys.auth", f"Must be {push.AUTH_BYTES} bytes")
    now = services.wall_time()
    new = Browser(new_id(services.clock), given.endpoint, given.keys.p256dh, given.keys.auth, now)
    browser, is_new = await with_account(
        request, lambda account: stored.add_browser(account, new), writing=True
    )
    return answer(_browser_shown(browser), 201 if is_new else 200)


@delete(
    "/push/{subscription_id:str}",
    operation_id="deletePushSubscription",
    summary="Unsubscribe a browser",
    operation_class=AccountOperation,
    responses=none_left("Unsubscribed", others={404: not_found("Push subscription")}),
)
async def unsubscribe(request: HttpRequest, subscription_id: FromPath[str]) -> None:
    """Removes a browser; it should unsubscribe at its push service too."""
    require_id("Push subscription", subscription_id)
    await with_account(request, lambda account: stored.remove_browser(account, subscription_id), writing=True)


def _webhook_shown(receiver: StoredWebhook, kind: Callable[..., WebhookShown], **more: Any) -> WebhookShown:
    return kind(
        url=receiver.url,
        created_at=iso_time(receiver.created_at),
        waiting=receiver.waiting,
        failed=receiver.failed,
        last_sent_at=iso_time(receiver.last_sent_at) if receiver.last_sent_at else None,
        last_error=receiver.last_error or None,
        last_error_at=iso_time(receiver.last_error_at) if receiver.last_error_at else None,
        **more,
    )


def _public_key(services: Services) -> str:
    if services.alerts.public_key is None:
        raise PushOff
    return services.alerts.public_key


def _decoded(field: str, text: str) -> bytes:
    try:
        return push.decode(text)
    except ValueError as error:
        raise InvalidValue(field, "Must be base64url") from error


def _browser_shown(browser: Browser) -> Subscription:
    service = urlsplit(browser.endpoint).hostname or ""
    return Subscription(browser.id, service, iso_time(browser.created_at))


HANDLERS: Final[list[Any]] = [
    webhook,
    set_webhook,
    remove_webhook,
    test_webhook,
    subscriptions,
    subscribe,
    unsubscribe,
]
