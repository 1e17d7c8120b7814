"""Clients of a master behind Sentinels, and of a cluster by several of its nodes."""

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import AsyncIterator, Iterator

import pytest

from quotecast.bus.redis import RedisBus
from quotecast.cache.base import Policy
from quotecast.cache.redis import RedisCache
from quotecast.errors import BusError
from quotecast.limits.window import Window
from quotecast.local import probes
from quotecast.market.feeds import Feed
from quotecast.redis import counts
from quotecast.redis.sentinel import ANSWER_SECONDS
from support.made.market import state_of, stock
from support.runs.deadlines import scaled
from support.servers.reserved import port_number, reserve_port
from support.servers.sentinel_set import SERVICE, SentinelSet, own_servers, running_sentinels

pytestmark = pytest.mark.slow

PATIENCE_SECONDS = 30.0
KEYS = 36
KEYS_AT_ONCE = 4


@pytest.fixture(scope="module")
def _sentinels() -> Iterator[SentinelSet]:
    # No test harms the master: on a machine that stalls, the Sentinels must not swap it either.
    with running_sentinels(down_milliseconds=60_000) as running:
        yield running


@pytest.fixture
def sentinels(_sentinels: SentinelSet) -> SentinelSet:
    """Gives a complete set: master, replica and Sentinels."""
    _sentinels.until_whole()
    return _sentinels


@pytest.fixture
async def bus(sentinels: SentinelSet) -> AsyncIterator[RedisBus]:
    opened = RedisBus(sentinels.url, "test")
    yield opened
    await opened.close()


async def until_held(bus: RedisBus) -> None:
    async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
        while True:
            with contextlib.suppress(BusError):
                if await bus.hold(Feed.STOCKS, "me", 60_000):
                    return


async def test_a_bus_follows_a_demotion(sentinels: SentinelSet, bus: RedisBus) -> None:
    """Data survives, writes go to the new master, and new listeners receive them."""
    state = state_of([stock("AAPL")])
    await until_held(bus)
    assert await bus.begin("me", state)
    before = counts.reconnects["bus",] + counts.reconnects["lease",]
    await asyncio.to_thread(sentinels.failover)
    await until_held(bus)
    assert await bus.load(Feed.STOCKS) == state
    assert await bus.check() == "ok"
    assert sentinels.master.ask("EXISTS", "test:{stocks}:lease") == 1
    assert counts.reconnects["bus",] + counts.reconnects["lease",] > before


async def test_a_demoted_masters_listener_gets_an_error(sentinels: SentinelSet, bus: RedisBus) -> None:
    """A demoted master's subscription ends despite a healthy connection; the next is at the new master."""
    async with bus.listen([Feed.STOCKS]) as messages:
        await asyncio.to_thread(sentinels.failover)
        with pytest.raises(BusError):
            await read_on(messages)


async def read_on(messages: AsyncIterator[object]) -> None:
    async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
        async for _ in messages:
            pass


async def test_limits_and_cache_follow_a_demotion(sentinels: SentinelSet) -> None:
    """Workers share each of them again."""
    async with (
        Window(sentinels.url, prefix="test", pause=0.1) as window,
        RedisCache(sentinels.url, "test", pause=0.1) as cache,
    ):

        async def fetch() -> bytes:
            return b"answer"

        await window.check("key", 10**6)
        await cache.read("upstream:first", Policy(fresh_seconds=60), fetch)
        await asyncio.to_thread(sentinels.failover)
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
            while not sentinels.master.ask("KEYS", "test:{limits*}:later"):
                await window.check("later", 10**6)
                # A check that is decided alone waits for nothing, and the probe needs its turn.
                await asyncio.sleep(0.01)
            for number in itertools.count():
                await cache.read(f"upstream:{number}", Policy(fresh_seconds=60), fetch)
                if sentinels.master.ask("EXISTS", f"test:cache:{{upstream:{number}}}:entry"):
                    break


async def test_sentinels_that_hang_or_died_are_done_without(sentinels: SentinelSet) -> None:
    """One answer is enough, and the client waits for none long."""
    hanging, *_ = sentinels.sentinels
    with reserve_port() as held:
        nobody = f"127.0.0.1:{port_number(held)}"
        bus = RedisBus(sentinels.url.replace("//", f"//{nobody},"), "test")
        hanging.freeze()
        try:
            assert await bus.check() == "ok"
        finally:
            hanging.thaw()
            await bus.close()
    assert ANSWER_SECONDS < 1.0, "a probe of the limiter has a second"


