"""A user's webhook: the address to which the service posts the user's events."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from litestar import delete, get, post, put
from msgspec import Meta, Struct
from msgspec.structs import asdict

from quotecast.alerts import receivers, webhooks
from quotecast.alerts.messages import iso_time, trial_message
from quotecast.alerts.receivers import StoredWebhook
from quotecast.alerts.urls import MAX_BYTES, BadUrl
from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import (
    AccountOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    secret_answer,
    taking,
)
from quotecast.api.routes.bodies import body_of
from quotecast.errors import Busy, InvalidValue


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
    """What became of a test: the receiver's status, or an error in words."""

    delivered: bool
    status: int | None
    error: str | None


_URL: Final = "https://example.com/alerts"
_SHOWN: Final = WebhookShown(
    url=_URL,
    created_at="2026-11-20T15:30:00.000Z",
    waiting=1,
    failed=0,
    last_sent_at="2026-11-20T16:00:00.000Z",
    last_error="HTTP 500",
    last_error_at="2026-11-20T16:02:00.000Z",
)
_NEW: Final = WebhookSecret(
    **asdict(_SHOWN) | {"waiting": 0},
    secret="whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",  # noqa: S106 - the example of Standard Webhooks
)
_MISSING: Final = not_found("Webhook")


@get(
    "/webhook",
    operation_id="getWebhook",
    summary="Your webhook",
    operation_class=AccountOperation,
    responses=outcomes(200, WebhookShown, _SHOWN, "The webhook", others={404: _MISSING}),
)
async def webhook(request: HttpRequest) -> Answer:
    """Returns the address, and how the last deliveries went; the secret stays hidden."""
    return answer(_shown(await with_account(request, receivers.webhook), WebhookShown))


@put(
    "/webhook",
    operation_id="updateWebhook",
    summary="Set your webhook",
    operation_class=taking(NewWebhook, {"url": _URL}),
    responses=outcomes(200, WebhookSecret, _NEW, "The webhook with its new secret", body=True),
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
    stored = await with_account(
        request, lambda account: receivers.set_webhook(account, url, secret, now), writing=True
    )
    return secret_answer(_shown(stored, WebhookSecret, secret=secret))


@delete(
    "/webhook",
    operation_id="deleteWebhook",
    summary="Remove your webhook",
    operation_class=AccountOperation,
    responses=none_left("Removed, with what it has not received", others={404: _MISSING}),
)
async def remove_webhook(request: HttpRequest) -> None:
    """Removes the webhook with its deliveries; events stay."""
    await with_account(request, receivers.remove_webhook, writing=True)


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
    stored = await with_account(request, receivers.webhook)
    services = services_of(request)
    if services.alerts.trials.locked():
        raise Busy
    now = services.clock()
    async with services.alerts.trials:
        result = await webhooks.post(
            services.alerts.outbound,
            stored.url,
            secret=stored.signing_secret,
            message_id=f"test_{secrets.token_hex(12)}",
            now=now,
            body=trial_message(datetime.fromtimestamp(now, UTC)),
        )
    return answer(Trial(result.succeeded, result.status, result.problem or None))


def _shown(stored: StoredWebhook, kind: Callable[..., WebhookShown], **more: Any) -> WebhookShown:
    return kind(
        url=stored.url,
        created_at=iso_time(stored.created_at),
        waiting=stored.waiting,
        failed=stored.failed,
        last_sent_at=iso_time(stored.last_sent_at) if stored.last_sent_at else None,
        last_error=stored.last_error or None,
        last_error_at=iso_time(stored.last_error_at) if stored.last_error_at else None,
        **more,
    )


HANDLERS: Final[list[Any]] = [webhook, set_webhook, remove_webhook, test_webhook]
