"""Days as they were known at a moment, over a real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from itertools import product
from typing import Any

import pytest

from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.history.known_bars import WRITTEN_SECONDS, KnownBars
from support.oracles.transactions import open_database
from support.stages.account_service import PATIENCE_SECONDS
from support.stages.caching import Clock
from support.stages.known_days import APPLE, FIRST, HOUR, days, days_read


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url, deadline_seconds=PATIENCE_SECONDS) as database:
        yield database


@pytest.fixture
async def known(database: Database) -> KnownBars:
    return await days_read(database)


async def closes(known: KnownBars, at: datetime) -> Sequence[float] | None:
    found = await known.read(*APPLE[:2], at)
    return None if found is None else [each.bar.close for each in found.days]


async def test_a_correction_does_not_rewrite_what_was_known(known: KnownBars) -> None:
    assert await closes(known, FIRST - HOUR) is None
    assert await closes(known, FIRST) == await closes(known, FIRST + 1.9 * HOUR) == [1, 2, 3]
    assert await closes(known, FIRST + 2 * HOUR) == [1, 2.5, 3]
    assert await closes(known, FIRST + 3000 * HOUR) == [1, 2.5, 3, 4]


@pytest.mark.usefixtures("known")
async def test_only_what_is_new_is_stored(database: Database) -> None:
    """By this worker and by another one, which does not know what is stored."""
    await KnownBars(database).record(APPLE, days(1, 2.5, 3, 4), FIRST + 5 * HOUR)

    async def count(connection: Any) -> int:
        stored: int = await connection.fetchval("SELECT count(*) FROM known_bars")
        return stored

    assert await database.session(count) == 3


async def test_readings_of_one_moment_are_all_kept(database: Database) -> None:
    """A long history is read in windows, by several workers at a time."""
    whole = days(*range(1, 13))
    workers = [KnownBars(database), KnownBars(database)]
    windows = [whole[first : first + 3] for first in range(0, 12, 3)]
    await asyncio.gather(
        *(worker.record(APPLE, window, FIRST) for worker, window in product(workers, windows))
    )
    assert await closes(workers[0], FIRST + HOUR) == [*range(1, 13)]


async def test_a_day_keeps_the_time_at_which_its_bar_was_first_read(known: KnownBars) -> None:
    """Its price is in the shares of that time."""
    found = await known.read(*APPLE[:2], FIRST + 4 * HOUR)
    assert found is not None
    assert [(each.known_at - FIRST) / HOUR for each in found.days] == [0, 2, 0, 3]


async def test_a_reading_of_one_day_leaves_the_others_known(known: KnownBars) -> None:
    await known.record(APPLE, days(1, 2.5, 3, 8)[3:], FIRST + 5 * HOUR)
    assert await closes(known, FIRST + 6 * HOUR) == [1, 2.5, 3, 8]


async def test_the_days_are_those_of_the_provider_that_was_read_last(
    known: KnownBars, database: Database
) -> None:
    """So a later failover changes no answer about the past; it may come back without anything new."""
    await known.record(APPLE._replace(provider="other"), days(7), FIRST + 5 * HOUR)
    for worker, hours in ((known, 7), (KnownBars(database), 8)):
        await worker.record(APPLE, days(1, 2.5, 3, 4), FIRST + hours * HOUR)
    found = [await known.read(*APPLE[:2], FIRST + hours * HOUR) for hours in (4, 6, 7, 9)]
    assert [each.provider for each in found if each] == ["test", "other", "test", "test"]
    assert await closes(known, FIRST + 6 * HOUR) == [7]
    assert await closes(known, FIRST + 9 * HOUR) == [1, 2.5, 3, 4]


async def test_a_worker_stores_again_what_another_one_has_replaced(database: Database) -> None:
    """It remembers what it has stored for ten minutes, and knows nothing of other workers."""
    clock = Clock()
    worker, other = KnownBars(database, clock), KnownBars(database)
    for each, said in ((worker, 2), (other, 3)):
        await each.record(APPLE, days(said), FIRST)
    for seconds, close in ((0.0, 3), (WRITTEN_SECONDS, 2)):
        clock.now += seconds
        await worker.record(APPLE, days(2), FIRST + HOUR)
        assert await closes(worker, FIRST + 2 * HOUR) == [close]


async def test_other_instruments_and_simulated_markets_have_days_of_their_own(known: KnownBars) -> None:
    for feed, symbol in (("stocks", "MSFT"), ("crypto", "AAPL"), ("stocks.seed-1", "AAPL")):
        assert await known.read(feed, symbol, FIRST + 3 * HOUR) is None


async def test_a_reading_needs_no_database() -> None:
    """Only a question about the past does, and the next reading stores what this one could not."""
    async with open_database("postgresql://nobody@127.0.0.1:1/nothing") as away:
        known = KnownBars(away)
        await known.record(APPLE, days(1), FIRST)
        with pytest.raises(DatabaseAway):
            await known.read(*APPLE[:2], FIRST)
