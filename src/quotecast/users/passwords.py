"""Password hashes: Argon2id (RFC 9106), computed one at a time in a thread."""

import asyncio
import functools
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from quotecast.errors import Busy

#: OWASP's recommended costs: 19 MiB, two passes, one thread; about 30 ms.
HASHER: Final = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
#: Passwords in progress or waiting, per worker.
MAX_WAITING: Final = 256
#: Seconds that a password may wait for its turn.
PATIENCE_SECONDS: Final = 5.0

T = TypeVar("T")


class Passwords:
    """Hashes and checks passwords in one thread.

    Raises Busy when `max_waiting` passwords wait, or one has waited `patience_seconds` for its turn.
    Passwords are normalised (NFC), so that equal characters match, however a keyboard composes them.
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
        # No low priority: the thread might be suspended while it holds the GIL, which blocks the event loop.
        self._executor = ThreadPoolExecutor(1, "passwords")

    async def __aenter__(self) -> Self:
        # Made at start, so that the first unknown email takes no longer than the next one.
        self._nobody = await self.hash("nobody's password")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def hash(self, password: str) -> str:
        """Returns the hash to store, with its salt and costs."""
        return await self._compute(functools.partial(self._hasher.hash, compose(password).encode()))

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """Returns whether the password matches; takes as long for a user that does not exist (None)."""
        expected = self._nobody if password_hash is None else password_hash
        right = await self._compute(functools.partial(self._matches, expected, compose(password).encode()))
        return right and password_hash is not None

    def is_outdated(self, password_hash: str) -> bool:
        """Returns whether a hash has other costs than the present ones."""
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
    """Returns the text in Unicode's composed form (NFC), in which passwords are counted and hashed."""
    return unicodedata.normalize("NFC", password)
