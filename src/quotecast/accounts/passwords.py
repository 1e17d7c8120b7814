"""Password hashes: Argon2id (RFC 9106), computed beside the event loop, few at a time."""

import asyncio
import functools
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from quotecast.errors import Busy

#: The costs that OWASP recommends: 19 MiB, two passes, one thread; some 30 ms.
HASHER: Final = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
#: Passwords under way or waiting in one worker.
MAX_WAITING: Final = 256
#: Seconds that a password waits for its turn at most.
PATIENCE_SECONDS: Final = 5.0

T = TypeVar("T")


class Passwords:
    """Hashes and checks passwords in one thread.

    Raises Busy when too many wait, or when one has waited `patience_seconds` for its turn. Equal characters
    make equal passwords, however a keyboard composes them (NFC).
    """

    def __init__(
        self,
        hasher: PasswordHasher = HASHER,
        *,
        max_waiting: int = MAX_WAITING,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._hasher = hasher
        self._max_waiting = max_waiting
        self._patience = patience_seconds
        self._waiting = 0
        self._turn = asyncio.Lock()
        # Not of low priority: it might be stopped while it holds the interpreter's lock, and the loop too.
        self._executor = ThreadPoolExecutor(1, "passwords")

    async def __aenter__(self) -> Self:
        # Made here, so that the first unknown email takes no longer than the next.
        self._nobody = await self.hash("nobody's password")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def hash(self, password: str) -> str:
        """The hash to keep, with its salt and costs."""
        return await self._compute(functools.partial(self._hasher.hash, compose(password).encode()))

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """Whether the password is the right one; for nobody's hash it takes as long to say no."""
        kept = self._nobody if password_hash is None else password_hash
        right = await self._compute(functools.partial(self._matches, kept, compose(password).encode()))
        return right and password_hash is not None

    def is_outdated(self, password_hash: str) -> bool:
        """Whether a hash was made with other costs than those of today."""
        return self._hasher.check_needs_rehash(password_hash)

    def _matches(self, password_hash: str, password: bytes) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _compute(self, work: Callable[[], T]) -> T:
        if self._waiting >= self._max_waiting:
            raise Busy
        self._waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                await self._turn.acquire()
            try:
                return await asyncio.get_running_loop().run_in_executor(self._executor, work)
            finally:
                self._turn.release()
        except TimeoutError as error:
            raise Busy from error
        finally:
            self._waiting -= 1


def compose(password: str) -> str:
    """The form in which a password is hashed, and its characters are counted."""
    return unicodedata.normalize("NFC", password)
