"""Login attempts: the owner's known devices during an attack, and the answer to excess attempts."""

from collections.abc import AsyncIterator
from http.cookies import SimpleCookie

import httpx
import pytest

from quotecast.api.accounts.logins import PER_ACCOUNT, PER_CLIENT, WINDOW_SECONDS
from quotecast.api.routes.accounts.signed_in import COOKIE
from support.stages.account_service import PASSWORD, AccountService, User, account_service

LOGIN = "/api/auth/login"
PROFILE = "/api/auth/profile"
HOME = "198.51.100.7"


@pytest.fixture
async def service(accounts_url: str) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url, limited=True) as service:
        yield service


async def log_in(
    service: AccountService, user: User, password: str, address: str = HOME, **headers: str
) -> httpx.Response:
    """Logs in without stored cookies."""
    service.client.cookies.clear()
    return await service.client.post(
        LOGIN,
        json={"email": user.email, "password": password},
        headers={"x-forwarded-for": address, **headers},
    )


async def attack(service: AccountService, user: User) -> None:
    """Guesses from many addresses until the account's limit is exhausted."""
    for number in range(PER_ACCOUNT):
        assert (await log_in(service, user, "wrong", f"203.0.113.{number}")).status_code == 401


def device_cookie(response: httpx.Response) -> str:
    return f"{COOKIE}={response.cookies[COOKIE]}"


def window_of(response: httpx.Response) -> tuple[int, int, int]:
    limit, left, reset = (
        int(response.headers[f"x-ratelimit-{name}"]) for name in ("limit", "remaining", "reset")
    )
    return limit, left, reset


async def test_owner_logs_in_from_a_known_device_under_attack(service: AccountService) -> None:
    """A cookie or an earlier token lets the owner log in during an attack."""
    user = await service.register()
    cookie = device_cookie(await log_in(service, user, PASSWORD))
    await attack(service, user)
    assert (await log_in(service, user, PASSWORD)).status_code == 429
    for known in ({"cookie": cookie}, {"authorization": f"Bearer {user.token}"}):
        assert (await log_in(service, user, "typing error", **known)).status_code == 401
        assert (await log_in(service, user, PASSWORD, **known)).status_code == 200


async def test_expired_token_still_names_a_device(accounts_url: str) -> None:
    """An expired token still identifies a device."""
    moment = [1_795_188_600.0]
    async with account_service(accounts_url, clock=lambda: moment[0]) as service:
        user = await service.register()
        moment[0] += 30 * 86_400
        await attack(service, user)
        known = {"authorization": f"Bearer {user.token}"}
        assert (await user.get(PROFILE)).status_code == 401
        assert (await log_in(service, user, PASSWORD, **known)).status_code == 200


async def test_device_of_another_account_is_a_stranger(accounts_url: str) -> None:
    """A device of another account gives no attempts."""
    async with account_service(accounts_url) as service:
        user, thief = await service.register(), await service.register("thief@example.com")
        cookie = device_cookie(await log_in(service, thief, PASSWORD))
        known: list[dict[str, str]] = [{"cookie": cookie}, {"authorization": f"Bearer {thief.token}"}]
        tried = range(PER_CLIENT + 1)
        answers = [await log_in(service, user, "wrong", "203.0.113.9", **known[n % 2]) for n in tried]
        assert [answer.status_code for answer in answers] == [401] * PER_CLIENT + [429]
        assert (await log_in(service, user, "wrong")).status_code == 401


async def test_forged_devices_are_strangers(service: AccountService) -> None:
    """Forged devices give no attempts, and no server error."""
    user = await service.register()
    cookie = device_cookie(await log_in(service, user, PASSWORD))
    await attack(service, user)
    forged = [
        f"{cookie}x",
        cookie[:-2],
        f"{COOKIE}=",
        f"{COOKIE}=a.b.c",
        '"',
        f'{COOKIE}="\\',
        f"{cookie}; {cookie}x",
    ]
    for text in forged:
        assert (await log_in(service, user, PASSWORD, cookie=text)).status_code == 429, text


async def test_device_is_known_whatever_other_cookies_hold(service: AccountService) -> None:
    """Other cookies do not hide the device cookie."""
    user = await service.register()
    cookie = device_cookie(await log_in(service, user, PASSWORD))
    await attack(service, user)
    for other in ('a="\\"\\"', "{}", "=", "a b=c", f"x{COOKIE}=1"):
        assert (await log_in(service, user, PASSWORD, cookie=f"{other}; {cookie}")).status_code == 200, other


async def test_cookie_opens_nothing(service: AccountService) -> None:
    """The cookie gives no access."""
    user = await service.register()
    cookie = device_cookie(await log_in(service, user, PASSWORD))
    text = cookie.partition("=")[2]
    for headers in ({"cookie": cookie}, {"authorization": f"Bearer {text}"}):
        assert (await service.client.get(PROFILE, headers=headers)).status_code == 401


@pytest.mark.parametrize(("scheme", "secure"), [("http", False), ("https", True)])
async def test_cookie_stays_with_the_login_and_out_of_scripts(
    service: AccountService, scheme: str, *, secure: bool
) -> None:
    """The cookie is limited to `/api/auth`, to this site and to HTTP, and contains no email."""
    user = await service.register()
    response = await log_in(service, user, PASSWORD, **{"x-forwarded-proto": scheme})
    [morsel] = SimpleCookie(response.headers["set-cookie"]).values()
    assert (morsel["path"], morsel["samesite"]) == ("/api/auth", "Strict")
    assert morsel["httponly"]
    assert bool(morsel["secure"]) == secure
    assert user.email not in response.headers["set-cookie"]


async def test_refusal_of_guesses_is_one_answer(service: AccountService) -> None:
    """The headers of a refused attempt describe the limit of attempts; it uses no slot of the path."""
    user, other = await service.register(), await service.register("other@example.com")
    for number in range(PER_ACCOUNT):
        await log_in(service, user, "wrong", f"203.0.113.{number}")
    for _ in range(12):
        refused = await log_in(service, user, "wrong")
        assert (refused.status_code, refused.json()) == (429, {"detail": "Too Many Requests"})
        limit, left, reset = window_of(refused)
        assert (limit, left, reset) == (PER_ACCOUNT, 0, int(refused.headers["retry-after"]))
        assert WINDOW_SECONDS - 60 < reset <= WINDOW_SECONDS
    assert window_of(await log_in(service, other, PASSWORD))[:2] == (10, 9)


async def test_refusal_of_one_address_tells_of_its_own_bound(service: AccountService) -> None:
    """The headers describe the limit of the address: ten attempts in 15 minutes."""
    user, other = await service.register(), await service.register("other@example.com")
    for _ in range(PER_CLIENT):
        await service.accounts.logins.attempt(user.email).count_address(HOME)
    refused = await log_in(service, user, PASSWORD)
    limit, left, reset = window_of(refused)
    assert (limit, left, reset) == (PER_CLIENT, 0, int(refused.headers["retry-after"]))
    assert WINDOW_SECONDS - 60 < reset <= WINDOW_SECONDS
    assert window_of(await log_in(service, other, PASSWORD))[:2] == (10, 9)
