"""Identity of requests: which tokens are valid, and whose window counts a request."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from quotecast.access.plans import Plan
from quotecast.database.ids import new_id
from quotecast.users import users
from support.made.forged_tokens import FORGERIES, split_token
from support.stages.account_service import PASSWORD, SECRET, AccountService, account_service

LOGIN = "/api/auth/login"
PASSWORDS = "/api/auth/password"
PROFILE = "/api/auth/profile"
QUOTES = "/api/market/quotes?symbols=AAPL"


@pytest.fixture
async def limited(accounts_url: str) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url, limited=True) as service:
        yield service


async def get(service: AccountService, authorization: str | bytes, path: str = PROFILE) -> httpx.Response:
    return await service.client.get(path, headers=[(b"authorization", _raw(authorization))])


def _raw(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    return response.status_code, response.json()["detail"], response.headers.get("www-authenticate", "")


def left(response: httpx.Response) -> int:
    return int(response.headers["x-ratelimit-remaining"])


async def change(service: AccountService, work: Any) -> None:
    await service.accounts.database.transaction(work)


NOT_AUTHENTICATED = (401, "Not authenticated", "Bearer")
INVALID = (401, "Invalid or expired token", "Bearer")


async def test_without_a_token_nobody_is_known(service: AccountService) -> None:
    """Every account route answers 401 without the header, and with a header without a token."""
    assert refusal(await service.client.get(PROFILE)) == NOT_AUTHENTICATED
    assert refusal(await service.client.patch(PROFILE, json={"name": "x"})) == NOT_AUTHENTICATED
    for header in ("", " ", "Bearer", "bearer ", "Bearer   ", "Basic", "Bearer\t", b"\xff"):
        assert refusal(await get(service, header)) == NOT_AUTHENTICATED, header


async def test_a_forged_token_is_refused(service: AccountService) -> None:
    """All of them get the same answer, and never a server error."""
    good = split_token((await service.register()).token, SECRET)
    assert (await get(service, f"Bearer {good.sign()}")).status_code == 200
    for name, forged in FORGERIES.items():
        assert refusal(await get(service, b"Bearer " + _raw(forged(good)))) == INVALID, name


async def test_tokens_need_the_bearer_scheme(service: AccountService) -> None:
    """In any letter case, with any blanks; a good token under another scheme opens nothing."""
    token = (await service.register()).token
    for scheme in ("Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "):
        assert (await get(service, f"{scheme} {token}")).status_code == 200, scheme
    for header in (f"Basic {token}", f"Token {token}", f"Bearer: {token}", f"Bearer {token} {token}"):
        assert refusal(await get(service, header)) == INVALID, header


async def test_a_token_is_taken_from_its_header_alone(service: AccountService) -> None:
    """Not from the URL nor from a cookie, which others could store and send."""
    token = (await service.register()).token
    response = await service.client.get(
        PROFILE, params={"token": token, "access_token": token}, headers={"cookie": f"token={token}"}
    )
    assert refusal(response) == NOT_AUTHENTICATED


async def test_a_token_of_nobody_is_refused(service: AccountService) -> None:
    """Our own signature does not help a user who never existed or was deleted."""
    user = await service.register()
    issue = service.accounts.tokens.issue
    stranger = issue(new_id(lambda: 0.0), 0, new_id(lambda: 0.0))
    assert refusal(await get(service, f"Bearer {stranger}")) == INVALID
    await change(service, lambda run: users.delete(run, user.email))
    assert refusal(await user.get(PROFILE)) == INVALID
    assert refusal(await user.ask("PATCH", PROFILE, json={"name": "x"})) == INVALID


async def test_revoked_tokens_are_refused_at_once(service: AccountService) -> None:
    """All earlier tokens are void, for reading and for writing; a new login works."""
    user, other = await service.register(), await service.register("other@example.com")
    session = service.accounts.tokens.read(user.token).sid
    future = service.accounts.tokens.issue(user.id, 1, session)
    assert refusal(await get(service, f"Bearer {future}")) == INVALID
    await change(service, lambda run: users.revoke_tokens(run, user.email))
    assert refusal(await user.get(PROFILE)) == INVALID
    assert refusal(await user.ask("PATCH", PROFILE, json={"name": "x"})) == INVALID
    again = await service.client.post(LOGIN, json={"email": user.email, "password": PASSWORD})
    assert (await get(service, f"Bearer {again.json()['token']}")).status_code == 200
    assert (await other.get(PROFILE)).status_code == 200


@pytest.mark.parametrize("disabled", [True, False])
async def test_disabled_user_has_to_log_in_again(service: AccountService, *, disabled: bool) -> None:
    """After the user is enabled again, old tokens stay void."""
    user = await service.register()
    for state in (True, disabled):
        await change(service, lambda run, state=state: users.set_disabled(run, user.email, disabled=state))
    assert refusal(await user.get(PROFILE)) == INVALID
    again = await service.client.post(LOGIN, json={"email": user.email, "password": PASSWORD})
    assert again.status_code == (401 if disabled else 200)


async def test_another_password_ends_all_sessions(service: AccountService) -> None:
    """Only the new password opens a session."""
    user = await service.register()
    newer = await service.accounts.passwords.hash("another password")
    await change(service, lambda run: users.set_password(run, user.email, newer))
    assert refusal(await user.get(PROFILE)) == INVALID
    for password, status in ((PASSWORD, 401), ("another password", 200)):
        response = await service.client.post(LOGIN, json={"email": user.email, "password": password})
        assert response.status_code == status


async def test_a_token_ends_after_seven_days(accounts_url: str) -> None:
    """To the second, although the service read it before."""
    moment = [1_795_188_600.0]
    async with account_service(accounts_url, clock=lambda: moment[0]) as service:
        user = await service.register()
        moment[0] += 7 * 86_400 - 1
        assert (await user.get(PROFILE)).status_code == 200
        moment[0] += 1
        assert refusal(await user.get(PROFILE)) == INVALID


async def test_users_behind_one_address_have_windows_of_their_own(limited: AccountService) -> None:
    """A client there without a token has yet another window."""
    one, other = await limited.register(), await limited.register("other@example.com")
    assert [left(await one.get(QUOTES)) for _ in range(3)] == [119, 118, 117]
    assert left(await other.get(QUOTES)) == 119
    assert left(await limited.client.get(QUOTES)) == 119
    assert left(await one.get(QUOTES)) == 116


async def test_a_user_has_one_window_from_everywhere(limited: AccountService) -> None:
    """Another address and another token of the same user share the window."""
    user = await limited.register()
    again = await limited.client.post(LOGIN, json={"email": user.email, "password": PASSWORD})
    tokens = [user.token, again.json()["token"]]
    counted = [
        left(
            await limited.client.get(
                QUOTES, headers={"authorization": f"Bearer {token}", "x-forwarded-for": address}
            )
        )
        for token in tokens
        for address in ("203.0.113.1", "203.0.113.2", "2001:db8::1")
    ]
    assert counted == [119, 118, 117, 116, 115, 114]


async def test_a_revoked_token_uses_one_slot_of_its_owner(limited: AccountService) -> None:
    """A logged-out thief cannot use up the owner's window: after the first refusal the address counts."""
    user = await limited.register()
    await change(limited, lambda run: users.revoke_tokens(run, user.email))
    assert [(await user.get(PROFILE)).status_code for _ in range(12)] == [401] * 11 + [429]
    again = await limited.client.post(LOGIN, json={"email": user.email, "password": PASSWORD})
    answer = await get(limited, f"Bearer {again.json()['token']}")
    assert (answer.status_code, left(answer)) == (200, 8)


