"""Users with the rules of docs/operating.md: every call of the service, and what they may not do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

import pytest
import redis

from quotecast.access.rollup import Reserve
from quotecast.access.shared import SharedAccess
from quotecast.bus import base
from quotecast.bus.base import Batch, Beat, Memory, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.bus.wire import encode_change
from quotecast.cache.base import Policy
from quotecast.cache.redis import RedisCache
from quotecast.errors import BusError
from quotecast.limits.window import Window
from quotecast.local import probes
from quotecast.market.crossings import NO_CROSSING, Crossing
from quotecast.market.feeds import Feed
from quotecast.operators.reports.store import ReportStore
from support.made.closings import made_closing
from support.made.documents import article, news_of
from support.made.market import EPOCH, INFO, state_of, stock
from support.made.reports import report
from support.oracles.access_rules import PASSWORD, create_users, refusals
from support.runs.deadlines import scaled
from support.servers.processes import Valkey

pytestmark = pytest.mark.usefixtures("patient_redis")

INGEST: Final = "quotecast-ingest"
API: Final = "quotecast-api"
BOTH: Final = "quotecast"
PREFIX: Final = "quotecast"
STOCKS: Final = Feed.STOCKS
CROSSING: Final = Crossing(5, 0, "AAPL", "price", 99.5, 100.25, 100.25, 0.005)
NEWS: Final = news_of(article())
BATCH: Final = Batch(
    feed=STOCKS, epoch=EPOCH, seq=2, changes=[encode_change(stock())], closings=[made_closing(60)]
)
#: Redis 7.0 has words of its own for scripts.
REFUSED: Final = r"permission|can't (run|access)"
#: Calls that always change or publish something.
CHANGES: Final = ("hold", "begin", "publish", "beat", "trim_crossings", "store_levels", "announce", "store")
BEAT: Final = Beat(feed=STOCKS, epoch=EPOCH, seq=2, info=INFO)


class Users:
    """A Redis with the documented users."""

    def __init__(self, server: Valkey) -> None:
        self._server = server
        self.admin = redis.Redis.from_url(server.url, decode_responses=True)
        create_users(self.admin)

    def url(self, user: str) -> str:
        return f"unix://{user}:{PASSWORD}@{quote(str(self._server.socket))}"

    @contextlib.asynccontextmanager
    async def bus(self, user: str, prefix: str = PREFIX) -> AsyncIterator[RedisBus]:
        opened = RedisBus(self.url(user), prefix)
        yield opened
        await opened.close()

    def client(self, user: str) -> Any:
        return redis.Redis.from_url(self.url(user), protocol=2)


@pytest.fixture
def users(own_valkey: Valkey) -> Iterator[Users]:
    created = Users(own_valkey)
    yield created
    created.admin.close()


def public(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


def writes(bus: RedisBus) -> Mapping[str, Any]:
    """Returns every call of an ingest, in an order in which each has something to do."""
    entries = {"AAPL": StoredQuote(2, 1, stock())}
    memory = Memory([made_closing(120)], [CROSSING])
    return {
        "take_over": lambda: bus.take_over(STOCKS, "me", 60_000),
        "hold": lambda: bus.hold(STOCKS, "me", 60_000),
        "begin": lambda: bus.begin("me", state_of([stock()]), memory),
        "publish": lambda: bus.publish("me", BATCH, entries, {"AAPL": {}}, [CROSSING]),
        "beat": lambda: bus.beat(BEAT),
        "load": lambda: bus.load(STOCKS),
        "closings_after": lambda: bus.closings_after(STOCKS, 0, 10),
        "newest_closings": lambda: bus.newest_closings(STOCKS, 10),
        "trim_closings": lambda: bus.trim_closings(STOCKS, 10**10),
        "last_crossing": lambda: bus.last_crossing(STOCKS),
        "crossings_after": lambda: bus.crossings_after(STOCKS, NO_CROSSING, 10),
        "count_crossings": lambda: bus.count_crossings(STOCKS),
        "trim_crossings": lambda: bus.trim_crossings(STOCKS, CROSSING.id),
        "store_levels": lambda: bus.store_levels(STOCKS, b"levels"),
        "levels": lambda: bus.levels(STOCKS),
        "announce": lambda: bus.announce(["somebody"]),
        "store": lambda: bus.store("me", NEWS),
        "digest": lambda: bus.digest(STOCKS, NEWS.name),
        "release": lambda: bus.release(STOCKS, "me"),
    }


def reads(bus: RedisBus) -> Mapping[str, Any]:
    """Returns every call of a worker."""

    async def listen() -> bool:
        async with bus.listen([*Feed]):
            return await bus.check() == "ok"

    async def announcements() -> bool:
        async with bus.announcements():
            return True

    return {
        "load": lambda: bus.load(STOCKS),
        "report": lambda: bus.report(STOCKS),
        "digest": lambda: bus.digest(STOCKS, NEWS.name),
        "document": lambda: bus.document(STOCKS, NEWS.name),
        "report_document": lambda: bus.report_document(NEWS),
        "listen": listen,
        "announcements": announcements,
    }


@pytest.mark.parametrize(("ingest", "api"), [(INGEST, API), (BOTH, BOTH)])
async def test_the_documented_rules_are_enough(users: Users, ingest: str, api: str) -> None:
    """Every call to the bus, the limiter, the cache and the access succeeds, and Redis refuses nothing."""
    async with users.bus(ingest) as writer, users.bus(api) as reader:
        assert {*writes(writer)} == public(base.BusWriter)
        assert {*reads(reader)} == public(base.BusReader)
        for name, call in writes(writer).items():
            assert await call() is not False, name
            if name == "store":
                for read in reads(reader).values():
                    assert await read() is not False
    await use_limits(users.url(api), PREFIX)
    await use_limits(users.url(api), f"{PREFIX}:logins")
    await use_reports(users.url(ingest), users.url(api))
    await use_limits(users.url(ingest), f"{PREFIX}:budgets")
    await use_cache(users.url(api))
    await use_keys(users.url(api))
    assert refusals(users.admin) == []


async def use_limits(url: str, prefix: str) -> None:
    """Uses every script and command of the limiter, a clock that went back included."""
    async with Window(url, prefix=prefix, leasing="budgets" not in prefix, budget=10) as window:
        for _ in range(40):
            # Its last lease is given back at the end.
            await window.check("hot", 10**6)
        assert (await window.check("key", 1)).admitted
        assert not (await window.check("key", 1)).admitted
        await window.give_back("key")
        assert window.statistics().fallbacks == 0
        if "budgets" not in prefix:
            await window.forget("key")


async def use_cache(url: str) -> None:
    async def fetch() -> bytes:
        return b"answer"

    caches = [RedisCache(url, PREFIX, budget=10) for _ in range(2)]
    async with caches[0] as first, caches[1] as second:
        policy = Policy(fresh_seconds=60)
        assert (await first.read("upstream:1", policy, fetch)).status == "MISS"
        assert (await second.read("upstream:1", policy, fetch)).status == "HIT"
        assert first.statistics().openings == second.statistics().openings == 0


async def use_keys(url: str) -> None:
    """Uses every call of the tickets, of the places of sockets and of the reserve of usage."""
    async with SharedAccess(url, PREFIX, budget=10) as access:
        await access.add_ticket("ticket", "key")
        assert await access.use_ticket("ticket") == "key"
        assert await access.take_place("key", "socket", 1)
        assert not await access.take_place("key", "second", 1)
        await access.renew()
        await access.leave_place("key", "socket")
    async with Reserve(url, PREFIX) as reserve:
        await reserve.store("one", [])
        await reserve.store("two", [], alive=False)
        assert await reserve.orphans("one") == {"two": []}
        await reserve.remove("two")


async def use_reports(*urls: str) -> None:
    """Writes and reads the reports of processes; the last user is a worker's."""
    for number, url in enumerate(urls):
        async with ReportStore(url, PREFIX) as store:
            await store.put(report(str(number)))
            await store.put(report("ended"))
            await store.remove("ended")
    async with ReportStore(urls[-1], PREFIX) as store:
        assert [each.id for each in await store.all()] == [str(number) for number in range(len(urls))]


