"""Reads of stored bars: spans, limits, many symbols, and the partitions that a read opens."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from quotecast.bus.redis import RedisBus
from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.history.reader import StoredBars, _query
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import OwnBar
from support.made.closings import FIRST, made_closing, made_closings, put, write_all, writer_of
from support.oracles.transactions import open_database, query_server

DAY = 86_400
CLOSINGS = [*made_closings(10), made_closing(FIRST + DAY, volume=None)]
START = datetime.fromtimestamp(FIRST - 60, UTC)
END = START + timedelta(days=2)


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url) as database:
        yield database


@pytest.fixture
async def stored(redis_url: str, database: Database) -> StoredBars:
    """Returns the reader of a database with eleven minutes, the last of them a day later."""
    bus = RedisBus(redis_url, "test")
    await put(bus, CLOSINGS)
    await write_all(writer_of(bus, database))
    await bus.close()
    return StoredBars(database)


def bars_of(symbol: str) -> list[OwnBar]:
    return [closing.bars["1m"][symbol] for closing in CLOSINGS]


async def test_a_span_begins_with_its_start_and_ends_before_its_end(stored: StoredBars) -> None:
    """Bars come back bit for bit, the oldest first; a bar without volume has none."""
    bars = bars_of("AAPL")
    assert await stored.read(Feed.STOCKS, ["AAPL"], "1m", START, END) == {"AAPL": bars}
    minute = timedelta(minutes=1)
    assert await stored.read(Feed.STOCKS, ["AAPL"], "1m", START + minute, START + 3 * minute) == {
        "AAPL": bars[1:3]
    }
    assert await stored.read(Feed.STOCKS, ["AAPL"], "1m", END, START) == {"AAPL": []}


async def test_a_symbol_without_bars_has_none(stored: StoredBars) -> None:
    """Another feed's symbol of the same name is another one."""
    assert await stored.read(Feed.STOCKS, ["NONE", "AAPL"], "1m", START, START) == {"NONE": [], "AAPL": []}
    assert await stored.read(Feed.CRYPTO, ["AAPL"], "1m", START, END) == {"AAPL": []}
    assert await stored.read(Feed.STOCKS, [], "1m", START, END) == {}


async def test_coarser_bars_are_in_tables_of_their_own(stored: StoredBars) -> None:
    expected = [closing.bars["5m"]["MSFT"] for closing in CLOSINGS if "5m" in closing.bars]
    assert len(expected) == 2
    assert await stored.read(Feed.STOCKS, ["MSFT"], "5m", START - timedelta(hours=1), END) == {
        "MSFT": expected
    }


@pytest.mark.usefixtures("stored")
async def test_a_read_opens_only_the_partitions_of_its_span(
    own_accounts_url: str,
) -> None:
    """A day of a table with years of partitions costs as much as of one with two."""
    text = _query("1m")
    values = {"$1": "'stocks'", "$2": "ARRAY['AAPL']", "$3": f"'{START}'", "$4": "'2026-03-11'"}
    for name, value in values.items():
        text = text.replace(name, value)
    plan = "\n".join(row[0] for row in await query_server(own_accounts_url, f"EXPLAIN {text}"))
    assert "bars_1m_20260310" in plan
    assert "bars_1m_20260311" not in plan
    assert "Seq Scan" not in plan


async def test_without_tables_the_database_is_away(database_url: str) -> None:
    async with open_database(database_url) as database:
        with pytest.raises(DatabaseAway):
            await StoredBars(database).read(Feed.STOCKS, ["AAPL"], "1m", START, END)
