"""The roll-up of usage on a real PostgreSQL and a real Valkey: batches count once, outages lose nothing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from redis import asyncio as aioredis

from quotecast.access import usage_storage
from quotecast.access.rollup import ROLL_UP_SECONDS, Reserve, RollUp
from quotecast.access.usage import Taken, Usage
from quotecast.access.usage_storage import KEEP_DAYS, UsageBatch, Used
from quotecast.database import migrations
from quotecast.database.database import Database
from quotecast.database.tables import ApiKey
from quotecast.errors import DatabaseAway
from support.stages.stored_keys import Clocks, StoredKeys, id_of

pytestmark = pytest.mark.usefixtures("patient_redis")

DAY = date(2026, 11, 20)


class FaultyDatabase:
    """A database that fails when a test says so: before its work, or after its commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.fails = ""

    async def session(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        if self.fails == "before":
            raise DatabaseAway
        result = await self._database.session(work)
        if self.fails == "after":
            raise DatabaseAway
        return result


class Worker:
    """The counts and the roll-up of one worker."""

    def __init__(self, name: str, database: Database, reserve: Reserve, clocks: Clocks) -> None:
        self.usage = Usage(clocks.monotonic)
        self.database = FaultyDatabase(database)
        self.roll_up = RollUp(
            self.usage,
            self.database,  # type: ignore[arg-type]  # all that a roll-up asks of a database
            reserve,
            worker=name,
            wall_clock=clocks.wall,
            clock=clocks.monotonic,
        )

    def request(self, key_id: str, count: int = 1) -> None:
        for _ in range(count):
            self.usage.add_request(key_id, 200)


class Stage:
    """Two workers over one PostgreSQL and one Valkey."""

    def __init__(self, database: Database, reserve: Reserve, client: aioredis.Redis) -> None:
        self._client = client
        self.clocks = Clocks()
        self.database = database
        self.keys = StoredKeys(database, self.clocks)
        self.reserve = reserve
        self.one, self.two = (Worker(name, database, reserve, self.clocks) for name in ("one", "two"))

    async def key(self) -> str:
        return id_of(await self.keys.add())

    async def end_lease_of_one(self) -> None:
        """Does what the time does after worker one died."""
        assert await self._client.ttl("t:usage:one") > 0
        await self._client.delete("t:usage:one")

    async def rows(self) -> dict[tuple[str, date], tuple[int, ...]]:
        async def read(connection: Any) -> list[Any]:
            return list(await connection.fetch("SELECT * FROM api_key_usage"))

        return {(row[0], row[1]): tuple(row)[2:] for row in await self.database.session(read)}

    async def requests(self) -> dict[str, int]:
        return {key_id: row[0] for (key_id, _), row in (await self.rows()).items()}


@pytest.fixture
async def stage(database_url: str, redis_url: str) -> AsyncIterator[Stage]:
    await migrations.apply(database_url)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(database_url, pool_size=3, deadline_seconds=20.0))
        reserve = await stack.enter_async_context(Reserve(redis_url, "t"))
        client = await stack.enter_async_context(aioredis.Redis.from_url(redis_url))
        yield Stage(database, reserve, client)


async def test_workers_add_up(stage: Stage) -> None:
    """Every count of every worker arrives, in the row of its key and day."""
    key, other = await stage.key(), await stage.key()
    for worker in (stage.one, stage.two):
        worker.request(key, 3)
        counts = worker.usage.open_socket(other)
        counts.quotes, counts.bytes = 7, 900
        worker.usage.add_request(other, 429)
    stage.clocks.passed += 2.5
    assert [await worker.roll_up.step() for worker in (stage.one, stage.two)] == [True, True]
    assert await stage.rows() == {(key, DAY): (6, 0, 0, 0, 0), (other, DAY): (2, 2, 5000, 14, 1800)}
    stage.one.request(key)
    await stage.one.roll_up.step()
    assert (await stage.requests())[key] == 7


async def test_workers_that_roll_up_together_do_not_deadlock(stage: Stage) -> None:
    """Both lock the rows of the same keys in one order."""
    keys = [await stage.key() for _ in range(20)]
    for _ in range(10):
        for key in keys:
            stage.one.request(key)
        for key in reversed(keys):
            stage.two.request(key)
        done = await asyncio.gather(stage.one.roll_up.step(), stage.two.roll_up.step())
        assert [*done] == [True, True]
    assert await stage.requests() == dict.fromkeys(keys, 20)


async def test_retry_of_a_committed_batch_adds_nothing(stage: Stage) -> None:
    """The answer to the commit was lost; what came meanwhile goes into the next batch."""
    key = await stage.key()
    stage.one.request(key, 5)
    stage.one.database.fails = "after"
    assert not await stage.one.roll_up.step()
    stage.one.request(key)
    assert not await stage.one.roll_up.step()
    stage.one.database.fails = ""
    assert await stage.one.roll_up.step()
    assert await stage.requests() == {key: 6}


async def test_outage_loses_nothing(stage: Stage) -> None:
    """The counts of an outage add up in the worker, by day."""
    key = await stage.key()
    stage.one.database.fails = "before"
    for _ in range(6):
        stage.one.request(key)
        stage.clocks.passed += ROLL_UP_SECONDS
        assert not await stage.one.roll_up.step()
    stage.clocks.passed += 86_400
    assert not await stage.one.roll_up.step()
    stage.one.request(key, 2)
    stage.one.database.fails = ""
    assert await stage.one.roll_up.step()
    rows = await stage.rows()
    assert {day: row[0] for (_, day), row in rows.items()} == {DAY: 6, DAY + timedelta(days=1): 2}


