"""The writer of events on a real Redis and PostgreSQL: once each, in order, whatever dies in between."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from random import Random
from typing import Any, Final

import asyncpg
import pytest

from quotecast.alerts import storage
from quotecast.alerts.statistics import AlertStatistics
from quotecast.alerts.writer import CROSSINGS, DEADLINE_SECONDS, POLL_SECONDS, CrossingWriter
from quotecast.bus.redis import RedisBus
from quotecast.database import migrations
from quotecast.database.database import Database
from quotecast.market.crossings import NO_CROSSING, Crossing, CrossingId, Measure
from quotecast.market.feeds import Feed
from support.oracles.transactions import open_database
from support.runs.deadlines import scaled
from support.servers.processes import Postgres
from support.stages.alert_store import AlertRow, MemoryStore
from support.stages.alerts_stored import USER, fetch, put_alerts, put_crossings, stored_events, wait_for_lock

#: A Friday, in milliseconds.
FIRST: Final = 1_763_722_800_000
MEASURES: Final[tuple[Measure, ...]] = ("price", "5m", "15m", "1h", "day")
TICKERS: Final = ("AAPL", "MSFT")
EPS: Final = 0.000_5


@pytest.fixture
async def bus(redis_url: str) -> AsyncIterator[RedisBus]:
    bus = RedisBus(redis_url, "test")
    yield bus
    await bus.close()


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url, statement_cache=0) as database:
        yield database


def steps(count: int, seed: int = 0) -> list[Crossing]:
    """Returns steps of measures between quarters, of which many cross no threshold."""
    random = Random(seed)
    made = []
    for number in range(count):
        before, value = random.sample(range(-8, 9), 2)
        place = random.choice(TICKERS), random.choice(MEASURES)
        moment = FIRST + number // 2
        made.append(Crossing(moment, number % 2, *place, before / 4, value / 4, 100.25, moment / 1000 + EPS))
    return made


def alerts(count: int, seed: int = 0) -> list[AlertRow]:
    random = Random(seed)
    return [
        AlertRow(
            str(number),
            random.choice([Feed.STOCKS, Feed.STOCKS, Feed.CRYPTO]),
            random.choice(TICKERS),
            random.choice(MEASURES),
            random.choice(("up", "down")),
            random.randrange(-8, 9) / 4,
            FIRST / 1000 + random.randrange(300) / 1000,
            repeats=random.random() < 0.5,
            active=random.random() < 0.8,
        )
        for number in range(count)
    ]


def bouncing(count: int) -> list[Crossing]:
    """Returns steps of AAPL's price over 100, up and down."""
    return [
        Crossing(FIRST + number, 0, "AAPL", "price", *values, values[1], FIRST / 1000 + number)
        for number in range(count)
        for values in [(99.5, 100.0) if number % 2 == 0 else (100.0, 99.5)]
    ]


def waiting_for_100(**more: Any) -> AlertRow:
    return AlertRow("7", Feed.STOCKS, "AAPL", "price", "up", 100.0, FIRST / 1000, **more)


async def write_all(writer: CrossingWriter) -> None:
    """Steps until nothing is left."""
    async with asyncio.timeout(scaled(30)):
        while await writer.step() != POLL_SECONDS:
            pass


