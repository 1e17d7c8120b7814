"""Sessions: what they show, and how they end, over a real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx
import pytest
import pytest_asyncio

from quotecast.database.ids import new_id
from quotecast.users import users
from support.stages.account_service import PASSWORD, AccountService, User, account_service, count_rows
from support.stages.caching import Clock

SESSIONS = "/api/auth/sessions"
LOGIN = "/api/auth/login"
PROFILE = "/api/auth/profile"
WEEK = 7 * 86_400


@pytest_asyncio.fixture
async def service(accounts_url: str, clock: Clock) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url, clock=clock, limited=True) as service:
        yield service


async def log_in(service: AccountService, user: User, **headers: str) -> User:
    body = {"email": user.email, "password": PASSWORD}
    response = await service.client.post(LOGIN, json=body, headers=headers)
    assert response.status_code == 200, response.text
    return User(service.client, response.json())


async def listed(user: User) -> list[dict[str, Any]]:
    response = await user.get(SESSIONS)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()
    return found


def is_void(response: httpx.Response) -> bool:
    return (response.status_code, response.json()["detail"]) == (401, "Invalid or expired token")


async def test_a_session_shows_device_network_and_times(service: AccountService, clock: Clock) -> None:
    """The newest is first, and the request's own one is marked."""
    user = await service.register()
    clock.now += 60
    phone = {"user-agent": "Phone/1.0", "x-forwarded-for": "203.0.113.77"}
    other = await log_in(service, user, **phone)
    newest, oldest = await listed(user)
    assert newest | {"id": ""} == {
        "id": "",
        "device": "Phone/1.0",
        "address": "203.0.113.0/24",
        "created_at": "2026-11-20T15:31:00.000Z",
        "expires_at": "2026-11-27T15:31:00.000Z",
        "current": False,
    }
    assert oldest["current"]
    assert [each["current"] for each in await listed(other)] == [True, False]


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        (b"", ""),
        (b"x" * 5000, "x" * 200),
        ("Gezgin/Ç ✓".encode(), "Gezgin/Ç ✓"),
        (b"a\tb\x7f\x85\xff<script>", "ab��<script>"),
        ("a\u202eb\u2028c".encode(), "abc"),
    ],
)
async def test_a_device_is_short_printable_text(service: AccountService, agent: bytes, device: str) -> None:
    """Control characters and those that change the direction of text are left out."""
    user = await service.register()
    headers = [(b"user-agent", agent)]
    await service.client.post(LOGIN, json={"email": user.email, "password": PASSWORD}, headers=headers)
    assert device in [each["device"] for each in await listed(user)]


@pytest.mark.parametrize(
    ("address", "network"),
    [("2001:db8:1:2:3::4", "2001:db8:1::/48"), ("198.51.100.200", "198.51.100.0/24")],
)
async def test_an_address_is_a_network(service: AccountService, address: str, network: str) -> None:
    user = await service.register()
    await log_in(service, user, **{"x-forwarded-for": address})
    assert network in [each["address"] for each in await listed(user)]


async def test_an_ended_session_is_void_at_once_on_every_worker(
    service: AccountService, accounts_url: str, clock: Clock
) -> None:
    """Reading and writing are refused, also where the token was valid a moment ago; others go on."""
    user = await service.register()
    thief = await log_in(service, user)
    async with account_service(accounts_url, clock=clock) as other_worker:
        there = User(other_worker.client, {"token": thief.token, "user": {"id": user.id, "email": ""}})
        assert (await there.get(PROFILE)).status_code == 200
        (stolen,) = [each["id"] for each in await listed(user) if not each["current"]]
        ended = await user.delete(f"{SESSIONS}/{stolen}")
        assert (ended.status_code, ended.content) == (204, b"")
        for token in (thief, there):
            assert is_void(await token.get(PROFILE))
            assert is_void(await token.ask("PATCH", PROFILE, json={"name": "Mallory"}))
            assert is_void(await token.get(SESSIONS))
    assert [each["current"] for each in await listed(user)] == [True]


async def test_an_ended_session_uses_no_slot_of_its_user(service: AccountService) -> None:
    """After its first refusal a void token counts by address."""
    user = await service.register()
    thief = await log_in(service, user)
    (stolen,) = [each["id"] for each in await listed(user) if not each["current"]]
    await user.delete(f"{SESSIONS}/{stolen}")
    answers = [await thief.get(PROFILE) for _ in range(12)]
    assert {answer.status_code for answer in answers} == {401, 429}
    assert (await user.get(PROFILE)).headers["x-ratelimit-remaining"] == "8"


async def test_ending_its_own_session_logs_out(service: AccountService) -> None:
    user = await service.register()
    (own,) = await listed(user)
    assert (await user.delete(f"{SESSIONS}/{own['id']}")).status_code == 204
    assert is_void(await user.get(PROFILE))
    assert len(await listed(await log_in(service, user))) == 1


