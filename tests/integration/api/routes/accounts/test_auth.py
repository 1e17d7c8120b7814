"""Registration, login and the profile, over a real PostgreSQL."""

import asyncio
import re
from typing import Any

import asyncpg
import httpx
import pytest
from argon2 import PasswordHasher

from quotecast.users import users
from support.runs.deadlines import scaled
from support.stages.account_service import FAST, PASSWORD, AccountService, account_service

REGISTER = "/api/auth/register"
LOGIN = "/api/auth/login"
PROFILE = "/api/auth/profile"
AYSE = {"name": "Ayşe", "email": "ayse@example.com", "password": PASSWORD}


async def log_in(service: AccountService, email: str, password: str = PASSWORD) -> httpx.Response:
    return await service.client.post(LOGIN, json={"email": email, "password": password})


async def rows(url: str) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        found: list[Any] = await connection.fetch("SELECT * FROM users ORDER BY id")
    finally:
        await connection.close()
    return found


def refusal(response: httpx.Response) -> tuple[int, str, list[str]]:
    """Returns status, detail and the named fields of a problem."""
    body = response.json()
    return response.status_code, body["detail"], [each["field"] for each in body.get("errors", [])]


async def test_who_registers_is_logged_in(service: AccountService) -> None:
    """The token of a registration gives access to the profile."""
    user = await service.register()
    response = await user.get(PROFILE)
    assert response.status_code == 200
    assert response.json() == {"id": user.id, "name": "Ayşe", "email": "ayse@example.com"}
    assert response.headers["cache-control"] == "no-store"


async def test_registering_answers_a_token_and_the_user(service: AccountService) -> None:
    """Registering answers a token and the user, and no-store."""
    response = await service.client.post(REGISTER, json=AYSE)
    assert response.status_code == 201
    body = response.json()
    assert list(body) == ["token", "user"]
    assert body["user"] == {"id": body["user"]["id"], "name": "Ayşe", "email": "ayse@example.com"}
    assert re.fullmatch("[0-9a-f]{24}", body["user"]["id"])
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["content-type"] == "application/json"


async def test_later_users_have_greater_ids(accounts_url: str) -> None:
    """Ids of users ascend in time."""
    moments = iter(range(1_795_188_600, 1_795_198_600))
    async with account_service(accounts_url, clock=lambda: float(next(moments))) as service:
        ids = [(await service.register(f"{number}@example.com")).id for number in range(5)]
    assert ids == sorted(ids)


async def test_logging_in_answers_the_same_shape(service: AccountService) -> None:
    """A login answers the same fields, with a new token."""
    user = await service.register()
    response = await log_in(service, AYSE["email"])
    assert response.status_code == 200
    assert list(response.json()) == ["token", "user"]
    assert response.json()["user"] == {"id": user.id, "name": "Ayşe", "email": "ayse@example.com"}
    assert response.json()["token"] != user.token


async def test_letter_case_and_blanks_make_no_other_email(service: AccountService) -> None:
    """An email is stored trimmed and in lower case, and matches in any spelling."""
    response = await service.client.post(REGISTER, json={**AYSE, "email": " \tAYSE@Example.COM\n"})
    assert response.json()["user"]["email"] == "ayse@example.com"
    assert (await log_in(service, "aYsE@EXAMPLE.com ")).status_code == 200
    again = await service.client.post(REGISTER, json={**AYSE, "email": "Ayse@example.com"})
    assert refusal(again) == (409, "Email already registered", [])


async def test_of_fifty_who_register_one_email_at_once_one_succeeds(
    accounts_url: str, service: AccountService
) -> None:
    """Of concurrent registrations of one email one succeeds; the others get 409."""

    def written(number: int) -> str:
        """Returns the email in another letter case."""
        letters = enumerate(AYSE["email"])
        return "".join(letter.upper() if number >> place & 1 else letter for place, letter in letters)

    calls = [service.client.post(REGISTER, json={**AYSE, "email": written(number)}) for number in range(50)]
    statuses = [response.status_code for response in await asyncio.gather(*calls)]
    assert sorted(statuses) == [201] + [409] * 49
    assert [row["email"] for row in await rows(accounts_url)] == ["ayse@example.com"]


async def test_nobody_gives_themselves_more_than_a_name(accounts_url: str, service: AccountService) -> None:
    """Fields of the row that are not in the body are ignored."""
    other = await service.register("other@example.com")
    more = {
        "id": other.id,
        "user_id": other.id,
        "role": "admin",
        "is_admin": True,
        "token_version": 9,
        "disabled": True,
        "password_hash": "$argon2id$",
        "created_at": "2000-01-01T00:00:00Z",
    }
    response = await service.client.post(REGISTER, json={**AYSE, **more})
    assert response.status_code == 201
    session = response.json()
    headers = {"authorization": f"Bearer {session['token']}"}
    renamed = await service.client.patch(
        PROFILE, json={"name": "Fatma", "email": "x@y", "password": "other password", **more}, headers=headers
    )
    assert renamed.json() == {"id": session["user"]["id"], "name": "Fatma", "email": AYSE["email"]}
    (row,) = [row for row in await rows(accounts_url) if row["email"] == AYSE["email"]]
    assert (row["id"], row["email"]) == (session["user"]["id"], AYSE["email"])
    assert (row["token_version"], row["disabled"], row["created_at"].year > 2000) == (0, False, True)
    assert (await log_in(service, AYSE["email"])).status_code == 200


