"""Browsers that take a user's events by Web Push."""

from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from litestar import delete, get, post
from litestar.params import FromPath
from msgspec import Meta, Struct

from quotecast.alerts import push, receivers
from quotecast.alerts.messages import iso_time
from quotecast.alerts.receivers import MAX_SUBSCRIPTIONS, Browser
from quotecast.alerts.urls import BadUrl
from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, Services, services_of
from quotecast.api.reference.account_operations import (
    AccountOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    taking,
)
from quotecast.api.reference.openapi import ID, described, refused
from quotecast.api.routes.bodies import body_of
from quotecast.database.ids import new_id, require_id
from quotecast.errors import InvalidValue, Problem, PushOff


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


_KEY: Final = (
    "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"  # of RFC 8291
)
_SHOWN: Final = Subscription(ID + "0" * 8, "push.example.net", "2026-11-20T15:30:00.000Z")
_GIVEN: Final = {
    "endpoint": "https://push.example.net/send/f0e1d2",
    "keys": {"p256dh": _KEY, "auth": "BTBZMqHH6r4Tts7J_aSIgg"},
}
_OFF: Final = refused(
    "The service has no key for Web Push, or accounts are unavailable",
    Problem("This service sends no notifications: it has no VAPID key", "push_off", ID),
    Problem("Account data is temporarily unavailable", "database", ID),
)
_FULL: Final = refused(
    "You have as many as you may", Problem(f"At most {MAX_SUBSCRIPTIONS} push subscriptions", "full", ID)
)


@get(
    "/push",
    operation_id="listPushSubscriptions",
    summary="Your subscribed browsers",
    operation_class=AccountOperation,
    responses=outcomes(200, Push, Push(_KEY, [_SHOWN]), "The oldest first", others={503: _OFF}),
)
async def subscriptions(request: HttpRequest) -> Answer:
    """Returns the service's key, with which a browser subscribes at its push service."""
    key = _public_key(services_of(request))
    found = await with_account(request, receivers.browsers)
    return answer(Push(key, [_shown(browser) for browser in found]))


@post(
    "/push",
    operation_id="createPushSubscription",
    summary="Subscribe a browser",
    operation_class=taking(NewSubscription, _GIVEN),
    responses=outcomes(
        201,
        Subscription,
        _SHOWN,
        "Subscribed",
        body=True,
        others={200: described(Subscription, _SHOWN, "It was subscribed already"), 409: _FULL, 503: _OFF},
    ),
)
async def subscribe(request: HttpRequest) -> Answer:
    """Takes what the browser's `pushManager.subscribe` gave; 200 if the service has it already."""
    services = services_of(request)
    _public_key(services)
    given = await body_of(request, NewSubscription)
    _check(services, given)
    now = services.wall_time()
    new = Browser(new_id(services.clock), given.endpoint, given.keys.p256dh, given.keys.auth, now)
    browser, is_new = await with_account(
        request, lambda account: receivers.add_browser(account, new), writing=True
    )
    return answer(_shown(browser), 201 if is_new else 200)


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
    await with_account(
        request, lambda account: receivers.remove_browser(account, subscription_id), writing=True
    )


def _public_key(services: Services) -> str:
    if services.alerts.public_key is None:
        raise PushOff
    return services.alerts.public_key


def _check(services: Services, given: NewSubscription) -> None:
    """Raises InvalidValue for an endpoint or keys to which nothing could be sent."""
    try:
        services.alerts.outbound.check(given.endpoint)
    except BadUrl as error:
        raise InvalidValue("endpoint", str(error)) from error
    if not push.is_public_key(_decoded("keys.p256dh", given.keys.p256dh)):
        raise InvalidValue("keys.p256dh", "Must be a public key of P-256")
    if len(_decoded("keys.auth", given.keys.auth)) != push.AUTH_BYTES:
        raise InvalidValue("keys.auth", f"Must be {push.AUTH_BYTES} bytes")


def _decoded(field: str, text: str) -> bytes:
    try:
        return push.decode(text)
    except ValueError as error:
        raise InvalidValue(field, "Must be base64url") from error


def _shown(browser: Browser) -> Subscription:
    service = urlsplit(browser.endpoint).hostname or ""
    return Subscription(browser.id, service, iso_time(browser.created_at))


HANDLERS: Final[list[Any]] = [subscriptions, subscribe, unsubscribe]