async def test_a_hung_sentinel_delays_no_connection(
    sentinels: SentinelSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A majority of Sentinels is enough, and so is the only one that lives."""
    monkeypatch.setattr("quotecast.redis.sentinel.ANSWER_SECONDS", 10 * scaled(PATIENCE_SECONDS))
    one, other, _ = sentinels.sentinels
    with contextlib.ExitStack() as thawed:
        for hanging in (one, other):
            thawed.callback(hanging.thaw)
            hanging.freeze()
            bus = RedisBus(sentinels.url, "test")
            async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
                assert await bus.check() == "ok"
            await bus.close()


@pytest.mark.usefixtures("patient_redis")
async def test_a_hung_sentinel_leaves_the_cache_shared(
    sentinels: SentinelSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers make one upstream call for each key, as no connection waits for that Sentinel."""
    monkeypatch.setattr("quotecast.redis.sentinel.ANSWER_SECONDS", 10 * scaled(PATIENCE_SECONDS))
    # A busy machine answers in this time; a connection that waits for the Sentinel does not.
    budget = scaled(1)
    prefix = secrets.token_hex(4)
    fetched = []

    async def fetch() -> bytes:
        fetched.append(1)
        return b"answer"

    hanging, *_ = sentinels.sentinels
    hanging.freeze()
    try:
        async with (
            RedisCache(sentinels.url, prefix, budget=budget) as one,
            RedisCache(sentinels.url, prefix, budget=budget) as other,
        ):
            for some in range(0, KEYS, KEYS_AT_ONCE):
                keys = [f"upstream:{number}" for number in range(some, some + KEYS_AT_ONCE)]
                policy = Policy(fresh_seconds=600)
                await asyncio.gather(
                    *(each.read(key, policy, fetch) for key in keys for each in (one, other))
                )
            assert [one.statistics().openings, other.statistics().openings] == [0, 0]
    finally:
        hanging.thaw()
    assert len(fetched) == KEYS


async def test_the_newest_view_counts(sentinels: SentinelSet) -> None:
    """The majority's newer view wins over a Sentinel that missed the failover."""
    missing, *_ = sentinels.sentinels
    missing.freeze()
    try:
        await asyncio.to_thread(sentinels.failover, by=sentinels.sentinels[1])
    finally:
        missing.thaw()
    bus = RedisBus(sentinels.url, "test")
    await until_held(bus)
    assert await bus.check() == "ok"
    await bus.close()


async def test_sentinels_and_their_master_have_passwords_of_their_own() -> None:
    """The master's user has access to the installation's keys only."""
    with own_servers(2) as (master, sentinel):
        master.start()
        master.ask("ACL", "SETUSER", "me", "on", ">p@ss", "~test:*", "&test:*", "+@all")
        sentinel.password = "word"
        sentinel.start_sentinel(master.port, "requirepass word")
        address = f"redis+sentinel://me:p%40ss@127.0.0.1:{sentinel.port}/{SERVICE}"
        bus, stranger = RedisBus(f"{address}?sentinel_password=word", "test"), RedisBus(address, "test")
        assert await bus.hold(Feed.STOCKS, "me", 60_000)
        assert await bus.check() == "ok"
        assert (await probes.cache(f"{address}?sentinel_password=word")).startswith(("Valkey ", "Redis "))
        with pytest.raises(BusError, match="no Sentinel names the master"):
            await stranger.check()
        await bus.close()
        await stranger.close()


async def test_doctor_names_the_reason(sentinels: SentinelSet) -> None:
    """Sentinels without the service, and a server that refuses writes, give clear errors."""
    assert (await probes.cache(sentinels.url)).startswith(("Valkey ", "Redis "))
    with pytest.raises(probes.NoAnswer, match=r"no Sentinel names the master of other: .*No such master"):
        await probes.cache(sentinels.url.replace("/quotes", "/other"))
    with pytest.raises(probes.NoAnswer, match="read only replica"):
        await probes.cache(f"redis://127.0.0.1:{sentinels.replica.port}")
