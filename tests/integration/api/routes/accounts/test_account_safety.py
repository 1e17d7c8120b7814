"""Change of the password and deletion of the account, over a real PostgreSQL."""

import asyncio
from typing import Any

import asyncpg
import httpx
import pytest

from quotecast.api.accounts.logins import PER_CLIENT, WINDOW_SECONDS
from quotecast.database.database import DEADLINE_SECONDS
from support.made.holdings import BOUGHT, HOLDINGS
from support.stages.account_service import PASSWORD, AccountService, User, account_service, count_rows
from support.stages.caching import Clock

CHANGE = "/api/auth/password"
PROFILE = "/api/auth/profile"
LOGIN = "/api/auth/login"
NEW = "another horse, another battery"
WRONG = (403, {"detail": "The password is wrong", "code": "wrong_password"})

MANY_EVENTS = """
    WITH events AS (
        INSERT INTO alert_events (
            user_id, alert_id, crossing, kind, ticker, measure, direction, threshold, value, price
        )
        SELECT $1, repeat('0', 24), number || '-0', 'stock', 'AAPL', 'price', 'up', 300, 301, 301
        FROM generate_series(1, 150000) AS number RETURNING id
    )
    INSERT INTO alert_deliveries (event_id, user_id, channel) SELECT id, $1, 'webhook' FROM events
"""


async def log_in(service: AccountService, user: User, password: str, **headers: str) -> httpx.Response:
    body = {"email": user.email, "password": password}
    service.client.cookies.clear()
    return await service.client.post(LOGIN, json=body, headers=headers)


async def change(user: User, current: Any = PASSWORD, new: Any = NEW) -> httpx.Response:
    return await user.post(CHANGE, {"current": current, "new": new})


async def delete(user: User, password: Any = PASSWORD) -> httpx.Response:
    return await user.ask("DELETE", PROFILE, json={"password": password})


def problem(response: httpx.Response) -> tuple[int, dict[str, Any]]:
    body = response.json()
    return response.status_code, {name: body[name] for name in ("detail", "code")}


async def test_a_new_password_ends_all_other_sessions(service: AccountService, user: User) -> None:
    """The answer has a new token, the only valid one; the old password is refused."""
    other = User(service.client, (await log_in(service, user, PASSWORD)).json())
    response = await change(user)
    assert response.status_code == 200
    assert response.json()["user"] == {"id": user.id, "name": "Ayşe", "email": user.email}
    assert "quotecast_device=" in response.headers["set-cookie"]
    for old in (user, other):
        assert (await old.get(PROFILE)).status_code == 401
    renewed = User(service.client, response.json())
    assert [each["current"] for each in (await renewed.get("/api/auth/sessions")).json()] == [True]
    assert (await log_in(service, user, PASSWORD)).status_code == 401
    assert (await log_in(service, user, NEW)).status_code == 200


async def test_a_wrong_password_changes_nothing(service: AccountService, user: User) -> None:
    """It is 403, not 401: the token stays valid."""
    assert problem(await change(user, "wrong horse")) == WRONG
    assert problem(await delete(user, "wrong horse")) == WRONG
    assert (await user.get(PROFILE)).status_code == 200
    assert (await log_in(service, user, PASSWORD)).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "current"),
        ({"current": PASSWORD}, "new"),
        ({"current": "", "new": NEW}, "current"),
        ({"current": PASSWORD, "new": "short"}, "new"),
        ({"current": PASSWORD, "new": "x" * 129}, "new"),
        ({"current": "x" * 129, "new": NEW}, "current"),
        ({"current": PASSWORD, "new": 12345678}, "new"),
    ],
)
async def test_a_bad_field_is_named(user: User, body: dict[str, Any], field: str) -> None:
    response = await user.post(CHANGE, body)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)


