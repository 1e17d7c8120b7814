"""Operators' logins and logouts at the same time as another one, or as a change of the operator."""

import asyncio
from typing import Any, Final

import httpx
import pytest

from quotecast.users.passwords import Passwords
from support.stages.operators import Operations, Session, operations

CHANGES: Final = [
    "UPDATE operators SET totp = 'another secret', totp_step = 0",
    "UPDATE users SET token_version = token_version + 1",
    "DELETE FROM operators",
    "DELETE FROM users",
]


async def login_during(
    service: Operations, monkeypatch: pytest.MonkeyPatch, statement: str, code: str
) -> httpx.Response:
    """Returns the answer of a login; the statement runs before the password is checked."""
    verify = Passwords.verify

    async def slow(self: Passwords, *given: Any) -> bool:
        async def change(connection: Any) -> None:
            await connection.execute(statement)

        await service.service.accounts.database.session(change)
        return await verify(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Passwords, "verify", slow)
        return await service.login(code=code)


@pytest.mark.parametrize("with_codes", [True, False])
@pytest.mark.parametrize("statement", CHANGES)
async def test_login_is_as_the_operator_is_at_its_end(
    accounts_url: str, monkeypatch: pytest.MonkeyPatch, statement: str, *, with_codes: bool
) -> None:
    """New codes, a new password, and the end of role or user refuse a login that began before them."""
    async with operations(accounts_url) as service:
        await service.operator(with_codes=with_codes)
        code = service.code if with_codes else ""
        answer = await login_during(service, monkeypatch, statement, code)
        assert answer.status_code == 401, answer.text


async def test_two_logouts_of_a_session_end_it(accounts_url: str) -> None:
    """Both are answered, and neither waits for PostgreSQL to find a deadlock."""
    async with operations(accounts_url) as service:
        await service.operator()
        for _ in range(5):
            session = await service.signed_in()
            answers = await asyncio.gather(*(session.post("/logout") for _ in range(4)))
            assert sorted(answer.status_code for answer in answers) == [204, 401, 401, 401]


async def test_logins_at_once_make_no_sixth_session(accounts_url: str) -> None:
    """An operator has five sessions at most, however many logins come together."""
    async with operations(accounts_url) as service:
        await service.operator()
        answers = []
        for _ in range(2):
            answers += await asyncio.gather(*(service.login() for _ in range(5)))
        sessions = [Session(service.client, each.json()["token"]) for each in answers]
        assert [(await each.get("/session")).status_code for each in sessions].count(200) == 5