async def test_where_users_have_a_plan_an_ended_session_counts_by_address(accounts_url: str) -> None:
    """Public reads too: the user's window has another limit than that of everybody."""
    plans = {"anonymous": Plan(requests={"market": 2}), "user": Plan(requests={"market": 5})}
    async with account_service(accounts_url, limited=True, plans=plans) as service:
        user = await service.register()
        assert left(await user.get(QUOTES)) == 4
        await change(service, lambda run: users.revoke_tokens(run, user.email))
        await service.accounts.keys.book.step()
        again = await service.client.post(LOGIN, json={"email": user.email, "password": PASSWORD})
        answers = [await user.get(QUOTES) for _ in range(3)]
        assert [each.status_code for each in answers] == [200, 200, 429]
        assert (await service.client.get(QUOTES)).status_code == 429
        assert refusal(await user.get(PROFILE)) == INVALID
        assert left(await get(service, f"Bearer {again.json()['token']}", QUOTES)) == 3


async def test_a_change_of_the_password_empties_no_window(limited: AccountService) -> None:
    """Its own limit too counts the user of all tokens, whatever their version."""
    user = await limited.register()
    await user.get(PROFILE)
    answers = []
    for _ in range(11):
        answers.append(await user.post(PASSWORDS, {"current": PASSWORD, "new": PASSWORD}))
        user.token = answers[-1].json().get("token", user.token)
    assert [each.status_code for each in answers] == [200] * 10 + [429]
    assert left(await user.get(PROFILE)) == 8


