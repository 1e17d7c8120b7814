"""Webhook and browsers of a user, over a real PostgreSQL."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakes.receiver import Receiver, Reply
from quotecast.alerts import push
from quotecast.alerts.outbound import Outbound
from quotecast.alerts.webhooks import signature
from support.made.alert_rows import AlertRows
from support.made.factories import alert_parts
from support.stages.account_service import AccountService, User, account_service

WEBHOOK = "/api/alerts/webhook"
PUSH = "/api/alerts/push"
KEY = push.Vapid(push.new_private_key(), "").public_key
SUBSCRIPTION = {
    "endpoint": "https://push.example.net/send/1",
    "expirationTime": None,
    "keys": {"p256dh": KEY, "auth": "BTBZMqHH6r4Tts7J_aSIgg"},
}


@pytest.fixture
async def service(accounts_url: str) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url, alerts=alert_parts(public_key=KEY)) as service:
        yield service


@pytest.fixture
async def rows(accounts_url: str) -> AsyncIterator[AlertRows]:
    rows = await AlertRows.connect(accounts_url)
    yield rows
    await rows.close()


async def set_webhook(user: User, url: str = "https://example.com/hook") -> dict[str, Any]:
    response = await user.ask("PUT", WEBHOOK, json={"url": url})
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()
    return shown


async def test_secret_is_shown_once(user: User) -> None:
    """A later answer leaves it out; another PUT makes another one."""
    assert (await user.get(WEBHOOK)).status_code == 404
    made = await set_webhook(user)
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert made == {
        "url": "https://example.com/hook",
        "created_at": "2026-11-20T15:30:00.000Z",
        "waiting": 0,
        "failed": 0,
        "last_sent_at": None,
        "last_error": None,
        "last_error_at": None,
    }
    shown = await user.get(WEBHOOK)
    assert shown.json() == made
    assert secret not in shown.text
    assert (await set_webhook(user))["secret"] != secret


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://example.com/", "Must be a URL that begins with https://"),
        ("https://127.0.0.1/", "Must be a public address"),
        ("https://[::1]/", "Must be a public address"),
        ("https://127.1/", "Must be an IP address in its usual form"),
        ("https://localhost/", "Must be a public host name"),
        ("https://user:secret@example.com/", "Must not have a user name or password"),
        ("https://example.com:22/", "Must have port 443, or one from 1024 on"),
        ("https://example.com/" + "a" * 2050, "Must have at most 2048 bytes"),
        ("example.com", "Must be a URL that begins with https://"),
        ("", "Must have visible ASCII characters only: write bücher.example as xn--bcher-kva.example"),
    ],
)
async def test_bad_address_is_answered_with_the_reason(accounts_url: str, url: str, message: str) -> None:
    """These are the rules of production."""
    async with account_service(accounts_url, alerts=alert_parts(outbound=Outbound())) as service:
        user = await service.register()
        response = await user.ask("PUT", WEBHOOK, json={"url": url})
        assert response.status_code == 422
        assert response.json()["errors"] == [{"field": "url", "message": message}]


async def test_last_results_and_counts_are_shown(user: User, rows: AlertRows) -> None:
    """A removed webhook takes its deliveries along."""
    await set_webhook(user)
    for state in ("waiting", "waiting", "failed", "sent"):
        event = await rows.delivery(user.id)
        await rows.execute("UPDATE alert_deliveries SET state = $1 WHERE event_id = $2", state, event)
    await rows.execute("UPDATE webhooks SET last_error = 'HTTP 500', last_error_at = '2026-11-20T15:31:00Z'")
    shown = (await user.get(WEBHOOK)).json()
    expected = {
        "waiting": 2,
        "failed": 1,
        "last_error": "HTTP 500",
        "last_error_at": "2026-11-20T15:31:00.000Z",
    }
    assert shown | expected == shown
    assert (await user.delete(WEBHOOK)).status_code == 204
    assert (await user.delete(WEBHOOK)).status_code == 404
    assert await rows.deliveries() == []


async def test_trial_says_how_the_receiver_answered(user: User) -> None:
    """The message is signed like an event's; a trial without a webhook is 404."""
    assert (await user.post(f"{WEBHOOK}/test", None)).status_code == 404
    receiver = Receiver()
    async with receiver.serve():
        secret = (await set_webhook(user, f"http://127.0.0.1:{receiver.port}/x"))["secret"]
        good = await user.post(f"{WEBHOOK}/test", None)
        receiver.reply = Reply(500, body=b"a secret of the receiver")
        bad = await user.post(f"{WEBHOOK}/test", None)
    away = await user.post(f"{WEBHOOK}/test", None)
    assert good.json() == {"delivered": True, "status": 204, "error": None}
    assert bad.json() == {"delivered": False, "status": 500, "error": "HTTP 500"}
    assert away.json() == {"delivered": False, "status": None, "error": "no connection"}
    received = receiver.received[0]
    assert json.loads(received.body) == {"type": "test", "timestamp": "2026-11-20T15:30:00.000Z", "data": {}}
    message_id, timestamp = received.headers["webhook-id"], int(received.headers["webhook-timestamp"])
    assert received.headers["webhook-signature"] == signature(secret, message_id, timestamp, received.body)


