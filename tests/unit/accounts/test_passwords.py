"""Password hashes, and how many are made at once."""

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

from quotecast.accounts.passwords import HASHER, Passwords
from quotecast.errors import Busy
from support.account_service import FAST

PASSWORD = "correct horse battery"


class Held(PasswordHasher):
    """Takes as long as a test wants."""

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
    """Notes what it is asked."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.verified: list[str | bytes] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Any:  # noqa: A002 - the library's name
        self.verified.append(hash)
        return super().verify(hash, password)


def test_a_hash_is_argon2id_at_the_recommended_costs() -> None:
    """OWASP: 19 MiB, two passes, one thread."""
    costs = extract_parameters(HASHER.hash(PASSWORD))
    assert (costs.type, costs.memory_cost, costs.time_cost, costs.parallelism) == (Type.ID, 19_456, 2, 1)
    assert (costs.salt_len, costs.hash_len) == (16, 32)


@pytest.mark.parametrize(
    "password", [PASSWORD, "\0" * 8, "şifre ğüıö", "🐎🔋📎🐎🔋📎🐎🔋", "x" * 128, " " * 8]
)
async def test_any_text_is_a_password(password: str) -> None:
    """The right one is right, and no other."""
    async with Passwords(FAST) as passwords:
        kept = await passwords.hash(password)
        assert password not in kept
        assert await passwords.verify(kept, password)
        assert not await passwords.verify(kept, password[:-1])
        assert not await passwords.verify(kept, f"{password} ")


async def test_equal_passwords_have_different_hashes() -> None:
    """Each has a salt of its own."""
    async with Passwords(FAST) as passwords:
        assert await passwords.hash(PASSWORD) != await passwords.hash(PASSWORD)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_forms_of_one_text_are_one_password(text: str) -> None:
    """Composed or decomposed, as keyboards differ."""

    async def equal(one: str, other: str) -> bool:
        async with Passwords(FAST) as passwords:
            return await passwords.verify(await passwords.hash(one), other)

    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert asyncio.run(equal(composed, decomposed))
    assert asyncio.run(equal(decomposed, text))


@pytest.mark.parametrize("kept", ["", "plain", "$argon2id$", "$2b$12$abcdefghijklmnopqrstuv", "\0"])
async def test_what_is_no_hash_is_nobodys_password(kept: str) -> None:
    """A damaged row lets nobody in, not even with the password of nobody."""
    async with Passwords(FAST) as passwords:
        assert not await passwords.verify(kept, PASSWORD)
        assert not await passwords.verify(kept, "nobody's password")
        assert not await passwords.verify(kept, kept)


async def test_nobodys_password_is_computed_and_never_right() -> None:
    """An unknown email costs as much as a known one."""
    hasher = Watched()
    async with Passwords(hasher) as passwords:
        kept = await passwords.hash(PASSWORD)
        for password in (PASSWORD, "nobody's password"):
            assert not await passwords.verify(None, password)
        assert not await passwords.verify(kept, "wrong")
    nobodys, again, known = hasher.verified
    assert nobodys == again != known == kept
    assert extract_parameters(str(nobodys)) == extract_parameters(kept)


async def test_a_hash_of_other_costs_is_outdated() -> None:
    """And still the right one."""
    older = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1).hash(PASSWORD)
    async with Passwords(FAST) as passwords:
        assert passwords.is_outdated(older)
        assert not passwords.is_outdated(await passwords.hash(PASSWORD))
        assert await passwords.verify(older, PASSWORD)


async def test_the_loop_goes_on_while_a_password_is_hashed() -> None:
    """It is the loop that lets this hasher end."""
    with held() as hasher:
        async with Passwords(hasher) as passwords:
            hasher.go_on.clear()
            hashing = asyncio.create_task(passwords.hash(PASSWORD))
            for _ in range(100):
                await asyncio.sleep(0)
            assert not hashing.done()
            hasher.go_on.set()
            assert await passwords.verify(await hashing, PASSWORD)


async def test_one_too_many_is_told_to_come_back() -> None:
    """Those before are served; there is room again once they are."""
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


async def test_nobody_waits_longer_than_is_said() -> None:
    """Who gets no turn in time is told to come back; the turn of those before goes on."""
    with held() as hasher:
        async with Passwords(hasher, patience_seconds=0.01) as passwords:
            hasher.go_on.clear()
            first = asyncio.create_task(passwords.hash(PASSWORD))
            await asyncio.sleep(0)
            async with asyncio.timeout(10):
                with pytest.raises(Busy) as refused:
                    await passwords.hash(PASSWORD)
            assert refused.value.retry_after > 0
            hasher.go_on.set()
            assert await passwords.verify(await first, PASSWORD)


async def test_who_goes_away_makes_room_and_costs_nothing() -> None:
    """What nobody waits for any more is not computed."""
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
    """A fault is the fault of one."""
    hasher = Watched()
    monkeypatch.setattr(hasher, "verify", Mock(side_effect=MemoryError))
    async with Passwords(hasher, max_waiting=1) as passwords:
        for _ in range(3):
            with pytest.raises(MemoryError):
                await passwords.verify(None, PASSWORD)
        assert await passwords.hash(PASSWORD)
