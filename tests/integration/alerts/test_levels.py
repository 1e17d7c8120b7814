"""The thresholds that a leader knows, on a real PostgreSQL and Redis."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from quotecast.alerts import alerts
from quotecast.alerts.levels import POLL_SECONDS, RELOAD_SECONDS, LevelBook
from quotecast.alerts.statistics import AlertStatistics
from quotecast.bus.redis import RedisBus
from quotecast.database import migrations
from quotecast.database.database import Database, Run
from quotecast.database.tables import User
from quotecast.errors import NotFound
from quotecast.market.crossings import Thresholds
from quotecast.market.feeds import Feed
from quotecast.users.account import Account
from quotecast.users.users import UserRow
from support.oracles.transactions import open_database, register_user
from support.runs.waits import until
from support.servers.processes import Postgres
from support.stages.alerts_stored import fetch

NOW: Final = datetime(2026, 3, 10, tzinfo=UTC)
WRITERS: Final = 4
ALERTS: Final = 40


@pytest.fixture
async def bus(redis_url: str) -> AsyncIterator[RedisBus]:
    bus = RedisBus(redis_url, "test")
    yield bus
    await bus.close()


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url, statement_cache=0, pool_size=WRITERS + 1) as database:
        for number in range(WRITERS):
            await database.transaction(register_user(number))
        yield database


class Following(LevelBook):
    """A book whose clock the test sets: nothing is read again by time."""

    def __init__(self, bus: RedisBus, database: Database) -> None:
        self.time = 0.0
        self.counts = {feed: AlertStatistics() for feed in Feed}
        super().__init__(bus, database, self.counts, clock=lambda: self.time)

    def thresholds(self, feed: Feed = Feed.STOCKS) -> set[float]:
        return {value for own in self.of(feed).values() for each in own for value in (*each.up, *each.down)}


async def with_account(database: Database, number: int, work: Any) -> Any:
    async def with_queries(run: Run) -> Any:
        rows = await run(User.select().where(User.id == f"{number:024x}").lock_rows("NO KEY UPDATE"))
        return await work(Account(run, UserRow(**rows[0])))

    return await database.transaction(with_queries)


async def create(database: Database, threshold: float, *, user: int = 0, kind: str = "stock") -> None:
    values = {"kind": kind, "ticker": "AAPL", "measure": "price", "direction": "up", "threshold": threshold}

    async def work(account: Account) -> None:
        await alerts.create(account, now=NOW, most=1000, id=f"{int(threshold):024x}", **values)
        # Commits of several users end in another order than they began.
        await asyncio.sleep(0.001 * (threshold % 3))

    await with_account(database, user, work)


async def test_no_alert_of_concurrent_users_is_missed(bus: RedisBus, database: Database) -> None:
    """Each look has every alert whose creation ended before it."""
    book, committed = Following(bus, database), set[float]()
    assert await book.step() == POLL_SECONDS

    async def create_many(user: int) -> None:
        for number in range(ALERTS):
            threshold = float(1 + user * ALERTS + number)
            await create(database, threshold, user=user)
            committed.add(threshold)

    async with asyncio.TaskGroup() as tasks:
        creating = [tasks.create_task(create_many(user)) for user in range(WRITERS)]
        while not all(task.done() for task in creating):
            before = set(committed)
            await book.step()
            assert before <= book.thresholds()
            assert book.thresholds() <= {float(number) for number in range(1, WRITERS * ALERTS + 1)}
    await book.step()
    assert book.thresholds() == committed
    assert book.counts[Feed.STOCKS].thresholds == len(committed) == WRITERS * ALERTS


async def test_changes_and_deletions_are_seen(bus: RedisBus, database: Database) -> None:
    book = Following(bus, database)
    await book.step()
    await create(database, 100.0)
    await create(database, 50.0, kind="crypto")
    await book.step()
    assert book.of(Feed.STOCKS) == {"AAPL": (Thresholds("price", (100.0,)),)}
    assert book.thresholds(Feed.CRYPTO) == {50.0}
    await with_account(
        database,
        0,
        lambda own: alerts.change(own, f"{100:024x}", {"direction": "down", "threshold": 90.0}, NOW),
    )
    await book.step()
    assert book.of(Feed.STOCKS) == {"AAPL": (Thresholds("price", (), (90.0,)),)}
    await with_account(database, 0, lambda own: alerts.change(own, f"{100:024x}", {"active": False}, NOW))
    await book.step()
    assert book.of(Feed.STOCKS) == {}
    await with_account(database, 0, lambda own: alerts.remove(own, f"{50:024x}"))
    await book.step()
    assert book.of(Feed.CRYPTO) == {}
    with pytest.raises(NotFound):
        await with_account(database, 0, lambda own: alerts.remove(own, f"{50:024x}"))


async def test_a_change_that_counts_nowhere_is_seen_within_a_minute(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """A user's deletion takes the alerts along; someone restores a backup."""
    book = Following(bus, database)
    await create(database, 100.0)
    await book.step()
    await fetch(own_accounts_url, "DELETE FROM users")
    await book.step()
    assert book.thresholds() == {100.0}
    book.time += RELOAD_SECONDS
    await book.step()
    assert book.thresholds() == set()


