"""A thief of a token guesses the password by the routes that ask for it."""

from collections.abc import AsyncIterator

import pytest_asyncio

from quotecast.api.accounts.logins import PER_CLIENT
from support.stages.account_service import PASSWORD, AccountService, User, account_service

CHANGE, PROFILE, LOGIN = "/api/auth/password", "/api/auth/profile", "/api/auth/login"


@pytest_asyncio.fixture
async def service(accounts_url: str) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url) as service:
        yield service


async def test_one_token_has_ten_guesses_from_all_addresses(service: AccountService) -> None:
    """The routes share the guesses with the login; the right password is refused after them."""
    user = await service.register()
    statuses = []
    for number in range(60):
        source = {"x-forwarded-for": f"203.0.113.{number}"}
        guess = f"guess {number}"
        if number % 3 == 0:
            answer = await user.post(CHANGE, {"current": guess, "new": "my own horse"}, headers=source)
        elif number % 3 == 1:
            answer = await user.ask("DELETE", PROFILE, json={"password": guess}, headers=source)
        else:
            answer = await user.post(LOGIN, {"email": user.email, "password": guess}, headers=source)
        statuses.append(answer.status_code)
    # A login without guesses left for its device is refused, as are the two other routes.
    assert sum(status in {401, 403} for status in statuses) == PER_CLIENT
    assert set(statuses[PER_CLIENT:]) == {429}
    assert (await user.ask("DELETE", PROFILE, json={"password": PASSWORD})).status_code == 429


async def test_no_other_user_gives_guesses(service: AccountService) -> None:
    """A token of one's own says nothing about another's password."""
    await service.register()
    thief = await service.register("thief@example.com")
    body = {"current": PASSWORD, "new": "my own horse", "email": "ayse@example.com", "user_id": "0" * 24}
    changed = User(service.client, (await thief.post(CHANGE, body)).json())
    assert changed.email == "thief@example.com"
    login = await service.client.post(LOGIN, json={"email": "ayse@example.com", "password": PASSWORD})
    assert login.status_code == 200
