"""Days as they were known at a moment, over a real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.history.known_bars import KnownBars
from support.oracles.transactions import open_database
from support.stages.known_days import APPLE, FIRST, HOUR, days, days_read


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url) as database:
        yield database


@pytest.fixture
async def known(database: Database) -> KnownBars:
    return await days_read(database)


async def closes(known: KnownBars, at: datetime) -> Sequence[float] | None:
    found = await known.read(*APPLE[:2], at)
    return None if found is None else [each.close for each in found.bars]


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


async def test_after_a_split_days_of_other_shares_are_no_longer_known(known: KnownBars) -> None:
    """Some days in new shares, beside others in the former ones, would be a crash of the price."""
    split = [replace(each, close=each.close / 4) for each in days(1, 2.5, 3, 4)[1:]]
    await known.record(APPLE, split, FIRST + 5 * HOUR)
    assert await closes(known, FIRST + 4 * HOUR) == [1, 2.5, 3, 4]
    assert await closes(known, FIRST + 6 * HOUR) == [0.625, 0.75, 1]


async def test_the_days_are_those_of_the_provider_that_was_read_last(known: KnownBars) -> None:
    """So a later failover, to one that has been read before or not, changes no answer about the past."""
    await known.record(APPLE._replace(provider="other"), days(7), FIRST + 5 * HOUR)
    found = await known.read(*APPLE[:2], FIRST + 6 * HOUR)
    assert found is not None
    assert (found.provider, [each.close for each in found.bars], found.read_at) == (
        "other",
        [7],
        FIRST + 5 * HOUR,
    )
    assert await closes(known, FIRST + 4 * HOUR) == [1, 2.5, 3, 4]


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
