"""The window of login attempts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from account_service import LocalLimits
from quotecast.api.logins import PER_ACCOUNT, PER_ADDRESS, WINDOW_SECONDS, LoginWindow, unlimited
from quotecast.errors import TooManyRequests

EMAIL = "ayse@example.com"
HOME = "198.51.100.7"


def window() -> LoginWindow:
    limits = LocalLimits(WINDOW_SECONDS)
    return LoginWindow(limits.check, limits.forget)


async def may(logins: LoginWindow, address: str = HOME, email: str = EMAIL) -> bool:
    try:
        await logins.attempt(email, address)
    except TooManyRequests:
        return False
    return True


async def attacked() -> LoginWindow:
    """An account at which all the world has guessed, each from another address."""
    logins = window()
    for number in range(PER_ACCOUNT + 50):
        assert await may(logins, f"203.0.113.{number}")
    return logins


async def test_an_address_has_its_attempts_and_no_more() -> None:
    """It is told when to come back: once the oldest of them has left the window."""
    logins = window()
    assert [await may(logins) for _ in range(PER_ADDRESS)] == [True] * PER_ADDRESS
    with pytest.raises(TooManyRequests) as refused:
        await logins.attempt(EMAIL, HOME)
    assert WINDOW_SECONDS - 5 < refused.value.retry_after <= WINDOW_SECONDS


async def test_guesses_elsewhere_and_at_others_are_not_ones_own() -> None:
    """The owner logs in from home while a stranger has used up what is his."""
    logins = window()
    while await may(logins, "203.0.113.1"):
        pass
    assert await may(logins, HOME)
    assert await may(logins, "203.0.113.1", "mehmet@example.com")


async def test_the_owner_of_an_attacked_account_has_one_try() -> None:
    """From an address that has not guessed yet; a second one is refused."""
    logins = await attacked()
    assert await may(logins)
    with pytest.raises(TooManyRequests) as refused:
        await logins.attempt(EMAIL, HOME)
    assert WINDOW_SECONDS - 5 < refused.value.retry_after <= WINDOW_SECONDS


async def test_success_forgets_what_led_there() -> None:
    """Also the attack: who has logged in may mistype tomorrow."""
    logins = await attacked()
    assert await may(logins)
    await logins.succeeded(EMAIL, HOME)
    assert [await may(logins) for _ in range(PER_ADDRESS)] == [True] * PER_ADDRESS
    assert not await may(logins)


async def test_success_forgets_nobody_elses_guesses() -> None:
    """An attacker who was refused stays refused."""
    logins = window()
    while await may(logins, "203.0.113.1"):
        pass
    await logins.succeeded(EMAIL, HOME)
    assert not await may(logins, "203.0.113.1")


@pytest.mark.parametrize("email", [f"{HOME} {EMAIL}", f"* {EMAIL}", f"{HOME} * {EMAIL}"])
async def test_no_email_stands_for_another_and_an_address(email: str) -> None:
    """Nobody is kept out by attempts on an account that is called like theirs."""
    logins = window()
    for number in range(PER_ACCOUNT):
        await may(logins, f"203.0.113.{number}", email)
    assert [await may(logins) for _ in range(PER_ADDRESS)] == [True] * PER_ADDRESS


@given(st.lists(st.tuples(st.integers(0, 15), st.sampled_from([EMAIL, "mehmet@example.com"]), st.booleans())))
async def test_who_has_not_guessed_is_never_kept_out(attempts: list[tuple[int, str, bool]]) -> None:
    """Whatever others did before, with whatever success."""
    logins = window()
    for number, email, right in attempts:
        address = f"203.0.113.{number}"
        if await may(logins, address, email) and right:
            await logins.succeeded(email, address)
    assert await may(logins)


async def test_without_limits_nobody_is_refused() -> None:
    """As a load test wants it."""
    logins = LoginWindow(unlimited, LocalLimits().forget)
    assert all([await may(logins) for _ in range(PER_ACCOUNT * 2)])
