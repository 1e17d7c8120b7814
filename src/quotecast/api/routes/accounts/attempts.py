"""Attempts to give a password: each counts, whether at a login or before a change of the account."""

from collections.abc import Awaitable
from typing import TypeVar

from quotecast.api.accounts.logins import Attempt
from quotecast.api.gate.identity import claims_of, with_account
from quotecast.api.limits.throttle import overrule
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.errors import Busy, DatabaseAway, TooManyRequests, WrongCredentials, WrongPassword
from quotecast.limits.decision import Decision
from quotecast.users.account import Account
from quotecast.users.users import UserRow

T = TypeVar("T")


async def count_outcome(request: HttpRequest, attempt: Attempt, work: Awaitable[T]) -> T:
    """Returns the result of an attempt; a success resets its counts, and an outage frees its slots.

    Re-raises the error of `work`; TooManyRequests puts the exhausted limit into the answer's headers.
    """
    outcomes = services_of(request).accounts.logins.outcomes
    try:
        result = await work
    except (WrongCredentials, WrongPassword):
        outcomes["refused"] += 1
        raise
    except TooManyRequests as error:
        outcomes["limited"] += 1
        await overrule(request.scope, Decision(False, error.limit, 0, error.retry_after))
        raise
    except (Busy, DatabaseAway):
        outcomes["unavailable"] += 1
        await attempt.cancel()
        raise
    outcomes["ok"] += 1
    await attempt.succeed()
    return result


async def confirm_password(request: HttpRequest, password: str) -> UserRow:
    """Returns the request's user if the password is theirs. Raises WrongPassword or TooManyRequests.

    The attempt counts as a login from the device of the request's token: a stolen token gives no more
    guesses than that.
    """

    async def read(account: Account) -> UserRow:
        return account.user

    user = await with_account(request, read)
    accounts = services_of(request).accounts
    attempt = accounts.logins.attempt(user.email)

    async def check() -> UserRow:
        await attempt.count_device(claims_of(request).jti)
        if not await accounts.passwords.verify(user.password_hash, password):
            raise WrongPassword
        return user

    return await count_outcome(request, attempt, check())


def require_unchanged(account: Account, confirmed: UserRow) -> None:
    """Raises WrongPassword if the password changed after it was confirmed."""
    if account.user.password_hash != confirmed.password_hash:
        raise WrongPassword
