"""Clients of the master that Sentinels name, and of a cluster by several of its nodes."""

import asyncio
import contextlib
import itertools
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
from support.market_made import state_of, stock
from support.reserved import port_number, reserve_port
from support.sentinel_set import SERVICE, SentinelSet, own_servers, running_sentinels

PATIENCE_SECONDS = 30.0


@pytest.fixture(scope="module")
def _sentinels() -> Iterator[SentinelSet]:
    with running_sentinels() as running:
        yield running


@pytest.fixture
def sentinels(_sentinels: SentinelSet) -> SentinelSet:
    """A set that is whole."""
    _sentinels.until_whole()
    return _sentinels


@pytest.fixture
async def bus(sentinels: SentinelSet) -> AsyncIterator[RedisBus]:
    opened = RedisBus(sentinels.url, "test")
    yield opened
    await opened.close()


async def until_held(bus: RedisBus) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            with contextlib.suppress(BusError):
                if await bus.hold(Feed.STOCKS, "me", 60_000):
                    return


async def test_a_bus_follows_a_demotion(sentinels: SentinelSet, bus: RedisBus) -> None:
    """What was written stays, what is written goes to the new master, and is heard by new listeners."""
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


async def test_a_listener_of_a_demoted_master_is_told(sentinels: SentinelSet, bus: RedisBus) -> None:
    """Its subscription ends, however healthy its connection: the next one is at the new master."""
    async with bus.listen([Feed.STOCKS]) as messages:
        await asyncio.to_thread(sentinels.failover)
        with pytest.raises(BusError):
            await read_on(messages)


async def read_on(messages: AsyncIterator[object]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for _ in messages:
            pass


async def test_limits_and_cache_follow_a_demotion(sentinels: SentinelSet) -> None:
    """Each is shared by all workers again."""
    async with (
        Window(sentinels.url, prefix="test", budget=5, pause=0.1) as window,
        RedisCache(sentinels.url, "test", budget=5, pause=0.1) as cache,
    ):

        async def fetch() -> bytes:
            return b"answer"

        await window.check("key", 10**6)
        await cache.read("upstream:first", Policy(fresh_seconds=60), fetch)
        await asyncio.to_thread(sentinels.failover)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not sentinels.master.ask("KEYS", "test:{limits*}:later"):
                await window.check("later", 10**6)
                # A check that is decided alone waits for nothing, and the probe needs its turn.
                await asyncio.sleep(0.01)
            for number in itertools.count():
                await cache.read(f"upstream:{number}", Policy(fresh_seconds=60), fetch)
                if sentinels.master.ask("EXISTS", f"test:cache:{{upstream:{number}}}:entry"):
                    break


async def test_sentinels_that_hang_or_died_are_done_without(sentinels: SentinelSet) -> None:
    """One answer is enough, and none is waited for long."""
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


async def test_the_newest_view_counts(sentinels: SentinelSet) -> None:
    """A Sentinel that missed a failover names the old master; the others are believed."""
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
    """The master's user may touch the installation's keys alone."""
    with own_servers(2) as (master, sentinel):
        master.start()
        master.ask("ACL", "SETUSER", "me", "on", ">p@ss", "~test:*", "&test:*", "+@all")
        sentinel.password = "word"
        sentinel.start_sentinel(master.port, "requirepass word")
        address = f"redis+sentinel://me:p%40ss@127.0.0.1:{sentinel.port}/{SERVICE}"
        bus, stranger = RedisBus(f"{address}?sentinel_password=word", "test"), RedisBus(address, "test")
        assert await bus.hold(Feed.STOCKS, "me", 60_000)
        assert await bus.check() == "ok"
        assert (await probes.cache(f"{address}?sentinel_password=word")).startswith("Valkey ")
        with pytest.raises(BusError, match="no Sentinel names the master"):
            await stranger.check()
        await bus.close()
        await stranger.close()


async def test_doctor_names_the_reason(sentinels: SentinelSet) -> None:
    """Of Sentinels that know no such service, and of a server that takes no writes."""
    assert (await probes.cache(sentinels.url)).startswith("Valkey ")
    with pytest.raises(probes.NoAnswer, match=r"no Sentinel names the master of other: .*No such master"):
        await probes.cache(sentinels.url.replace("/quotes", "/other"))
    with pytest.raises(probes.NoAnswer, match="read only replica"):
        await probes.cache(f"redis://127.0.0.1:{sentinels.replica.port}")