@pytest.mark.parametrize("attempt", [change, delete])
async def test_guesses_with_a_stolen_token_are_bounded(
    service: AccountService, user: User, attempt: Any
) -> None:
    """After ten guesses the right password is refused too, for fifteen minutes, also at the login.

    The owner's other sessions are not locked out.
    """
    owner = User(service.client, (await log_in(service, user, PASSWORD)).json())
    answers = await asyncio.gather(*(attempt(user, f"guess {number}") for number in range(30)))
    assert sorted({answer.status_code for answer in answers}) == [403, 429]
    assert sum(answer.status_code == 403 for answer in answers) == PER_CLIENT
    for blocked in (await attempt(user), await change(user), await delete(user)):
        assert (blocked.status_code, blocked.json()) == (429, {"detail": "Too Many Requests"})
        assert int(blocked.headers["retry-after"]) <= WINDOW_SECONDS
    stolen = {"authorization": f"Bearer {user.token}"}
    assert (await log_in(service, user, PASSWORD, **stolen)).status_code == 429
    assert (await attempt(owner, PASSWORD)).status_code in {200, 204}


async def test_right_passwords_reset_the_count(user: User, clock: Clock) -> None:
    for _ in range(PER_CLIENT - 1):
        await change(user, "wrong horse")
    assert problem(await change(user, "wrong horse")) == WRONG
    clock.now += 1
    assert (await change(user)).status_code == 429


async def test_of_two_changes_at_once_one_wins(service: AccountService, user: User) -> None:
    """The other finds that the password is no longer the present one, or its token void."""
    answers = await asyncio.gather(change(user, new="first horse"), change(user, new="second horse"))
    assert sorted(answer.status_code for answer in answers) in ([200, 401], [200, 403])
    logins = [await log_in(service, user, new) for new in ("first horse", "second horse")]
    assert sorted(login.status_code for login in logins) == [200, 401]


async def test_a_deleted_account_leaves_nothing(
    service: AccountService, user: User, accounts_url: str
) -> None:
    """Rows of all tables go, all tokens are void at once, and the email is free again."""
    other = User(service.client, (await log_in(service, user, PASSWORD)).json())
    await user.post(HOLDINGS, BOUGHT, headers={"idempotency-key": "one"})
    await user.post("/api/watchlist", {"ticker": "AAPL"})
    await user.ask("PUT", "/api/terminal/layout", json={"layout": {}})
    neighbour = await service.register("other@example.com")
    await neighbour.post(HOLDINGS, BOUGHT)
    response = await delete(user)
    assert (response.status_code, response.content) == (204, b"")
    for token in (user, other):
        assert (await token.get(HOLDINGS)).status_code == 401
        assert (await token.post(HOLDINGS, BOUGHT)).status_code == 401
    assert (await log_in(service, user, PASSWORD)).status_code == 401
    counts = {
        table: await count_rows(accounts_url, table)
        for table in ("users", "sessions", "holdings", "idempotency_keys", "watchlist", "layouts")
    }
    assert counts == {
        "users": 1,
        "sessions": 1,
        "holdings": 1,
        "idempotency_keys": 0,
        "watchlist": 0,
        "layouts": 0,
    }
    again = await service.register()
    assert again.id != user.id
    assert (await again.get(HOLDINGS)).json() == []
    assert (await user.get(HOLDINGS)).status_code == 401


@pytest.mark.slow
async def test_account_with_many_events_is_deleted(accounts_url: str, clock: Clock) -> None:
    """Repeating alerts have made more rows than one transaction deletes before its deadline."""
    async with account_service(accounts_url, clock=clock, deadline_seconds=DEADLINE_SECONDS) as service:
        user = await service.register()
        connection = await asyncpg.connect(accounts_url)
        try:
            await connection.execute(MANY_EVENTS, user.id)
        finally:
            await connection.close()
        response = await delete(user)
    assert (response.status_code, response.text) == (204, "")
    for table in ("users", "alert_events", "alert_deliveries"):
        assert await count_rows(accounts_url, table) == 0


async def test_deletion_needs_the_password(user: User) -> None:
    """A token alone deletes nothing."""
    for body in (None, {}, {"password": None}, {"password": ""}):
        response = await user.ask("DELETE", PROFILE, json=body)
        assert response.status_code in {400, 422}, body
    assert (await user.get(PROFILE)).status_code == 200
    anonymous = await user._client.request("DELETE", PROFILE, json={"password": PASSWORD})
    assert anonymous.status_code == 401
