"""Whether sessions of users go on, as a worker knows it for reads of quotes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from quotecast.api.accounts import key_access
from quotecast.api.accounts.key_access import AWAY_SECONDS, ENDED_SECONDS, KeyAccess
from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from support.stages.stored_keys import Clocks, StoredKeys

#: A worker's own clock says when a session expires.
LONG: Final = 1e9
UNKNOWN: Final = f"{2**40:024x}"


class Transactions:
    """A database that counts transactions, and that a test takes away."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.count = 0
        self.answer: Callable[[], Awaitable[Any]] | None = None

    async def session(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        self.count += 1
        return await (self.answer() if self.answer else self._database.session(work))


@pytest.fixture
def transactions(database: Database) -> Transactions:
    return Transactions(database)


@pytest.fixture
def access(transactions: Any, clocks: Clocks) -> KeyAccess:
    nothing: Any = None
    return KeyAccess(transactions, nothing, {}, clock=clocks.monotonic)


async def session_of(database: Database, clocks: Clocks) -> str:
    """Returns the id of a new session of a new user."""
    stored = StoredKeys(database, clocks)
    await stored.add_user()
    return (await stored.add_session(LONG)).removeprefix("session:")


async def test_reads_of_an_open_session_ask_once(
    access: KeyAccess, transactions: Transactions, database: Database, clocks: Clocks
) -> None:
    session = await session_of(database, clocks)
    assert [await access.is_open_session(session) for _ in range(3)] == [True, True, True]
    assert transactions.count == 1


async def test_reads_of_an_ended_session_ask_once_a_minute(
    access: KeyAccess, transactions: Transactions, database: Database, clocks: Clocks
) -> None:
    session = await session_of(database, clocks)
    assert await access.is_open_session(session)
    await StoredKeys(database, clocks).end_sessions()
    await access.book.step()
    before = transactions.count
    assert [await access.is_open_session(session) for _ in range(3)] == [False, False, False]
    assert transactions.count == before + 1
    clocks.passed += ENDED_SECONDS
    assert not await access.is_open_session(session)
    assert transactions.count == before + 2


async def test_a_worker_remembers_a_bounded_number_of_ended_sessions(
    access: KeyAccess, transactions: Transactions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_access, "MAX_ENDED", 2)
    sessions = [f"{2**40 + number:024x}" for number in range(3)]
    for session in (*sessions, *reversed(sessions)):
        assert not await access.is_open_session(session)
    assert transactions.count == 5, "the third is known; the first two went as it came"


async def _raise_away() -> None:
    raise DatabaseAway


@pytest.mark.parametrize("answer", [_raise_away, asyncio.Event().wait], ids=["away", "hangs"])
async def test_quotes_wait_for_no_database(
    access: KeyAccess,
    transactions: Transactions,
    clocks: Clocks,
    monkeypatch: pytest.MonkeyPatch,
    answer: Callable[[], Awaitable[Any]],
) -> None:
    """Without an answer the token counts, and the next reads do not ask for a while."""
    monkeypatch.setattr(key_access, "SESSION_SECONDS", 0)
    transactions.answer = answer
    assert [await access.is_open_session(UNKNOWN) for _ in range(3)] == [True, True, True]
    assert transactions.count == 1
    transactions.answer = None
    monkeypatch.setattr(key_access, "SESSION_SECONDS", 60)
    clocks.passed += AWAY_SECONDS
    assert not await access.is_open_session(UNKNOWN)


async def test_many_sessions_leave_admissions_of_keys_as_they_are(
    access: KeyAccess, database: Database, clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that goes for another is no change of a key's rights."""
    monkeypatch.setattr("quotecast.access.key_book.MAX_KEYS", 1)
    stored = StoredKeys(database, clocks)
    await stored.add_user()
    sessions = [(await stored.add_session(LONG)).removeprefix("session:") for _ in range(2)]
    state = access.state
    for session in sessions:
        assert await access.is_open_session(session)
    assert len(access.book) == 1
    assert access.state is state
