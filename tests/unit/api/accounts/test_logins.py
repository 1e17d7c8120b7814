"""Limits of login attempts."""

import pytest

from quotecast.api.accounts.logins import PER_ACCOUNT, PER_CLIENT, WINDOW_SECONDS, LoginWindow, Unlimited
from quotecast.errors import TooManyRequests
from quotecast.limits.decision import Decision
from support.stages.account_service import SECRET, LocalLimits

EMAIL = "ayse@example.com"
HOME = "198.51.100.7"
DEVICE = "0123456789abcdef01234567"


def window() -> LoginWindow:
    return LoginWindow(LocalLimits(WINDOW_SECONDS), SECRET)


async def guess(logins: LoginWindow, address: str = HOME, email: str = EMAIL) -> bool:
    """Tries a wrong password from an address; returns whether the attempt was admitted."""
    try:
        await logins.attempt(email).count_address(address)
    except TooManyRequests:
        return False
    return True


async def guess_from(logins: LoginWindow, device: str) -> bool:
    """Tries a wrong password from a known device; returns whether the attempt was admitted."""
    try:
        await logins.attempt(EMAIL).count_device(device)
    except TooManyRequests:
        return False
    return True


async def log_in(logins: LoginWindow, address: str = HOME) -> None:
    """Logs in from an address."""
    attempt = logins.attempt(EMAIL)
    await attempt.count_address(address)
    await attempt.succeed()


async def attacked() -> LoginWindow:
    """Returns an account under attack from many addresses."""
    logins = window()
    for number in range(PER_ACCOUNT):
        assert await guess(logins, f"203.0.113.{number}")
    return logins


async def test_an_address_has_its_attempts_and_no_more() -> None:
    """An address has a fixed number of attempts; the error has the limit and the time until the next."""
    logins = window()
    assert [await guess(logins) for _ in range(PER_CLIENT)] == [True] * PER_CLIENT
    with pytest.raises(TooManyRequests) as refused:
        await logins.attempt(EMAIL).count_address(HOME)
    assert refused.value.limit == PER_CLIENT
    assert WINDOW_SECONDS - 5 < refused.value.retry_after <= WINDOW_SECONDS


async def test_guesses_elsewhere_and_at_others_are_not_ones_own() -> None:
    """Attempts from one address do not count for another."""
    logins = window()
    while await guess(logins, "203.0.113.1"):
        pass
    assert await guess(logins, HOME)
    assert await guess(logins, "203.0.113.1", "mehmet@example.com")


async def test_guesses_at_an_account_are_bounded_in_all() -> None:
    """All addresses together have a hundred attempts on an account."""
    logins = window()
    guesses = [await guess(logins, f"203.0.113.{number}") for number in range(3 * PER_ACCOUNT)]
    assert sum(guesses) == PER_ACCOUNT
    with pytest.raises(TooManyRequests) as refused:
        await logins.attempt(EMAIL).count_address(HOME)
    assert refused.value.limit == PER_ACCOUNT


async def test_device_of_the_owner_has_attempts_of_its_own_under_attack() -> None:
    """Each known device has its own attempts, which do not count for the account."""
    logins = await attacked()
    for device in (DEVICE, DEVICE[::-1]):
        assert [await guess_from(logins, device) for _ in range(PER_CLIENT)] == [True] * PER_CLIENT
        assert not await guess_from(logins, device)


async def test_refusal_of_all_addresses_uses_no_attempt_of_one() -> None:
    """An attempt that the account's limit rejects does not count for its address."""
    logins = window()
    pending = []
    for number in range(PER_ACCOUNT):
        pending.append(logins.attempt(EMAIL))
        await pending[-1].count_address(f"203.0.113.{number}")
    assert not any([await guess(logins) for _ in range(PER_CLIENT)])
    for attempt in pending:
        await attempt.cancel()
    assert [await guess(logins) for _ in range(PER_CLIENT)] == [True] * PER_CLIENT


async def test_success_forgets_what_led_there_and_no_ones_guesses() -> None:
    """A success resets the attempts of its address, and not those of an attack."""
    logins = window()
    for number in range(PER_ACCOUNT - PER_CLIENT):
        assert await guess(logins, f"203.0.113.{number}")
    for _ in range(PER_CLIENT - 1):
        assert await guess(logins)
    await log_in(logins)
    assert await guess(logins)
    assert not await guess(logins)


async def test_success_uses_no_attempt_of_the_account() -> None:
    """A successful attempt does not count for the account."""
    logins = window()
    for number in range(2 * PER_ACCOUNT):
        await log_in(logins, f"203.0.113.{number}")
    assert await guess(logins)


async def test_attempt_that_the_service_could_not_judge_is_not_counted() -> None:
    """A voided attempt does not count: an outage uses up no attempts."""
    logins = window()
    for _ in range(2 * PER_ACCOUNT):
        attempt = logins.attempt(EMAIL)
        await attempt.count_device(DEVICE)
        await attempt.count_address(HOME)
        await attempt.cancel()


async def test_no_key_holds_an_email() -> None:
    """Keys contain keyed hashes, from which a reader of Redis learns no email."""
    names: list[str] = []

    class Listening(LocalLimits):
        async def check(self, key: str, limit: int) -> Decision:
            names.append(key)
            return await super().check(key, limit)

    for secret in (SECRET, SECRET[::-1]):
        await LoginWindow(Listening(), secret).attempt(EMAIL).count_address(HOME)
    assert len(set(names)) == 4
    assert not any(word in name for name in names for word in ("ayse", "example", "@"))


@pytest.mark.parametrize("email", [f"{HOME} {EMAIL}", f"* {EMAIL}", f"{EMAIL} everybody"])
async def test_no_email_stands_for_another_and_an_address(email: str) -> None:
    """Keys of accounts and of addresses never collide."""
    logins = window()
    for number in range(PER_ACCOUNT):
        await guess(logins, f"203.0.113.{number}", email)
    assert [await guess(logins) for _ in range(PER_CLIENT)] == [True] * PER_CLIENT


async def test_without_limits_nobody_is_refused() -> None:
    """Without limits every attempt is admitted."""
    logins = LoginWindow(Unlimited(), SECRET)
    assert all([await guess(logins) for _ in range(PER_ACCOUNT * 2)])