async def test_events_are_those_of_the_definition(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """The statement agrees with a plain loop over crossings and alerts, in the same order of crossings."""
    rows, made, store = alerts(200), steps(2 * CROSSINGS + 50), MemoryStore()
    await put_alerts(own_accounts_url, database, rows)
    await put_crossings(bus, made)
    statistics = AlertStatistics()
    await write_all(CrossingWriter(Feed.STOCKS, bus, database, statistics=statistics))
    store.alerts = {alert.id: alert for alert in rows}
    await store.session(partial(storage.write, feed=Feed.STOCKS, after=NO_CROSSING, crossings=made))
    stored = await stored_events(own_accounts_url)
    assert sorted(stored) == sorted((key, round(at, 4), value) for key, at, value in store.events)
    assert [at for _, at, _ in stored] == sorted(at for _, at, _ in stored)
    assert (statistics.events, statistics.waiting, statistics.failures) == (len(stored), 0, 0)
    inactive = {
        str(int(row["id"], 16))
        for row in await fetch(own_accounts_url, "SELECT id FROM alerts WHERE NOT active")
    }
    assert inactive == {alert.id for alert in rows if not alert.active}
    assert await bus.count_crossings(Feed.STOCKS) == 1
    (row,) = await fetch(own_accounts_url, "SELECT * FROM alert_crossings_written")
    assert tuple(row) == ("stocks", str(made[-1].id))


async def test_each_event_goes_to_the_webhook_and_to_all_browsers(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    await put_alerts(own_accounts_url, database, [waiting_for_100(repeats=True)], webhook=True, push=True)
    await put_crossings(bus, bouncing(4))
    async with bus.announcements() as heard:
        await write_all(CrossingWriter(Feed.STOCKS, bus, database))
        assert await anext(heard) == [USER]
    query = "SELECT event_id, user_id, channel, target, state FROM alert_deliveries ORDER BY 1, 3 DESC, 4"
    deliveries = [tuple(row) for row in await fetch(own_accounts_url, query)]
    events = [row["id"] for row in await fetch(own_accounts_url, "SELECT id FROM alert_events ORDER BY 1")]
    assert len(events) == 2
    browsers = [f"{number:024x}" for number in range(2)]
    assert deliveries == [
        (event, USER, channel, target, "waiting")
        for event in events
        for channel, target in [("webhook", ""), *(("push", each) for each in browsers)]
    ]


@pytest.mark.slow
async def test_a_crossing_that_many_alerts_wait_for_takes_several_transactions(
    bus: RedisBus, own_accounts_url: str
) -> None:
    """Each ends well before its deadline; a writer that dies between two makes no event twice."""
    seconds, count = DEADLINE_SECONDS, 4 * storage.MATCHES
    async with open_database(own_accounts_url, statement_cache=0, deadline_seconds=seconds) as database:
        await put_alerts(own_accounts_url, database, [])
        await fetch(
            own_accounts_url,
            "INSERT INTO alerts (id, user_id, kind, ticker, measure, direction, threshold, repeats, armed_at,"  # noqa: S608 - constants
            f" by_webhook) SELECT lpad(to_hex(number), 24, '0'), '{USER}', 'stock', 'AAPL', 'price', 'up',"
            f" 100, number % 2 = 0, to_timestamp({FIRST // 1000}), true"
            f" FROM generate_series(1, {count}) AS number",
        )
        made = bouncing(2)
        await put_crossings(bus, made)
        writer = CrossingWriter(Feed.STOCKS, bus, database)
        async with bus.announcements() as heard:
            assert await writer.step() == 0
            assert await anext(heard) == [USER]
        assert await writer.step() == 0
        last = CrossingWriter(Feed.STOCKS, bus, database)
        await write_all(last)
        assert (writer.statistics.failures, last.statistics.failures) == (0, 0)
        assert writer.statistics.events + last.statistics.events == count
        query = "SELECT count(*) AS all, count(DISTINCT alert_id) AS alerts FROM alert_events"
        (events,) = await fetch(own_accounts_url, query)
        (deliveries,) = await fetch(own_accounts_url, "SELECT count(*) FROM alert_deliveries")
        assert (*events, *deliveries) == (count, count, count)
        assert await database.session(partial(storage.last_written, feed=Feed.STOCKS)) == made[-1].id


async def test_an_alert_without_repeats_has_one_event(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """It ends the alert, and tells the leaders so."""
    await put_alerts(own_accounts_url, database, [waiting_for_100()])
    await put_crossings(bus, bouncing(20))
    await write_all(CrossingWriter(Feed.STOCKS, bus, database))
    assert await stored_events(own_accounts_url) == [("7", FIRST / 1000, 100.0)]
    assert await database.session(storage.changes) == {"stock": 1}
    assert await database.session(partial(storage.levels, kind="stock")) == {}


async def test_a_repeating_alert_stops_at_its_last_event(
    bus: RedisBus, database: Database, own_accounts_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound holds within a transaction and over several; a new start counts from zero."""
    monkeypatch.setattr(storage, "EVENTS_OF_ALERT", 5)
    await put_alerts(own_accounts_url, database, [waiting_for_100(repeats=True)])
    made = bouncing(40)
    for count in (6, 40):
        await put_crossings(bus, made[:count])
        await write_all(CrossingWriter(Feed.STOCKS, bus, database))
    assert await stored_events(own_accounts_url) == [("7", each.at, 100.0) for each in made[:10:2]]
    assert await database.session(partial(storage.levels, kind="stock")) == {}
    assert await database.session(storage.changes) == {"stock": 1}
    rows = await fetch(own_accounts_url, "SELECT active, events FROM alerts")
    assert [tuple(row) for row in rows] == [(False, 5)]


async def test_writers_of_two_ingests_are_as_one(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    await put_alerts(own_accounts_url, database, [waiting_for_100(repeats=True)])
    made = bouncing(3 * CROSSINGS)
    await put_crossings(bus, made)
    await asyncio.gather(*(write_all(CrossingWriter(Feed.STOCKS, bus, database)) for _ in range(3)))
    assert await stored_events(own_accounts_url) == [("7", each.at, 100.0) for each in made[::2]]


async def test_ids_of_events_grow_in_the_order_of_commits(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """The writers of other feeds wait, so a reader that asks for later ids misses none."""
    await put_alerts(own_accounts_url, database, [waiting_for_100()])
    await put_crossings(bus, bouncing(1))
    connection = await asyncpg.connect(own_accounts_url)
    transaction = connection.transaction()
    await transaction.start()
    await storage.write(connection, feed=Feed.CRYPTO, after=NO_CROSSING, crossings=bouncing(1))
    writing = asyncio.create_task(write_all(CrossingWriter(Feed.STOCKS, bus, database)))
    await wait_for_lock(own_accounts_url)
    assert await stored_events(own_accounts_url) == []
    await transaction.commit()
    await writing
    await connection.close()
    assert len(await stored_events(own_accounts_url)) == 1


async def test_a_writer_that_dies_in_its_transaction_leaves_nothing_and_skips_nothing(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    await put_alerts(own_accounts_url, database, [waiting_for_100(repeats=True)])
    await put_crossings(bus, bouncing(10))

    async def die(connection: Any) -> None:
        await storage.write(connection, feed=Feed.STOCKS, after=NO_CROSSING, crossings=bouncing(10))
        connection.terminate()

    with contextlib.suppress(Exception):
        await database.session(die)
    assert await stored_events(own_accounts_url) == []
    await write_all(CrossingWriter(Feed.STOCKS, bus, database))
    assert len(await stored_events(own_accounts_url)) == 5


async def test_a_writer_whose_commit_got_no_answer_writes_nothing_twice(
    bus: RedisBus, database: Database, own_accounts_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put_alerts(own_accounts_url, database, [waiting_for_100(repeats=True)])
    await put_crossings(bus, bouncing(10))
    session, lost = database.session, list[Any]()

    async def lose_answer(work: Any) -> Any:
        answer = await session(work)
        if work.func is storage.write and not lost:
            lost.append(answer)
            raise ConnectionResetError
        return answer

    monkeypatch.setattr(database, "session", lose_answer)
    writer = CrossingWriter(Feed.STOCKS, bus, database)
    await write_all(writer)
    assert lost
    assert len(await stored_events(own_accounts_url)) == 5
    assert writer.statistics.failures == 1


async def test_a_user_who_changes_an_alert_meanwhile_has_no_event_of_before(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """The writer waits for the change, and then sees it."""
    await put_alerts(own_accounts_url, database, [waiting_for_100()])
    await put_crossings(bus, bouncing(10))
    connection = await asyncpg.connect(own_accounts_url)
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute("UPDATE alerts SET armed_at = now()")
    writing = asyncio.create_task(write_all(CrossingWriter(Feed.STOCKS, bus, database)))
    await wait_for_lock(own_accounts_url)
    await transaction.commit()
    await writing
    await connection.close()
    assert await stored_events(own_accounts_url) == []


async def test_events_wait_for_a_postgres_that_is_away(bus: RedisBus, own_postgres: Postgres) -> None:
    await migrations.apply(own_postgres.url)
    async with open_database(own_postgres.url, statement_cache=0) as database:
        await put_alerts(own_postgres.url, database, [waiting_for_100(repeats=True)])
        writer = CrossingWriter(Feed.STOCKS, bus, database)
        made = bouncing(40)
        await put_crossings(bus, made[:10])
        await write_all(writer)
        own_postgres.kill()
        await put_crossings(bus, made[:30])
        assert 0 < await writer.step() < POLL_SECONDS
        await put_crossings(bus, made)
        await writer.step()
        assert (writer.statistics.failures, writer.statistics.waiting) == (2, 30)
        await asyncio.to_thread(own_postgres.start)
        await write_all(writer)
        assert await stored_events(own_postgres.url) == [("7", each.at, 100.0) for each in made[::2]]


async def test_crossings_of_a_future_that_was_none_stop_no_writer(
    bus: RedisBus, database: Database, own_accounts_url: str
) -> None:
    """An ingest's clock was wrong once; events that exist do not come again."""
    await put_alerts(own_accounts_url, database, [waiting_for_100(repeats=True)])
    await put_crossings(bus, bouncing(4))
    await write_all(CrossingWriter(Feed.STOCKS, bus, database))
    far = CrossingId(99 * FIRST, 0)
    await database.session(lambda each: each.execute(storage._NOTE_WRITTEN, "stocks", str(far)))
    await put_crossings(bus, bouncing(8))
    await write_all(CrossingWriter(Feed.STOCKS, bus, database))
    assert len(await stored_events(own_accounts_url)) == 4
