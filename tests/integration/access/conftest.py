"""A database of keys and sessions, changes to it, and a worker that reads it."""

from collections.abc import AsyncIterator

import pytest

from quotecast.access.key_book import KeyBook
from quotecast.database.database import Database
from support.stages.stored_keys import BASIC, Clocks, ListedEnds, StoredKeys


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
async def database(accounts_url: str) -> AsyncIterator[Database]:
    async with Database(accounts_url, pool_size=4, deadline_seconds=15) as database:
        yield database


@pytest.fixture
def stored(database: Database, clocks: Clocks) -> StoredKeys:
    return StoredKeys(database, clocks)


@pytest.fixture
def worker(database: Database, clocks: Clocks) -> ListedEnds:
    return ListedEnds(database, clocks, {"basic": BASIC})


@pytest.fixture
def book(worker: ListedEnds) -> KeyBook:
    return worker.book