async def test_sessions_of_others_are_not_found(service: AccountService) -> None:
    user, other = await service.register(), await service.register("other@example.com")
    (own,) = await listed(user)
    for session_id in (own["id"], own["id"].upper(), "0" * 24, "nonsense"):
        refused = await other.delete(f"{SESSIONS}/{session_id}")
        assert (refused.status_code, refused.json()["detail"]) == (404, "Session not found")
    assert await listed(user) == [own]
    assert [each["id"] for each in await listed(other)] != [own["id"]]


async def test_the_session_of_the_request_ends_by_its_name(service: AccountService) -> None:
    """`current` needs no list first; other sessions of the user last."""
    user = await service.register()
    other = await log_in(service, user)
    assert (await other.delete(f"{SESSIONS}/current")).status_code == 204
    assert is_void(await other.get(PROFILE))
    assert [each["current"] for each in await listed(user)] == [True]


async def test_a_session_of_another_user_makes_no_token_valid(service: AccountService) -> None:
    """Neither does one that never was."""
    user, other = await service.register(), await service.register("other@example.com")
    (foreign,) = await listed(other)
    issue = service.accounts.tokens.issue
    for session in (foreign["id"], new_id(lambda: 0.0)):
        user.token = issue(user.id, 0, session)
        assert is_void(await user.get(PROFILE))


async def test_the_end_of_all_sessions_empties_the_list(service: AccountService) -> None:
    """So does the operator's revocation."""
    user = await service.register()
    await log_in(service, user)
    assert (await user.ask("PATCH", PROFILE, json={"end_sessions": True})).status_code == 200
    user = await log_in(service, user)
    assert len(await listed(user)) == 1
    await service.accounts.database.transaction(lambda run: users.revoke_tokens(run, user.email))
    assert len(await listed(await log_in(service, user))) == 1


async def test_expired_sessions_are_not_listed_and_go_with_the_next_login(
    service: AccountService, clock: Clock, accounts_url: str
) -> None:
    user = await service.register()
    clock.now += WEEK - 1
    later = await log_in(service, user)
    assert len(await listed(later)) == 2
    clock.now += 1
    assert is_void(await user.get(PROFILE))
    assert len(await listed(later)) == 1
    await log_in(service, user)
    assert await count_rows(accounts_url, "sessions") == 2


async def test_one_more_session_ends_the_oldest(
    service: AccountService, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quotecast.users.sessions.MAX_SESSIONS", 3)
    user = await service.register()
    logins = []
    for _ in range(3):
        clock.now += 1
        logins.append(await log_in(service, user))
    assert is_void(await user.get(PROFILE))
    assert len(await listed(logins[0])) == 3


async def test_logins_at_once_leave_no_more_sessions_than_the_maximum(
    service: AccountService, accounts_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four logins check the password together, and then add their sessions one after another."""
    monkeypatch.setattr("quotecast.users.sessions.MAX_SESSIONS", 2)
    user, together, verify = await service.register(), asyncio.Barrier(4), service.accounts.passwords.verify

    async def verify_together(password_hash: str | None, password: str) -> bool:
        right = await verify(password_hash, password)
        await together.wait()
        return right

    monkeypatch.setattr(service.accounts.passwords, "verify", verify_together)
    await asyncio.gather(*(log_in(service, user) for _ in range(4)))
    assert await count_rows(accounts_url, "sessions") == 2


@pytest.mark.parametrize(
    "ends", [users.revoke_tokens, users.delete, partial(users.set_disabled, disabled=True)]
)
async def test_a_login_during_the_end_of_all_sessions_is_refused(
    service: AccountService, accounts_url: str, monkeypatch: pytest.MonkeyPatch, ends: Any
) -> None:
    """The sessions end after the login checked the password: it gets the answer for a wrong one."""
    user, verify = await service.register(), service.accounts.passwords.verify

    async def verify_slowly(password_hash: str | None, password: str) -> bool:
        right = await verify(password_hash, password)
        await service.accounts.database.transaction(lambda run: ends(run, user.email))
        return right

    monkeypatch.setattr(service.accounts.passwords, "verify", verify_slowly)
    answer = await service.client.post(LOGIN, json={"email": user.email, "password": PASSWORD})
    assert (answer.status_code, answer.json()["detail"]) == (401, "Invalid email or password")
    assert await count_rows(accounts_url, "sessions") == 0


async def test_a_login_of_a_user_who_goes_meanwhile_is_refused(service: AccountService) -> None:
    """Ten logins race the deletion: each succeeds or is refused, and no token works afterwards."""
    user = await service.register()
    gone = service.accounts.database.transaction(lambda run: users.delete(run, user.email))
    body = {"email": user.email, "password": PASSWORD}
    answers = await asyncio.gather(*(service.client.post(LOGIN, json=body) for _ in range(8)), gone)
    for answer in answers[:-1]:
        assert answer is not None
        assert answer.status_code in {200, 401}
        if answer.status_code == 200:
            assert is_void(await User(service.client, answer.json()).get(PROFILE))