async def test_browser_subscribes_and_unsubscribes(user: User) -> None:
    """The same endpoint again renews its keys; answers have neither endpoint nor keys."""
    empty = await user.get(PUSH)
    assert empty.json() == {"public_key": KEY, "subscriptions": []}
    made = await user.post(PUSH, SUBSCRIPTION)
    shown = made.json()
    assert made.status_code == 201
    assert shown == {
        "id": shown["id"],
        "service": "push.example.net",
        "created_at": "2026-11-20T15:30:00.000Z",
    }
    other = push.Vapid(push.new_private_key(), "").public_key
    again = await user.post(PUSH, {**SUBSCRIPTION, "keys": {**SUBSCRIPTION["keys"], "p256dh": other}})  # type: ignore[dict-item]
    assert (again.status_code, again.json()) == (200, shown)
    listed = await user.get(PUSH)
    assert listed.json()["subscriptions"] == [shown]
    assert "send/1" not in listed.text
    assert (await user.delete(f"{PUSH}/{shown['id']}")).status_code == 204
    assert (await user.delete(f"{PUSH}/{shown['id']}")).status_code == 404
    assert (await user.delete(f"{PUSH}/nothing")).status_code == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"endpoint": "https://10.0.0.1/"}, "endpoint"),
        ({"endpoint": 5}, "endpoint"),
        ({"keys": {"p256dh": "AAAA", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}, "keys.p256dh"),
        ({"keys": {"p256dh": "ş!", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}, "keys.p256dh"),
        ({"keys": {"p256dh": KEY, "auth": "AAAA"}}, "keys.auth"),
    ],
)
async def test_subscription_that_cannot_work_is_refused(user: User, change: Any, field: str) -> None:
    response = await user.post(PUSH, SUBSCRIPTION | change)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)


async def test_ten_browsers_are_enough(user: User) -> None:
    for number in range(10):
        made = await user.post(PUSH, {**SUBSCRIPTION, "endpoint": f"https://push.example.net/{number}"})
        assert made.status_code == 201
    full = await user.post(PUSH, SUBSCRIPTION)
    assert (full.status_code, full.json()["detail"]) == (
        409,
        "You have the maximum of 10 push subscriptions; delete one first",
    )


async def test_service_without_a_key_sends_no_notifications(accounts_url: str) -> None:
    async with account_service(accounts_url) as service:
        user = await service.register()
        for response in (await user.get(PUSH), await user.post(PUSH, SUBSCRIPTION)):
            assert (response.status_code, response.json()["code"]) == (503, "push_off")
