"""Days as they were known at a moment, over a real PostgreSQL."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import pytest

from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.history.known_bars import KnownBars
from quotecast.market.feeds import Feed
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
    found = await known.read(APPLE, at)
    return None if found is None else [each.close for each in found]


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


async def test_an_earlier_reading_that_comes_late_changes_nothing(known: KnownBars) -> None:
    await known.record(APPLE, days(9), FIRST + HOUR)
    assert await closes(known, FIRST + 4 * HOUR) == [1, 2.5, 3, 4]


async def test_instruments_and_providers_have_days_of_their_own(known: KnownBars) -> None:
    for other in (
        APPLE._replace(symbol="MSFT"),
        APPLE._replace(provider="other"),
        APPLE._replace(feed=Feed.CRYPTO),
    ):
        assert await known.read(other, FIRST + 3 * HOUR) is None


async def test_a_reading_needs_no_database() -> None:
    """Only a question about the past does, and the next reading stores what this one could not."""
    async with open_database("postgresql://nobody@127.0.0.1:1/nothing") as away:
        known = KnownBars(away)
        await known.record(APPLE, days(1), FIRST)
        with pytest.raises(DatabaseAway):
            await known.read(APPLE, FIRST)