async def test_an_alert_is_armed_by_a_new_condition_or_start(
    database: Database, own_accounts_url: str
) -> None:
    """Not by a note, and not by the same values."""
    await create(database, 100.0)
    later = NOW.replace(year=2027)
    query = "SELECT armed_at FROM alerts"

    async def change(**values: Any) -> datetime:
        await with_account(database, 0, lambda own: alerts.change(own, f"{100:024x}", values, later))
        armed_at: datetime = (await fetch(own_accounts_url, query))[0]["armed_at"]
        return armed_at

    assert await change(note="x", active=True, threshold=100.0) == NOW
    assert await change(active=False) == NOW
    assert await change(active=True) == later
    later = NOW.replace(year=2028)
    assert await change(threshold=101.0) == later


async def test_an_ingest_that_starts_without_postgres_has_the_copy(
    bus: RedisBus, own_postgres: Postgres
) -> None:
    """It follows the changes again once PostgreSQL is back; with neither of them there are no alerts."""
    await migrations.apply(own_postgres.url)
    async with open_database(own_postgres.url, statement_cache=0) as database:
        await database.transaction(register_user(0))
        await create(database, 100.0)
        own_postgres.kill()
        early = Following(bus, database)
        assert await early.step() != POLL_SECONDS
        assert early.thresholds() == set()
        await asyncio.to_thread(own_postgres.start)
        assert await early.step() == POLL_SECONDS
        own_postgres.kill()
        book = Following(bus, database)
        await asyncio.gather(book.wait_until_known(), book.step())
        assert book.thresholds() == {100.0}
        assert book.counts[Feed.STOCKS].thresholds == 1
        await asyncio.to_thread(own_postgres.start)
        await create(database, 101.0)
        await book.step()
        assert book.thresholds() == {100.0, 101.0}


async def test_a_frozen_postgres_does_not_delay_the_copy(bus: RedisBus, own_postgres: Postgres) -> None:
    await migrations.apply(own_postgres.url)
    async with open_database(own_postgres.url, statement_cache=0) as database:
        await database.transaction(register_user(0))
        await create(database, 100.0)
        await Following(bus, database).step()
        own_postgres.freeze()
        book = Following(bus, database)
        looking = asyncio.create_task(book.step())
        await until(book.thresholds)
        assert not looking.done()
        own_postgres.thaw()
        await looking
        assert book.thresholds() == {100.0}


async def test_an_unreadable_copy_is_none(bus: RedisBus, own_postgres: Postgres) -> None:
    async with open_database(own_postgres.url, statement_cache=0) as database:
        await bus.store_levels(Feed.STOCKS, b"\xc1")
        own_postgres.kill()
        book = Following(bus, database)
        await book.step()
        assert book.thresholds() == set()