async def test_a_new_name_is_kept_and_shown(service: AccountService) -> None:
    """A new name is stored trimmed, and only for its user."""
    user, other = await service.register(), await service.register("other@example.com")
    response = await user.ask("PATCH", PROFILE, json={"name": "  Ayşe Demir "})
    expected = {"id": user.id, "name": "Ayşe Demir", "email": user.email}
    assert (response.status_code, response.json()) == (200, expected)
    assert (await user.get(PROFILE)).json() == expected
    assert (await log_in(service, user.email)).json()["user"] == expected
    assert (await other.get(PROFILE)).json()["name"] == "Ayşe"


async def test_who_logs_out_ends_every_session(service: AccountService) -> None:
    """A logout revokes the user's tokens at once, and no others; a login gives a new one."""
    user, other = await service.register(), await service.register("other@example.com")
    response = await user.ask("PATCH", PROFILE, json={"end_sessions": True})
    expected = {"id": user.id, "name": "Ayşe", "email": user.email}
    assert (response.status_code, response.json()) == (200, expected)
    refused = await user.get(PROFILE)
    assert (refused.status_code, refused.json()["code"]) == (401, "invalid_token")
    assert (await other.get(PROFILE)).status_code == 200
    assert (await log_in(service, user.email)).status_code == 200


async def test_a_change_of_nothing_is_refused(service: AccountService) -> None:
    """An empty change is 422 that names the missing field, and the token stays valid."""
    user = await service.register()
    for body in ({}, {"end_sessions": False}):
        response = await user.ask("PATCH", PROFILE, json=body)
        assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "name")
    assert (await user.get(PROFILE)).status_code == 200


async def test_refused_login_gives_no_reason(service: AccountService) -> None:
    """Unknown email, wrong password and disabled user get equal answers."""
    await service.register()
    disabled = await service.register("disabled@example.com")
    async with asyncio.timeout(scaled(5)):
        await service.accounts.database.transaction(
            lambda run: users.set_disabled(run, disabled.email, disabled=True)
        )
    answers = [
        await log_in(service, "nobody@example.com"),
        await log_in(service, AYSE["email"], "wrong password"),
        await log_in(service, disabled.email),
    ]
    bodies = [{**each.json(), "request_id": ""} for each in answers]
    expected = {"detail": "Invalid email or password", "code": "wrong_credentials", "request_id": ""}
    assert bodies == [expected] * 3
    assert {each.status_code for each in answers} == {401}
    heads = [{**each.headers, "x-request-id": "", "content-length": ""} for each in answers]
    assert heads[0] == heads[1] == heads[2]
    assert (await disabled.get(PROFILE)).status_code == 401


class Counting(PasswordHasher):
    """Counts the hashes, which take the time."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.computed = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> Any:  # noqa: A002 - the library's name
        self.computed += 1
        return super().verify(hash, password)


async def test_every_login_takes_one_hash(accounts_url: str) -> None:
    """Every login takes one hash, so that timing reveals nothing."""
    hasher = Counting()
    async with account_service(accounts_url, hasher=hasher) as service:
        user = await service.register()
        for email, password in [
            (user.email, PASSWORD),
            (user.email, "wrong"),
            ("nobody@example.com", PASSWORD),
            ("no email at all", PASSWORD),
        ]:
            before = hasher.computed
            await log_in(service, email, password)
            assert hasher.computed == before + 1, email


@pytest.mark.parametrize("password", ["x", PASSWORD.upper(), f"{PASSWORD} ", PASSWORD[:-1], "🐎" * 128])
async def test_nothing_but_the_password_lets_in(service: AccountService, password: str) -> None:
    """Only the exact password logs in."""
    await service.register()
    assert (await log_in(service, AYSE["email"], password)).status_code == 401


async def test_an_older_hash_is_replaced_at_the_next_login(accounts_url: str) -> None:
    """A login replaces a hash with outdated costs; sessions stay valid."""
    older = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    async with account_service(accounts_url, hasher=older) as service:
        user = await service.register()
    async with account_service(accounts_url, hasher=FAST) as service:
        for _ in range(2):
            assert (await log_in(service, user.email)).status_code == 200
        (row,) = await rows(accounts_url)
        assert not FAST.check_needs_rehash(row["password_hash"])
        assert row["token_version"] == 0


async def test_guesses_at_a_password_are_bounded(service: AccountService) -> None:
    """After ten attempts from an address even the right password is 429 there, not elsewhere."""
    user = await service.register()
    for _ in range(10):
        assert (await log_in(service, user.email, "wrong")).status_code == 401
    for password in ("wrong", PASSWORD):
        refused = await log_in(service, user.email, password)
        assert (refused.status_code, refused.content) == (429, b'{"detail":"Too Many Requests"}')
        assert 890 <= int(refused.headers["retry-after"]) <= 900
        assert refused.headers["cache-control"] == "no-store"
    service.client.cookies.clear()
    body = {"email": user.email.upper(), "password": PASSWORD}
    elsewhere = await service.client.post(LOGIN, json=body, headers={"x-forwarded-for": "203.0.113.9"})
    assert elsewhere.status_code == 200


async def test_a_success_forgets_the_guesses_before(service: AccountService) -> None:
    """A success resets the failed attempts before it."""
    user = await service.register()
    for _ in range(3):
        for _ in range(9):
            assert (await log_in(service, user.email, "wrong")).status_code == 401
        assert (await log_in(service, user.email)).status_code == 200
