"""Limits of login attempts per account, beside the limit of requests per address."""

import hashlib
from typing import Final, Protocol

from quotecast.errors import TooManyRequests
from quotecast.limits.decision import Decision

WINDOW_SECONDS: Final = 900
#: Attempts on one account from one address, or one known device, since its last success.
PER_CLIENT: Final = 10
#: Failed attempts on one account from all addresses together, without known devices.
PER_ACCOUNT: Final = 100
#: Right password, wrong password, too many attempts, accounts away or busy.
OUTCOMES: Final = ("ok", "refused", "limited", "unavailable")


class AttemptLimits(Protocol):
    """The part of a `quotecast.limits.window.Window` that login attempts use."""

    async def check(self, key: str, limit: int) -> Decision:
        """Counts the attempt if it is admitted."""
        ...

    async def forget(self, key: str) -> None:
        """Resets the count of the key."""
        ...

    async def give_back(self, key: str) -> None:
        """Frees a slot."""
        ...


class LoginWindow:
    """Limits the attempts on an account within the window of `limits`.

    A client has PER_CLIENT attempts, and all addresses together have PER_ACCOUNT. So an attack from many
    addresses has no more guesses, but it locks other addresses out. A device that has logged in to the
    account before is not part of that sum, so the attack does not use up its attempts. Keys name an account
    by a digest of its email under `secret`.
    """

    def __init__(self, limits: AttemptLimits, secret: str) -> None:
        self._limits = limits
        self._secret = hashlib.sha256(b"quotecast login keys " + secret.encode()).digest()
        #: Logins of this worker by outcome, for metrics.
        self.outcomes = dict.fromkeys(OUTCOMES, 0)

    def attempt(self, email: str) -> "Attempt":
        """Returns an attempt on an account that is not counted yet."""
        name = hashlib.blake2b(email.encode(), key=self._secret, digest_size=16).hexdigest()
        return Attempt(self._limits, f"login {name}")


class Attempt:
    """One attempt to log in, and the windows that count it."""

    def __init__(self, limits: AttemptLimits, account: str) -> None:
        self._limits = limits
        self._clients: list[str] = []
        self._everybody = f"{account} everybody"
        self._account = account
        self._is_unknown_device = False

    async def count_device(self, device: str) -> None:
        """Counts the attempt for a device. Raises TooManyRequests past the limit."""
        await self._count_client(f"device {device}")

    async def count_address(self, address: str) -> None:
        """Counts the attempt for an address and for all addresses. Raises TooManyRequests."""
        await self._count_client(f"address {address}")
        try:
            _admit(await self._limits.check(self._everybody, PER_ACCOUNT))
        except TooManyRequests:
            await self._limits.give_back(self._clients.pop())
            raise
        self._is_unknown_device = True

    async def succeed(self) -> None:
        """Resets the client's count, and frees the attempt's slot among all addresses."""
        for key in self._clients:
            await self._limits.forget(key)
        if self._is_unknown_device:
            await self._limits.give_back(self._everybody)

    async def cancel(self) -> None:
        """Frees the attempt's slots: the service could not check the password."""
        for key in (*self._clients, *([self._everybody] if self._is_unknown_device else [])):
            await self._limits.give_back(key)

    async def _count_client(self, client: str) -> None:
        key = f"{self._account} {client}"
        _admit(await self._limits.check(key, PER_CLIENT))
        self._clients.append(key)


class Unlimited:
    """Admits every attempt, where limits are off."""

    async def check(self, _key: str, limit: int) -> Decision:
        """See AttemptLimits."""
        return Decision(admitted=True, limit=limit, remaining=limit, reset=0)

    async def forget(self, _key: str) -> None:
        """See AttemptLimits."""

    async def give_back(self, _key: str) -> None:
        """See AttemptLimits."""


def _admit(decision: Decision) -> None:
    if not decision.admitted:
        raise TooManyRequests(decision.limit, decision.reset)