async def test_worker_killed_in_an_outage_leaves_its_counts_to_another(stage: Stage) -> None:
    """It loses what came after its last copy to Redis. Nobody takes the copy while its lease lasts."""
    key = await stage.key()
    stage.one.database.fails = "before"
    stage.one.request(key, 4)
    await stage.one.roll_up.step()
    stage.one.request(key, 3)
    await stage.one.roll_up.step()
    stage.one.request(key, 100)
    assert await stage.reserve.orphans("two") == {}
    await stage.end_lease_of_one()
    assert await stage.two.roll_up.step()
    assert await stage.requests() == {key: 7}
    assert await stage.reserve.orphans("three") == {}


async def test_counts_of_many_dead_workers_arrive_one_by_one(stage: Stage) -> None:
    """A roll-up takes over one worker, so that the next roll-up is not late."""
    key = await stage.key()
    for name in ("three", "four", "five"):
        dead = Worker(name, stage.database, stage.reserve, stage.clocks)
        dead.database.fails = "before"
        dead.request(key)
        await dead.roll_up.flush()
    for count in (1, 2, 3):
        assert await stage.two.roll_up.step()
        assert await stage.requests() == {key: count}


async def test_copy_whose_batch_was_committed_adds_nothing(stage: Stage) -> None:
    """A worker died after a commit, whose answer it did not get."""
    key = await stage.key()
    stage.one.request(key, 4)
    stage.one.database.fails = "after"
    await stage.one.roll_up.step()
    stage.one.request(key, 3)
    await stage.one.roll_up.step()
    await stage.end_lease_of_one()
    assert await stage.two.roll_up.step()
    assert await stage.requests() == {key: 7}


async def test_end_of_an_outage_removes_the_copy(stage: Stage, redis_url: str) -> None:
    """A copy of stored counts would wait in Redis for nobody."""
    key = await stage.key()
    stage.one.database.fails = "before"
    stage.one.request(key)
    await stage.one.roll_up.step()
    async with aioredis.Redis.from_url(redis_url) as client:
        assert await client.hkeys("t:usage") == [b"one"]
        assert 0 < await client.ttl("t:usage") <= 7 * 86_400
        stage.one.database.fails = ""
        assert await stage.one.roll_up.step()
        assert await client.hkeys("t:usage") == []


async def test_stopping_worker_rolls_up(stage: Stage) -> None:
    """In an outage others take its counts at once, without waiting for a lease."""
    key = await stage.key()
    stage.one.request(key, 2)
    await stage.one.roll_up.flush()
    assert await stage.requests() == {key: 2}
    stage.one.database.fails = "before"
    stage.one.request(key, 3)
    await stage.one.roll_up.flush()
    assert await stage.two.roll_up.step()
    assert await stage.requests() == {key: 5}


async def test_outage_of_both_loses_nothing_while_the_worker_lives(stage: Stage) -> None:
    """Without Redis the counts are in the worker only."""
    key = await stage.key()
    async with Reserve("redis://127.0.0.1:1", "t") as nowhere:
        worker = Worker("three", stage.database, nowhere, stage.clocks)
        worker.database.fails = "before"
        worker.request(key, 2)
        assert not await worker.roll_up.step()
        worker.database.fails = ""
        worker.request(key)
        assert await worker.roll_up.step()
    assert await stage.requests() == {key: 3}


async def test_worker_without_keys_asks_nothing(stage: Stage) -> None:
    """An outage of PostgreSQL does not concern it."""
    stage.one.database.fails = "before"
    assert await stage.one.roll_up.step()


async def test_deleted_key_does_not_stop_the_others(stage: Stage) -> None:
    """Its rows go with it, and later counts of it are dropped."""
    gone, key = await stage.key(), await stage.key()
    for each in (gone, key):
        stage.one.request(each)
    await stage.one.roll_up.step()
    await stage.keys.run(lambda run: run(ApiKey.delete().where(ApiKey.id == gone)))
    for each in (gone, key):
        stage.one.request(each)
    assert await stage.one.roll_up.step()
    assert await stage.requests() == {key: 2}


async def test_counts_do_not_cross_midnight(stage: Stage) -> None:
    """A worker rolls up at midnight; what it takes then belongs to the day before."""
    key = await stage.key()
    assert stage.one.roll_up.pause() == ROLL_UP_SECONDS
    end = datetime(2026, 11, 21, tzinfo=UTC).timestamp()
    stage.clocks.passed = end - 4.0 - (stage.clocks.wall() - stage.clocks.passed)
    assert stage.one.roll_up.pause() == pytest.approx(4.0, abs=0.01)
    stage.one.request(key)
    stage.clocks.passed += 4.001
    await stage.one.roll_up.step()
    stage.one.request(key)
    await stage.one.roll_up.step()
    assert {day for _, day in await stage.rows()} == {DAY, DAY + timedelta(days=1)}


async def test_old_rows_go_at_the_first_roll_up_of_a_day(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part at each roll-up, until none is left."""
    monkeypatch.setattr(usage_storage, "PART", 2)
    key = await stage.key()
    days = [DAY - timedelta(days=KEEP_DAYS + 1 - number) for number in range(5)]
    old = UsageBatch("x", 1, [Used(key, day, Taken(1, 0, 0, 0, 0)) for day in days])
    older = [Used(key, DAY - timedelta(days=500 + number), Taken(1, 0, 0, 0, 0)) for number in range(2)]
    for batch in (old, UsageBatch("x", 2, older)):
        await stage.database.session(partial(usage_storage.add, batch=batch))
    left = []
    for _ in range(3):
        stage.one.request(key)
        assert await stage.one.roll_up.step()
        left.append(sorted(day for _, day in await stage.rows()))
    assert [len(each) for each in left] == [6, 5, 5]
    assert left[-1] == [*days[1:], DAY]