async def test_a_worker_cannot_change_a_price(users: Users) -> None:
    """Its user writes no state, takes no lease and publishes nothing, by commands or by scripts."""
    async with users.bus(API) as worker, users.bus(INGEST) as ingest:
        assert await ingest.hold(STOCKS, "me", 60_000)
        assert await ingest.begin("me", state_of([stock()]))
        calls = writes(worker)
        for name in CHANGES:
            with pytest.raises(BusError, match=REFUSED):
                await calls[name]()
        assert await ingest.load(STOCKS) == state_of([stock()])
    with users.client(API) as client:
        for words in (
            ("SET", "quotecast:{stocks}:lease", "mine"),
            ("DEL", "quotecast:{stocks}:state"),
            ("PUBLISH", "quotecast:{stocks}:batches", "batch"),
            ("EVAL", "return redis.call('HSET', KEYS[1], 'seq', 9)", 1, "quotecast:{stocks}:state"),
            ("EVAL", "return redis.call('PUBLISH', 'quotecast:{stocks}:batches', 'x')", 0),
        ):
            with pytest.raises(redis.ResponseError, match=REFUSED):
                client.execute_command(*words)


@pytest.mark.parametrize("user", [INGEST, API, BOTH])
async def test_another_installation_is_out_of_reach(users: Users, user: str) -> None:
    """Redis refuses other keys, channels and commands; the bus says why."""
    async with users.bus(user, prefix="other") as bus:
        with pytest.raises(BusError, match=REFUSED):
            await bus.load(STOCKS)
        assert await bus.check() == "noperm"
        with pytest.raises(BusError, match=REFUSED):
            async with asyncio.timeout(scaled(30)), bus.listen([STOCKS]):
                pass
    with users.client(user) as client:
        for words in ("GET other:key", "SUBSCRIBE other:channel", "PUBLISH other:channel x", "FLUSHALL"):
            with pytest.raises(redis.ResponseError, match=REFUSED):
                client.execute_command(*words.split())
        for words in ("KEYS *", "CONFIG GET *", "ACL LIST", "MONITOR", "SCRIPT FLUSH"):
            with pytest.raises(redis.ResponseError, match=REFUSED):
                client.execute_command(*words.split())
    assert {who for who, _ in refusals(users.admin)} == {user}


async def test_the_probe_needs_no_right_to_read_the_version(users: Users) -> None:
    """`up` and `doctor` accept such a user."""
    assert await probes.cache(users.url(API)) == "Redis (its user may not read the version)"
    admin: Any = users.admin
    admin.execute_command("ACL", "SETUSER", API, "+info")
    assert (await probes.cache(users.url(API))).startswith(("Valkey ", "Redis "))
