"""Password hashes, and the bound on concurrent ones."""

import asyncio
import contextlib
import threading
import unicodedata
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.low_level import Type
from hypothesis import given
from hypothesis import strategies as st

from quotecast.errors import Busy
from quotecast.users.passwords import HASHER, Passwords
from support.runs.deadlines import scaled
from support.stages.account_service import FAST

PASSWORD = "correct horse battery"


class Held(PasswordHasher):
    """A hasher that waits until the test releases it."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.go_on = threading.Event()
        self.hashed: list[bytes] = []

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        assert self.go_on.wait(10), "nobody let the hasher go on"
        self.hashed.append(password.encode() if isinstance(password, str) else password)
        return super().hash(password, salt=salt)


@contextlib.contextmanager
def held() -> Iterator[Held]:
    hasher = Held()
    hasher.go_on.set()
    try:
        yield hasher
    finally:
        hasher.go_on.set()


class Watched(PasswordHasher):
    """A hasher that records its calls."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.verified: list[str | bytes] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Any:  # noqa: A002 - the library's name
        self.verified.append(hash)
        return super().verify(hash, password)


def test_a_hash_is_argon2id_at_the_recommended_costs() -> None:
    """OWASP recommends 19 MiB, two passes, one thread."""
    costs = extract_parameters(HASHER.hash(PASSWORD))
    assert (costs.type, costs.memory_cost, costs.time_cost, costs.parallelism) == (Type.ID, 19_456, 2, 1)
    assert (costs.salt_len, costs.hash_len) == (16, 32)


@pytest.mark.parametrize(
    "password", [PASSWORD, "\0" * 8, "şifre ğüıö", "🐎🔋📎🐎🔋📎🐎🔋", "x" * 128, " " * 8]
)
async def test_any_text_is_a_password(password: str) -> None:
    """The right password matches, and no other does."""
    async with Passwords(FAST) as passwords:
        stored = await passwords.hash(password)
        assert password not in stored
        assert await passwords.verify(stored, password)
        assert not await passwords.verify(stored, password[:-1])
        assert not await passwords.verify(stored, f"{password} ")


async def test_equal_passwords_have_different_hashes() -> None:
    """Each hash has its own salt."""
    async with Passwords(FAST) as passwords:
        assert await passwords.hash(PASSWORD) != await passwords.hash(PASSWORD)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_forms_of_one_text_are_one_password(text: str) -> None:
    """Keyboards differ: one types composed characters, another decomposed ones."""

    async def equal(one: str, other: str) -> bool:
        async with Passwords(FAST) as passwords:
            return await passwords.verify(await passwords.hash(one), other)

    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert asyncio.run(equal(composed, decomposed))
    assert asyncio.run(equal(decomposed, text))


@pytest.mark.parametrize("stored", ["", "plain", "$argon2id$", "$2b$12$abcdefghijklmnopqrstuv", "\0"])
async def test_a_damaged_hash_matches_no_password(stored: str) -> None:
    """A damaged row admits no password, not even the placeholder's."""
    async with Passwords(FAST) as passwords:
        assert not await passwords.verify(stored, PASSWORD)
        assert not await passwords.verify(stored, "nobody's password")
        assert not await passwords.verify(stored, stored)


async def test_an_unknown_users_password_is_hashed_and_never_matches() -> None:
    """An unknown email takes as long as a known one."""
    hasher = Watched()
    async with Passwords(hasher) as passwords:
        stored = await passwords.hash(PASSWORD)
        for password in (PASSWORD, "nobody's password"):
            assert not await passwords.verify(None, password)
        assert not await passwords.verify(stored, "wrong")
    nobodys, again, known = hasher.verified
    assert nobodys == again != known == stored
    assert extract_parameters(str(nobodys)) == extract_parameters(stored)


async def test_a_hash_of_other_costs_is_outdated() -> None:
    """Such a hash still matches its password."""
    older = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1).hash(PASSWORD)
    async with Passwords(FAST) as passwords:
        assert passwords.is_outdated(older)
        assert not passwords.is_outdated(await passwords.hash(PASSWORD))
        assert await passwords.verify(older, PASSWORD)


async def test_the_loop_goes_on_while_a_password_is_hashed() -> None:
    """The event loop releases this hasher, so it must run meanwhile."""
    with held() as hasher:
        async with Passwords(hasher) as passwords:
            hasher.go_on.clear()
            hashing = asyncio.create_task(passwords.hash(PASSWORD))
            for _ in range(100):
                await asyncio.sleep(0)
            assert not hashing.done()
            hasher.go_on.set()
            assert await passwords.verify(await hashing, PASSWORD)


async def test_one_too_many_raises_busy() -> None:
    """Waiting passwords are still computed; afterwards there is room again."""
    with held() as hasher:
        async with Passwords(hasher, max_waiting=3) as passwords:
            hasher.go_on.clear()
            waiting = [asyncio.create_task(passwords.hash(PASSWORD)) for _ in range(3)]
            await asyncio.sleep(0)
            for refused in (passwords.hash(PASSWORD), passwords.verify(None, PASSWORD)):
                with pytest.raises(Busy):
                    await refused
            hasher.go_on.set()
            assert len(set(await asyncio.gather(*waiting))) == 3
            assert await passwords.hash(PASSWORD)


async def test_a_wait_beyond_the_patience_raises_busy() -> None:
    """A password without a turn in time raises Busy; the one before it is still computed."""
    with held() as hasher:
        async with Passwords(hasher, patience_seconds=0.01) as passwords:
            hasher.go_on.clear()
            first = asyncio.create_task(passwords.hash(PASSWORD))
            await asyncio.sleep(0)
            async with asyncio.timeout(scaled(10)):
                with pytest.raises(Busy) as refused:
                    await passwords.hash(PASSWORD)
            assert refused.value.retry_after > 0
            hasher.go_on.set()
            assert await passwords.verify(await first, PASSWORD)


async def test_a_cancelled_caller_makes_room_and_costs_nothing() -> None:
    """The worker does not compute a cancelled caller's password."""
    with held() as hasher:
        async with Passwords(hasher, max_waiting=2) as passwords:
            hasher.go_on.clear()
            stays = asyncio.create_task(passwords.hash("stays"))
            leaves = asyncio.create_task(passwords.hash("leaves"))
            await asyncio.sleep(0)
            leaves.cancel()
            await asyncio.gather(leaves, return_exceptions=True)
            follows = asyncio.create_task(passwords.hash("follows"))
            await asyncio.sleep(0)
            hasher.go_on.set()
            await asyncio.gather(stays, follows)
    assert hasher.hashed[-2:] == [b"stays", b"follows"]


async def test_a_failed_computation_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error concerns only its own caller."""
    hasher = Watched()
    monkeypatch.setattr(hasher, "verify", Mock(side_effect=MemoryError))
    async with Passwords(hasher, max_waiting=1) as passwords:
        for _ in range(3):
            with pytest.raises(MemoryError):
                await passwords.verify(None, PASSWORD)
        assert await passwords.hash(PASSWORD)