async def test_a_window_of_an_account_route_ends_with_a_refusal(limited: AccountService) -> None:
    """Ten requests for a path in a minute, then Retry-After; another user is not affected."""
    user, other = await limited.register(), await limited.register("other@example.com")
    answers = [await user.get(PROFILE) for _ in range(11)]
    assert [each.status_code for each in answers] == [200] * 10 + [429]
    refused = answers[-1]
    assert refused.content == b'{"detail":"Too Many Requests"}'
    assert 0 < int(refused.headers["retry-after"]) == int(refused.headers["x-ratelimit-reset"]) <= 60
    assert (await other.get(PROFILE)).status_code == 200
    # The method makes no difference, so that a window is one path's.
    assert (await user.ask("PATCH", PROFILE, json={"name": "x"})).status_code == 429


@pytest.mark.parametrize("path", [LOGIN, "/api/auth/register"])
async def test_coming_in_is_counted_by_address(limited: AccountService, path: str) -> None:
    """A client with many tokens gets no more guesses."""
    user = await limited.register()
    bodies = ({"email": user.email, "password": "wrong", "name": str(number)} for number in range(99))

    async def ask(address: str, token: str | None) -> int:
        headers = {"x-forwarded-for": address, **({"authorization": f"Bearer {token}"} if token else {})}
        return left(await limited.client.post(path, json=next(bodies), headers=headers))

    assert [await ask("203.0.113.1", token) for token in (None, user.token, None)] == [9, 8, 7]
    assert await ask("203.0.113.2", user.token) == 9
    assert [await ask(f"2001:db8::{number}", user.token) for number in (1, 2)] == [9, 8]


async def test_a_bad_token_on_a_public_route_is_passed_over(limited: AccountService) -> None:
    """The request succeeds and counts by address, like one without a token."""
    good = split_token((await limited.register()).token, SECRET)
    before = left(await limited.client.get(QUOTES))
    for name, forged in FORGERIES.items():
        response = await get(limited, b"Bearer " + _raw(forged(good)), QUOTES)
        assert (response.status_code, left(response)) == (200, before - 1), name
        before -= 1


async def test_a_refused_token_is_counted_by_address(limited: AccountService) -> None:
    """So guesses at tokens are bounded too."""
    for number in range(10):
        assert refusal(await get(limited, f"Bearer {number}")) == INVALID
    assert (await get(limited, "Bearer more")).status_code == 429
