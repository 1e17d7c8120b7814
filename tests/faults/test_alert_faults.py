"""The ingest, PostgreSQL and Redis die while prices cross the thresholds of alerts, under the load.

Simulated worlds play all other faults of these; here are the hardest ones, on real processes.

Two alerts that repeat wait at each threshold, one for each direction, and no price ever equals it. So the
events of a threshold go up and down in turn: one too few or too many makes two of one direction meet.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import asyncpg
import pytest

from quotecast.bus.base import Snapshot
from quotecast.bus.redis import RedisBus
from quotecast.market.feeds import Feed
from support.runs.figures import Figures
from support.runs.waits import until_answered, wait_until
from support.servers.whole_service import Whole
from support.stages.alerts_stored import USER, fetch

pytestmark = pytest.mark.timeout(600)

PATIENCE_SECONDS: Final = 90.0
#: Seconds from the end of an outage until PostgreSQL has an event of after it.
WRITTEN_SECONDS: Final = 15.0
#: Symbols of each feed, and thresholds of each: around its price, and off the grid of prices.
SYMBOLS: Final = 40
OFFSETS: Final = tuple(number * 0.0002 + 0.000_031_7 for number in range(-4, 5))
#: Events that each part of a test waits for.
EVENTS: Final = 50


@pytest.fixture(scope="module")
def watched(whole: Whole) -> Whole:
    """Returns the service with alerts on all feeds, which the ingest knows."""
    asyncio.run(put_alerts(whole))
    wait_for_events(whole, EVENTS)
    return whole


async def put_alerts(whole: Whole) -> None:
    rows = [
        (feed.spec.kind, key, direction, entry.quote.price * (1 + offset))
        for feed in Feed
        for key, entry in [*(await state_of(whole, feed)).entries.items()][:SYMBOLS]
        if entry.quote
        for offset in OFFSETS
        for direction in ("up", "down")
    ]
    connection = await asyncpg.connect(whole.postgres.url)
    try:
        await connection.execute(
            "INSERT INTO users (id, name, email, password_hash) VALUES ($1, 'Ayşe', 'a@example.com', '')",
            USER,
        )
        await connection.executemany(
            "INSERT INTO alerts (id, user_id, kind, ticker, measure, direction, threshold, repeats)"
            " VALUES ($1, $2, $3, $4, 'price', $5, $6, true)",
            [(f"{number:024x}", USER, *row) for number, row in enumerate(rows)],
        )
        await connection.execute("INSERT INTO alert_changes VALUES ('stock', 1), ('crypto', 1), ('doviz', 1)")
    finally:
        await connection.close()


async def state_of(whole: Whole, feed: Feed) -> Snapshot:
    bus = RedisBus(whole.redis.url, "quotecast")
    try:
        # The ingest starts.
        state: Snapshot = await until_answered(lambda: bus.load(feed), seconds=PATIENCE_SECONDS)
    finally:
        await bus.close()
    return state


def wait_for_events(whole: Whole, more: int) -> None:
    """Waits until so many more events happened from now on."""
    query = f"SELECT count(*) FROM alert_events WHERE happened_at > to_timestamp({time.time()})"  # noqa: S608 - ours
    wait_until(
        lambda: asyncio.run(fetch(whole.postgres.url, query))[0][0] >= more,
        "no events are written",
        seconds=PATIENCE_SECONDS,
        pause=0.1,
    )


def check_events(whole: Whole, figures: Figures) -> None:
    """Fails unless events are written soon, and those of each threshold go up and down in turn."""
    began = time.monotonic()
    wait_for_events(whole, 1)
    figures.at_most("events written again", time.monotonic() - began, WRITTEN_SECONDS)
    wait_for_events(whole, EVENTS)
    events = asyncio.run(fetch(whole.postgres.url, "SELECT * FROM alert_events ORDER BY id"))
    figures.note("events compared", len(events), "no promise", "events")
    assert [*broken_turns(events)] == []


def broken_turns(events: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yields the events that follow one of their own direction at a threshold."""
    directions: dict[tuple[str, str, float], str] = defaultdict(str)
    for event in events:
        place = event["kind"], event["ticker"], event["threshold"]
        if directions[place] == event["direction"]:
            yield *place, event["direction"], event["happened_at"]
        directions[place] = event["direction"]


def test_the_ingest_dies_while_prices_cross(watched: Whole, figures: Figures) -> None:
    """Once with a standby, and once without: the next leader knows the last quotes and the thresholds."""
    with watched.under_load():
        watched.start_ingest()
        watched.ingests.pop(0).kill()
        wait_for_events(watched, EVENTS)
        watched.ingests.pop().kill()
        watched.start_ingest()
        check_events(watched, figures)


def test_redis_dies_while_prices_cross_and_postgres_is_away(watched: Whole, figures: Figures) -> None:
    """The leader gives back what Redis had for PostgreSQL."""
    with watched.under_load():
        watched.postgres.kill()
        time.sleep(3)
        watched.redis.kill()
        (watched.redis.socket.parent / "dump.rdb").unlink(missing_ok=True)
        time.sleep(2)
        watched.redis.start()
        time.sleep(2)
        watched.postgres.start()
        check_events(watched, figures)
