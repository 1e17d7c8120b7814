"""No answer holds another user's data, whatever ids a user sends."""

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from support.made.alert_rows import AlertRows
from support.made.factories import alert_parts
from support.stages.account_service import PASSWORD, AccountService, User, account_service

HOLDINGS: Final = "/api/portfolio/holdings"
ALERTS: Final = "/api/alerts"
KEY: Final = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
SUBSCRIPTION: Final = {
    "endpoint": "https://push.example.net/somebody",
    "keys": {"p256dh": KEY, "auth": "BTBZMqHH6r4Tts7J_aSIgg"},
}
CANARY: Final = "a canary of the victim's"
#: Every operation for users: method, path, body. `{}` marks the place of an id.
REQUESTS: Final[tuple[tuple[str, str, Any], ...]] = (
    ("GET", "/api/auth/profile", None),
    ("GET", "/api/auth/profile?id={}", None),
    (
        "PATCH",
        "/api/auth/profile",
        {"name": "Mallory", "id": "{}", "user_id": "{}", "email": "m@example.com"},
    ),
    ("GET", "/api/auth/sessions", None),
    ("GET", "/api/auth/sessions?user_id={}", None),
    ("DELETE", "/api/auth/sessions/{}", None),
    ("GET", "/api/portfolio/export?user_id={}", None),
    ("GET", "/api/portfolio/value?user_id={}", None),
    ("GET", "/api/portfolio/transactions?user_id={}", None),
    ("DELETE", "/api/portfolio/transactions/{}", None),
    (
        "POST",
        "/api/portfolio/transactions",
        {"type": "fee", "ticker": "AAPL", "date": "2026-03-02", "amount": 1, "id": "{}", "user_id": "{}"},
    ),
    ("GET", "/api/portfolio/positions?user_id={}", None),
    ("GET", "/api/portfolio/performance?user_id={}", None),
    ("GET", "/api/portfolio/allocation?user_id={}", None),
    ("GET", "/api/portfolio/proposals?user_id={}", None),
    ("GET", HOLDINGS, None),
    ("GET", HOLDINGS + "?include=quote&user_id={}", None),
    ("GET", HOLDINGS + "/{}", None),
    ("POST", HOLDINGS, {"ticker": "AAPL", "shares": 1, "avg_cost": 1, "id": "{}", "user_id": "{}"}),
    ("PUT", HOLDINGS + "/{}", {"shares": 1}),
    ("PATCH", HOLDINGS + "/{}", {"shares": 1}),
    ("PATCH", HOLDINGS + "/{}", {"avg_cost": 1, "id": "{}", "user_id": "{}"}),
    ("DELETE", HOLDINGS + "/{}", None),
    ("GET", "/api/watchlist", None),
    ("GET", "/api/watchlist?user_id={}", None),
    ("POST", "/api/watchlist", {"ticker": "AAPL", "user_id": "{}", "position": 7}),
    ("DELETE", "/api/watchlist/{}", None),
    ("DELETE", "/api/watchlist/MSFT", None),
    ("GET", "/api/watchlist?list={}", None),
    ("POST", "/api/watchlist?list={}", {"ticker": "AAPL"}),
    ("PUT", "/api/watchlist/order?list={}", {"symbols": [{"ticker": "AAPL", "type": "stock"}]}),
    ("DELETE", "/api/watchlist/MSFT?list={}", None),
    ("GET", "/api/watchlists", None),
    ("GET", "/api/watchlists?user_id={}", None),
    ("PATCH", "/api/watchlists/{}", {"name": "Mallory's", "position": 1, "user_id": "{}"}),
    ("DELETE", "/api/watchlists/{}", None),
    ("GET", "/api/keys", None),
    ("GET", "/api/keys?user_id={}", None),
    ("GET", "/api/keys/usage?key_id={}&user_id={}", None),
    ("POST", "/api/keys", {"name": "mine", "id": "{}", "user_id": "{}", "plan": "anonymous"}),
    ("PATCH", "/api/keys/{}", {"name": "mine", "scope": {}, "user_id": "{}"}),
    ("POST", "/api/keys/{}/rotate", {"user_id": "{}"}),
    ("DELETE", "/api/keys/{}", None),
    ("GET", "/api/terminal/layout", None),
    ("GET", "/api/terminal/layout?user_id={}", None),
    ("PUT", "/api/terminal/layout", {"layout": {}, "user_id": "{}", "id": "{}"}),
    ("GET", ALERTS, None),
    ("GET", ALERTS + "?user_id={}", None),
    ("GET", ALERTS + "/{}", None),
    ("PATCH", ALERTS + "/{}", {"note": "mine", "active": False, "user_id": "{}"}),
    ("DELETE", ALERTS + "/{}", None),
    ("POST", ALERTS, {"ticker": "AAPL", "condition": "above", "value": 1, "id": "{}", "user_id": "{}"}),
    ("GET", ALERTS + "/events", None),
    ("GET", ALERTS + "/events?after=0&user_id={}", None),
    ("GET", ALERTS + "/webhook?user_id={}", None),
    ("PUT", ALERTS + "/webhook", {"url": "https://example.com/", "user_id": "{}"}),
    ("DELETE", ALERTS + "/webhook", None),
    ("POST", ALERTS + "/webhook/test", None),
    ("GET", ALERTS + "/push?user_id={}", None),
    ("POST", ALERTS + "/push", {**SUBSCRIPTION, "id": "{}", "user_id": "{}"}),
    ("DELETE", ALERTS + "/push/{}", None),
)


