"""Bars in progress after the leader and Redis died together: PostgreSQL has their minutes."""

import random
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from quotecast.bus.redis import RedisBus
from quotecast.database.database import Database
from quotecast.ingest.publish import FeedPublisher
from quotecast.market.bar_making import BarMaker
from quotecast.market.bars import bar_time
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing
from quotecast.providers.simulator.client import SimulatorProvider
from support.made.closings import put, write_all, writer_of
from support.made.factories import doviz
from support.made.memory_bus import MemoryBus
from support.oracles.transactions import open_database
from support.runs.waits import until
from support.stages.following import running

DAY = 86_400
CALENDAR = Feed.DOVIZ.spec.calendar
#: 9:00 of a Tuesday in Istanbul.
BEGAN = int(datetime(2026, 3, 10, 6, tzinfo=UTC).timestamp())


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url, statement_cache=0) as database:
        yield database


@pytest.fixture
async def bus(redis_url: str) -> AsyncIterator[RedisBus]:
    bus = RedisBus(redis_url, "test")
    yield bus
    await bus.close()


async def write_until(bus: RedisBus, database: Database, died: int) -> None:
    """Writes the bars of a feed up to its death."""
    await put(bus, closings_of(BarMaker(CALENDAR), range(BEGAN, died, 60)), Feed.DOVIZ)
    await write_all(writer_of(bus, database, feed=Feed.DOVIZ))


def closings_of(maker: BarMaker, minutes: Iterable[int]) -> list[Closing]:
    """Returns the closings of minutes in which both symbols change, the second one now and then."""
    closings = []
    for minute in minutes:
        prices = random.Random(minute)
        for second in (1, 20, 40):
            for symbol in ("USD", "EUR") if prices.random() < 0.3 else ("USD",):
                time = bar_time(datetime.fromtimestamp(minute + second, UTC))
                quote = replace(doviz(symbol, "currency"), price=prices.uniform(40, 50), timestamp=time)
                maker.add(quote, None, minute + second)
        closings += maker.close(minute + 62)
    return closings


@pytest.mark.slow
@pytest.mark.parametrize("minutes", [1, 3, 5, 14, 15, 58, 60, 203, 15 * 60])
async def test_coarser_bars_go_on_from_the_stored_ones(
    bus: RedisBus, database: Database, minutes: int
) -> None:
    """They equal, bit for bit, those of a leader that never died."""
    died = BEGAN + minutes * 60
    await write_until(bus, database, died)
    maker = BarMaker(CALENDAR)
    recalled = await writer_of(bus, database, feed=Feed.DOVIZ).recall(CALENDAR, died + 30)
    assert recalled is not None
    maker.inherit({}, recalled.parts, recalled.through)
    later = range(died, BEGAN + 17 * 3600, 60)
    expected = closings_of(BarMaker(CALENDAR), [*range(BEGAN, died, 60), *later])
    assert closings_of(maker, later) == [each for each in expected if each.through > died]
    assert {interval for each in expected for interval in each.bars} == {"1m", "5m", "15m", "1h", "D"}


@pytest.mark.parametrize("seconds", [-3600, DAY + 3600])
async def test_bars_of_another_time_are_not_recalled(bus: RedisBus, database: Database, seconds: int) -> None:
    """A recording that starts over, and a feed that was away for days, begin from scratch."""
    died = BEGAN + 60
    await write_until(bus, database, died)
    assert await writer_of(bus, database, feed=Feed.DOVIZ).recall(CALENDAR, died + seconds) is None


async def test_without_postgres_nothing_is_recalled(bus: RedisBus) -> None:
    """Quotes do not wait for bars."""
    async with open_database("postgresql://nobody@127.0.0.1:1/none") as database:
        assert await writer_of(bus, database).recall(CALENDAR, BEGAN) is None


async def test_a_leader_recalls_only_what_redis_lacks() -> None:
    """The state in Redis is newer than PostgreSQL, if there is one."""
    bus = MemoryBus(lambda: 0.0)
    provider = SimulatorProvider(Feed.DOVIZ, seed=1, rate=1.0, speed=1.0, always_open=True)
    calls = []

    async def recall(*arguments: object) -> None:
        calls.append(arguments)

    for _ in range(2):
        async with running(FeedPublisher(provider, bus, "me", recall=recall).run()):
            await until(lambda: bool(bus._states))
    assert len(calls) == 1
