"""The PostgreSQL of simulated worlds answers the service's statements as a real one does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any
from zoneinfo import ZoneInfo

import asyncpg
import pytest
from msgspec.structs import replace

from quotecast.access import storage as key_storage
from quotecast.access import usage_storage
from quotecast.access.usage import Taken
from quotecast.access.usage_storage import UsageBatch, Used
from quotecast.alerts import delivery_storage as deliveries
from quotecast.alerts import events as alert_events
from quotecast.alerts import storage as alert_storage
from quotecast.alerts.delivery_storage import Claim
from quotecast.alerts.messages import message_of, shown_event
from quotecast.database.database import Database, Run
from quotecast.errors import InvalidToken
from quotecast.history import storage as bar_storage
from quotecast.history.reader import StoredBars
from quotecast.history.recall import recall
from quotecast.market.calendars import AroundTheClock
from quotecast.market.crossings import NO_CROSSING, Crossing, CrossingId
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, OwnBar
from quotecast.users.account import open_account
from quotecast.users.tokens import Claims
from world.postgres_accounts import LIMIT
from world.postgres_data import Alert, KeyRow, Tables, Webhook, reads
from world.postgres_server import PostgresServer
from world.postgres_types import DATE, FLOAT8, INT4, INT8, TEXT, TIME

NOW = datetime.now(UTC).replace(microsecond=0)
SECONDS = int(NOW.timestamp())
USER, OTHER = "a" * 24, "f" * 24
SESSIONS = {USER: "1" * 24, OTHER: "2" * 24}
TABLES = {Alert: "alerts", KeyRow: "api_keys", Webhook: "webhooks"}
DAY = date(2026, 11, 26)


def alert(number: int, threshold: float, **choices: Any) -> Alert:
    return Alert(
        id=f"{number:024x}",
        user_id=choices.pop("user", USER),
        kind="crypto",
        ticker="BTC/USDT",
        threshold=threshold,
        armed_at=NOW - timedelta(minutes=1),
        **choices,
    )


ALERTS = [
    alert(1, 100.0),
    alert(2, 100.0, repeats=True, by_webhook=True),
    alert(3, 99.0, direction="down", repeats=True),
    alert(4, 103.0),
    alert(5, 1.0, measure="5m"),
    alert(6, 100.5, active=False),
    alert(7, 100.0, repeats=True, events=alert_storage.EVENTS_OF_ALERT - 1),
    alert(8, 100.0, repeats=True, by_webhook=True, user=OTHER),
]
WEBHOOKS = {
    user: Webhook(user_id=user, url=f"https://example.com/{user}", signing_secret="whsec_AAAA")
    for user in (USER, OTHER)
}
KEY = KeyRow(id="b" * 24, secret_hash="c" * 64, created_at=NOW)


#: What stories left behind, in statements that only tests ask for.
EVENTS = "SELECT alert_id, crossing, ticker, value, price, happened_at FROM alert_events ORDER BY id"
DELIVERIES = "SELECT attempts, state FROM alert_deliveries ORDER BY id"
COUNTS = "SELECT id, events, active::int AS active FROM alerts ORDER BY id"
USAGE = "SELECT key_id, day, requests, refused, socket_ms, quotes, bytes FROM api_key_usage ORDER BY day"


@reads(EVENTS, alert_id=TEXT, crossing=TEXT, ticker=TEXT, value=FLOAT8, price=FLOAT8, happened_at=TIME)
def _events(tables: Tables) -> list[Any]:
    return [
        (each.alert_id, each.crossing, each.ticker, each.value, each.price, each.happened_at)
        for each in tables.alert_events.values()
    ]


@reads(COUNTS, id=TEXT, events=INT4, active=INT4)
def _counts(tables: Tables) -> list[Any]:
    return [
        (each.id, each.events, int(each.active))
        for each in sorted(tables.alerts.values(), key=attrgetter("id"))
    ]


@reads(DELIVERIES, attempts=INT4, state=TEXT)
def _deliveries(tables: Tables) -> list[Any]:
    return [(each.attempts, each.state) for _, each in sorted(tables.alert_deliveries.items())]


@reads(USAGE, key_id=TEXT, day=DATE, requests=INT8, refused=INT8, socket_ms=INT8, quotes=INT8, bytes=INT8)
def _usage(tables: Tables) -> list[Any]:
    return [(*key, *counts) for key, counts in sorted(tables.api_key_usage.items(), key=str)]


async def rows(database: Database, statement: str) -> list[tuple[Any, ...]]:
    async def read(connection: Any) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await connection.fetch(statement)]

    return await database.session(read)


@pytest.fixture
async def real(accounts_url: str) -> AsyncIterator[Database]:
    """A database on a real server, with the alerts and the key."""
    connection = await asyncpg.connect(accounts_url)
    # What earlier tests in this database counted.
    for table in ("alert_changes", "alert_crossings_written", "bars_written"):
        await connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
    await connection.execute("UPDATE key_changes SET number = 0")
    for user in (USER, OTHER):
        await connection.execute(
            "INSERT INTO users (id, name, email, password_hash, created_at) VALUES ($1, 'a', $1, '', now())",
            user,
        )
        await connection.execute(
            "INSERT INTO sessions (id, user_id, device, address, created_at, expires_at)"
            " VALUES ($1, $2, '', '', now(), now())",
            SESSIONS[user],
            user,
        )
    for row in [*ALERTS, KEY, *WEBHOOKS.values()]:
        table = TABLES[type(row)]
        names = row.__struct_fields__
        places = ", ".join(f"${number + 1}" for number in range(len(names)))
        values = [getattr(row, name) for name in names]
        text = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})"  # noqa: S608 - names of ours
        await connection.execute(text, *values)
    await connection.close()
    async with Database(accounts_url, pool_size=2) as database:
        yield database


@contextlib.asynccontextmanager
async def served(server: PostgresServer, **options: Any) -> AsyncIterator[Database]:
    """Gives a database on a simulated server, with the service's own driver."""
    listener = await asyncio.get_running_loop().create_server(server.connection, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    url = f"postgresql://quotecast@127.0.0.1:{port}/quotecast?sslmode=disable"
    async with listener, Database(url, pool_size=2, **options) as database:
        yield database


@pytest.fixture
async def simulated() -> AsyncIterator[Database]:
    """The same on a simulated server."""
    server = PostgresServer()
    server.tables.alerts = {each.id: each for each in ALERTS}
    server.tables.api_keys = {KEY.id: KEY}
    server.tables.webhooks = dict(WEBHOOKS)
    server.tables.sessions = {session: user for user, session in SESSIONS.items()}
    async with served(server) as database:
        yield database


def crossing(number: int, before: float, value: float, **changes: Any) -> Crossing:
    at = SECONDS + number
    return Crossing(
        at * 1000, abs(number), "BTC/USDT", changes.get("measure", "price"), before, value, value, float(at)
    )


async def story_of_alerts(database: Database) -> list[Any]:
    """Crossings up and down, twice, of another measure, and with the wrong place to begin."""
    found: list[Any] = []

    async def write(after: CrossingId, *crossings: Crossing) -> None:
        work = partial(alert_storage.write, feed=Feed.CRYPTO, after=after, crossings=crossings)
        written = await database.session(work)
        found.append((written.last, written.events, sorted(written.users)))

    async def look() -> None:
        found.append(await database.session(alert_storage.changes))
        found.append(await database.session(partial(alert_storage.levels, kind="crypto")))
        found.append(await database.session(partial(alert_storage.last_written, feed=Feed.CRYPTO)))

    first = [crossing(1, 99.5, 101.0), crossing(2, 101.0, 98.0)]
    await look()
    await write(NO_CROSSING, *first)
    await look()
    await write(NO_CROSSING, *first)
    await write(first[-1].id, crossing(3, 98.0, 101.0), crossing(4, 0.5, 1.5, measure="5m"))
    await look()
    early = crossing(-100, 102.0, 104.0)
    await write(CrossingId((SECONDS + 4) * 1000, 4), early)
    await write(early.id, crossing(8000, 102.0, 104.0))
    await look()
    return [*found, await rows(database, EVENTS), await rows(database, COUNTS)]


async def story_of_usage(database: Database) -> list[Any]:
    """A batch that comes twice, an older one, an unknown key, a second day, and a deletion."""
    found: list[Any] = []

    async def run(work: Callable[[Any], Awaitable[Any]]) -> None:
        found.append(await database.session(work))

    def batch(number: int, *used: Used) -> Callable[[Any], Awaitable[Any]]:
        return partial(usage_storage.add, batch=UsageBatch("worker", number, list(used)))

    used = Used(KEY.id, DAY, Taken(1, 2, 3, 4, 5))
    for each in (2, 2, 1, 3):
        await run(batch(each, used, Used("d" * 24, DAY, used.counts)))
    await run(batch(4, Used(KEY.id, DAY - timedelta(days=500), used.counts)))
    found.append(await rows(database, USAGE))
    await run(partial(usage_storage.delete_before, day=DAY - timedelta(days=400)))
    await run(key_storage.number_of_changes)
    await run(partial(key_storage.known_keys, ids=[KEY.id, "e" * 24]))
    await run(key_storage.known_plans)
    return [*found, await rows(database, USAGE)]


async def story_of_deliveries(database: Database) -> list[Any]:
    """Two users have two events each: one of them is refused for good, one is sent at the third try."""
    found: list[Any] = []

    async def run(work: Callable[[Any], Awaitable[Any]]) -> Any:
        return await database.session(work)

    async def claim(*busy: str, seconds: float = 0.0) -> list[Claim]:
        work = partial(deliveries.claim, busy=busy, count=5, lease_seconds=seconds)
        claims: list[Claim] = await run(work)
        found.append([(each.url, each.attempts, each.signing_secret, each.event.value) for each in claims])
        found.extend(message_of(replace(each.event, id=0)) for each in claims)
        return claims

    async def fail(claim: Claim, *, is_final: bool = False) -> None:
        work = partial(
            deliveries.note_failure,
            problem="HTTP 500",
            delay=timedelta(),
            period=timedelta(1),
            is_final=is_final,
        )
        found.append(await run(partial(work, failed=claim)))

    async def cross(after: CrossingId, *crossings: Crossing) -> None:
        await run(partial(alert_storage.write, feed=Feed.CRYPTO, after=after, crossings=crossings))

    await claim()
    up, down, up_again = crossing(1, 99.5, 101.0), crossing(2, 98.0, 99.0), crossing(3, 99.5, 102.0)
    await cross(NO_CROSSING, up, down)
    await cross(down.id, up_again)
    found.append((await run(deliveries.overdue))[0])
    for busy in ([USER], []):
        await claim(*busy)
    (older,) = await claim(OTHER, seconds=60.0)
    (first,) = await claim(OTHER)
    (again,) = await claim(OTHER, seconds=60.0)
    for each in (first, again):
        await fail(each)
    (last,) = await claim(OTHER, seconds=60.0)
    for each in (again, last):
        await run(partial(deliveries.note_sent, sent=each))
    await fail(older, is_final=True)
    found.append((await run(deliveries.overdue))[0])
    found.append(await run(partial(deliveries.drop_expired, days=1, count=5)))
    await claim(OTHER)
    return [*found, await rows(database, DELIVERIES)]


async def story_of_bars(database: Database) -> list[Any]:
    """Two minutes, one of them twice, and what a leader recalls of them."""
    found: list[Any] = []
    minute = SECONDS // 3600 * 3600 - 3600

    def closing(number: int) -> Closing:
        opened = minute + 60 * number
        bar = OwnBar(opened, 1.0 + number, 2.0, 0.5, 1.5, None if number else 10.0, 3)
        return Closing(opened + 60, {"1m": {"BTC/USDT": bar, "ETH/USDT": bar}}, {})

    async def write(after: int, *closings: Closing) -> None:
        work = partial(bar_storage.write, series="crypto", after=after, closings=closings)
        found.append(await database.session(work))

    await write(0, closing(0))
    await write(0, closing(1))
    await write(minute + 60, closing(1))
    found.append(await database.session(partial(bar_storage.written_through, series="crypto")))
    found.append(await database.session(partial(bar_storage.written_through, series="stocks")))
    span = [datetime.fromtimestamp(each, UTC) for each in (minute, minute + 120)]
    found.append(await StoredBars(database).read("crypto", ["ETH/USDT", "NO/USDT"], "1m", *span))
    found.append(
        await recall(database, series="crypto", calendar=AroundTheClock(ZoneInfo("UTC")), now=SECONDS)
    )
    found.append(await database.session(partial(bar_storage.expired_partitions, days={"1m": 7})))
    return found


async def story_of_transactions(database: Database) -> list[Any]:
    """One that fails leaves nothing, and one that commits is seen by the next."""

    async def fail(connection: Any) -> None:
        await alert_storage.write(
            connection, feed=Feed.CRYPTO, after=NO_CROSSING, crossings=[crossing(1, 99.5, 101.0)]
        )
        raise LookupError

    with pytest.raises(LookupError):
        await database.session(fail)
    found = [await rows(database, EVENTS), await rows(database, COUNTS)]
    write = partial(alert_storage.write, feed=Feed.CRYPTO, crossings=[crossing(1, 99.5, 101.0)])
    written = await asyncio.gather(
        *(database.session(partial(write, after=NO_CROSSING)) for _ in range(2)),
    )
    found.append(sorted((each.last, each.events) for each in written))
    return [*found, await rows(database, EVENTS)]


async def story_of_users(database: Database) -> list[Any]:
    """Two users read their events after an id, one of them with the session of the other."""
    up, again = crossing(1, 99.5, 101.0), crossing(3, 99.0, 102.0)
    work = partial(alert_storage.write, feed=Feed.CRYPTO, after=NO_CROSSING)
    await database.session(partial(work, crossings=[up, crossing(2, 101.0, 98.0), again]))
    first, _ = await database.session(partial(alert_events.users_after, event_id=None))
    found: list[Any] = []

    async def read(user: str, session: str, after: int) -> None:
        claims = Claims(user, 0, 0, "token", 0, session)

        async def events(run: Run) -> list[Any]:
            account = await open_account(run, claims, writing=False)
            return await alert_events.after(account, after, LIMIT)

        try:
            shown = [shown_event(each) for each in await database.transaction(events)]
            found.append([replace(each, id=each.id - first) for each in shown])
        except InvalidToken:
            found.append("no account")

    for after in (0, first - 1, first):
        await read(USER, SESSIONS[USER], after)
    await read(OTHER, SESSIONS[OTHER], 0)
    await read(OTHER, SESSIONS[USER], 0)
    for after in (0, first - 1, first):
        newest, users = await database.session(partial(alert_events.users_after, event_id=after))
        found.append((newest - first, sorted(users)))
    return found


STORIES = [
    story_of_alerts,
    story_of_deliveries,
    story_of_usage,
    story_of_bars,
    story_of_transactions,
    story_of_users,
]


@pytest.mark.parametrize("story", STORIES)
async def test_both_servers_answer_alike(
    story: Callable[[Database], Awaitable[list[Any]]], real: Database, simulated: Database
) -> None:
    assert await story(simulated) == await story(real)