@pytest.fixture
async def service(accounts_url: str) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url, alerts=alert_parts(public_key=KEY)) as service:
        yield service


@pytest.fixture
async def victim(service: AccountService, accounts_url: str) -> User:
    """Returns a user with one item of each kind."""
    user = await service.register("victim@example.com", name=CANARY)
    await user.post(HOLDINGS, {"ticker": "MSFT", "shares": 31415.25, "avg_cost": 100})
    await user.post("/api/watchlist", {"ticker": "MSFT"})
    for name in (CANARY, "second"):
        symbols = [{"ticker": each, "type": "stock"} for each in ("MSFT", "AAPL")]
        await user.post("/api/watchlists", {"name": name, "symbols": symbols})
    await user.post("/api/keys", {"name": CANARY})
    await user.ask("PUT", "/api/terminal/layout", json={"layout": {"note": CANARY}})
    await user.post(ALERTS, {"ticker": "MSFT", "condition": "above", "value": 300, "note": CANARY})
    await user.ask("PUT", f"{ALERTS}/webhook", json={"url": "https://127.0.0.1:3250/victim"})
    await user.post(f"{ALERTS}/push", {**SUBSCRIPTION, "endpoint": "https://push.example.net/victim"})
    rows = await AlertRows.connect(accounts_url)
    await rows.event(user.id)
    await rows.close()
    return user


async def visible_data(user: User) -> list[str]:
    """Returns all of a user's data that the service shows to the user."""
    lists = [f"/api/watchlist?list={each['id']}" for each in (await user.get("/api/watchlists")).json()]
    paths = ("/api/auth/profile", HOLDINGS, "/api/watchlists", *lists, "/api/terminal/layout", "/api/keys")
    of_alerts = (ALERTS, f"{ALERTS}/events", f"{ALERTS}/webhook", f"{ALERTS}/push")
    return [(await user.get(path)).text for path in (*paths, *of_alerts)]


def fill_ids(value: Any, identity: str) -> Any:
    if isinstance(value, dict):
        return {name: fill_ids(each, identity) for name, each in value.items()}
    return value.replace("{}", identity) if isinstance(value, str) else value


async def test_users_cannot_reach_data_of_others(service: AccountService, victim: User) -> None:
    """A user can neither read nor change another's items by their ids."""
    before = await visible_data(victim)
    holding = (await victim.get(HOLDINGS)).json()[0]["id"]
    alert = (await victim.get(ALERTS)).json()[0]["id"]
    browser = (await victim.get(f"{ALERTS}/push")).json()["subscriptions"][0]["id"]
    mallory = await service.register("mallory@example.com", name="Mallory")
    watchlist = (await victim.get("/api/watchlists")).json()[1]["id"]
    key = (await victim.get("/api/keys")).json()[0]["id"]
    items = (holding, watchlist, alert, browser, key)
    for identity in (victim.id, *items, victim.id.upper(), f"{holding}%00"):
        for method, path, body in REQUESTS:
            answer = await mallory.ask(method, fill_ids(path, identity), json=fill_ids(body, identity))
            assert answer.status_code in {200, 201, 204, 404, 405, 422}, (method, path, answer.text)
            assert CANARY not in answer.text, (method, path)
            assert "31415.25" not in answer.text, (method, path)
            assert "/victim" not in answer.text, (method, path)
            assert victim.email not in answer.text, (method, path)
    assert await visible_data(victim) == before
    assert (await mallory.get("/api/auth/profile")).json()["id"] == mallory.id


async def test_extra_fields_give_no_rights(service: AccountService) -> None:
    """Extra fields, such as a user id or a role, change nothing."""
    rights = {"id": "0" * 24, "role": "admin", "is_admin": True, "disabled": False, "token_version": 7}
    body = {"name": "Mallory", "email": "mallory@example.com", "password": PASSWORD, **rights}
    session = (await service.client.post("/api/auth/register", json=body)).json()
    assert session["user"].keys() == {"id", "name", "email"}
    assert session["user"]["id"] != "0" * 24
    headers = {"authorization": f"Bearer {session['token']}"}
    renamed = await service.client.patch("/api/auth/profile", json=body | {"name": "M"}, headers=headers)
    assert renamed.json() == session["user"] | {"name": "M"}
