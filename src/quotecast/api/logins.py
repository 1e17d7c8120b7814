"""How many guesses at a password there are, beside the limit of requests per address."""

from collections.abc import Awaitable, Callable
from typing import Final

from quotecast.errors import TooManyRequests
from quotecast.limits.decision import Decision

WINDOW_SECONDS: Final = 900
#: Attempts on one account from one address since it last succeeded.
PER_ADDRESS: Final = 10
#: Attempts on one account from everywhere.
PER_ACCOUNT: Final = 100


class LoginWindow:
    """Bounds the attempts on an account within the window of `check`, without locking its owner out.

    An address that has used up its attempts is refused. While an account is under attack from many
    addresses each of them has one attempt, which is all that its owner needs.
    """

    def __init__(
        self,
        check: Callable[[str, int], Awaitable[Decision]],
        forget: Callable[[str], Awaitable[None]],
    ) -> None:
        self._check = check
        self._forget = forget

    async def attempt(self, email: str, address: str) -> None:
        """Counts an attempt. Raises TooManyRequests if it may not be made."""
        own = await self._check(_own(email, address), PER_ADDRESS)
        if not own.admitted:
            raise TooManyRequests(own.reset)
        everywhere = await self._check(_all(email), PER_ACCOUNT)
        if not everywhere.admitted and own.remaining < PER_ADDRESS - 1:
            raise TooManyRequests(max(own.reset, everywhere.reset))

    async def succeeded(self, email: str, address: str) -> None:
        """Forgets the attempts that led there."""
        await self._forget(_own(email, address))
        await self._forget(_all(email))


async def unlimited(_key: str, limit: int) -> Decision:
    """Admits everybody, where limits are off."""
    return Decision(admitted=True, limit=limit, remaining=limit, reset=0)


def _own(email: str, address: str) -> str:
    return f"login {address} {email}"


def _all(email: str) -> str:
    # No address is a star, so that no email can name an account together with an address.
    return f"login * {email}"
