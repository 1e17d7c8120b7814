"""The cache during faults: dead lock holders, slow upstreams, cancelled readers, a Redis that is down."""

import asyncio

import pytest
import redis

from quotecast.cache.base import Cached
from quotecast.errors import UpstreamError
from support.runs.deadlines import scaled
from support.runs.waits import until
from support.servers.processes import Valkey
from support.stages.caching import ENTRY, KEY, LOCK, POLICY, Clock, CountingUpstream, workers

pytestmark = pytest.mark.usefixtures("patient_redis")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def upstream() -> CountingUpstream:
    return CountingUpstream()


async def test_a_dead_holder_is_succeeded(redis_url: str, clock: Clock, upstream: CountingUpstream) -> None:
    """No worker calls until the dead holder's lock expires; then one worker does."""
    async with workers(redis_url, clock) as (one, other):
        with redis.Redis.from_url(redis_url) as client:
            client.set(LOCK, "dead")
            reads = [asyncio.create_task(cache.read(KEY, POLICY, upstream)) for cache in (one, other)]
            await until(lambda: one.statistics().waits and other.statistics().waits)
            assert upstream.calls == 0
            client.pexpire(LOCK, 1)
            await asyncio.gather(*reads)
            assert not client.exists(LOCK)
    assert upstream.calls == 1


async def test_who_lost_the_lock_does_not_overwrite_the_next_ones_answer(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """A worker that was frozen during its fetch has older data than its successor."""
    upstream.answering.clear()
    async with workers(redis_url, clock, 1) as (cache,):
        read = asyncio.create_task(cache.read(KEY, POLICY, upstream))
        await upstream.called.wait()
        with redis.Redis.from_url(redis_url) as client:
            client.set(LOCK, "next")
            upstream.answering.set()
            await read
            assert client.get(LOCK) == b"next"
            assert not client.exists(ENTRY)


async def test_a_reader_that_goes_away_ends_nobody_elses_call(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """This holds even for the reader that started the call."""
    upstream.answering.clear()
    async with workers(redis_url, clock, 1) as (cache,):
        first = asyncio.create_task(cache.read(KEY, POLICY, upstream))
        await upstream.called.wait()
        second = asyncio.create_task(cache.read(KEY, POLICY, upstream))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        upstream.answering.set()
        assert await second == Cached(b"1", "MISS", 0, 100)
    assert first.cancelled()


async def test_a_worker_that_stops_gives_its_lock_up(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """The next worker need not wait for the lock's expiry."""
    upstream.answering.clear()
    async with workers(redis_url, clock, 1) as (cache,):
        read = asyncio.create_task(cache.read(KEY, POLICY, upstream))
        await upstream.called.wait()
    await asyncio.wait([read])
    with redis.Redis.from_url(redis_url) as client:
        assert client.keys() == []


async def test_a_fetch_has_a_deadline(redis_url: str, clock: Clock, upstream: CountingUpstream) -> None:
    """A slower fetch counts as failed."""
    upstream.answering.clear()
    async with workers(redis_url, clock, 1, fetch_seconds=0.05) as (cache,):
        with pytest.raises(UpstreamError, match="no answer in"):
            await cache.read(KEY, POLICY, upstream)
    assert upstream.running == 0


async def test_who_can_have_an_old_answer_does_not_wait_long_for_a_new_one(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """The call goes on, and the next reader gets its answer."""
    # Another worker, whose reader waits for the whole call: an impatient one may leave before it is settled.
    async with workers(redis_url, clock, 1, stale_patience=14.0) as (cache,):
        await cache.read(KEY, POLICY, upstream)
    async with workers(redis_url, clock, 1, stale_patience=0.05, fetch_seconds=scaled(30)) as (cache,):
        # The worker's memory has the answer from here on, however slow Redis is within the patience.
        assert (await cache.read(KEY, POLICY, upstream)).status == "HIT"
        clock.now += 100
        upstream.answering.clear()
        assert await cache.read(KEY, POLICY, upstream) == Cached(b"1", "STALE", 100, 0)
        upstream.answering.set()
        async with asyncio.timeout(scaled(10)):
            while (await cache.read(KEY, POLICY, upstream)).body != b"2":  # noqa: ASYNC110 - asked again
                await asyncio.sleep(0)
    assert upstream.calls == 2


async def test_nobody_waits_for_ever(redis_url: str, clock: Clock, upstream: CountingUpstream) -> None:
    """This holds even if several lock holders die one after the other."""
    async with workers(redis_url, clock, 1, patience=0.1, stale_patience=0.05) as (cache,):
        with redis.Redis.from_url(redis_url) as client:
            client.set(LOCK, "dead")
        with pytest.raises(UpstreamError, match="no answer yet"):
            await cache.read(KEY, POLICY, upstream)
    assert upstream.calls == 0


async def test_calls_at_once_are_bounded_for_each_upstream(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """A slow upstream uses up its own slots only."""
    upstream.answering.clear()
    other = CountingUpstream()
    async with workers(redis_url, clock, 1, at_once=3) as (cache,):
        reads = [asyncio.create_task(cache.read(f"slow:{n}", POLICY, upstream)) for n in range(10)]
        await until(lambda: upstream.running == 3)
        assert (await cache.read("quick:1", POLICY, other)).status == "MISS"
        upstream.answering.set()
        await asyncio.gather(*reads)
    assert (upstream.most, upstream.calls) == (3, 10)


async def test_an_adapter_that_trips_is_an_upstream_that_failed(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """The reader gets UpstreamError instead of the adapter's exception."""
    upstream.error = KeyError("metric")
    async with workers(redis_url, clock, 1) as (cache,):
        with pytest.raises(UpstreamError, match="upstream: KeyError"):
            await cache.read(KEY, POLICY, upstream)


@pytest.mark.parametrize("stored", [b"", b"junk", b"\x80", b"\x82\xa9stored_at\x01\xa7version\x63"])
async def test_an_unreadable_entry_is_fetched_again(
    redis_url: str, clock: Clock, upstream: CountingUpstream, stored: bytes
) -> None:
    """An entry of a much later version counts as unreadable too."""
    with redis.Redis.from_url(redis_url) as client:
        client.set(ENTRY, stored)
    async with workers(redis_url, clock) as (one, other):
        assert (await one.read(KEY, POLICY, upstream)).body == b"1"
        assert (await other.read(KEY, POLICY, upstream)).status == "HIT"


async def test_lost_scripts_and_lost_data_are_made_good(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """The worker that read an answer still serves it stale after Redis lost it."""
    async with workers(redis_url, clock) as (one, other):
        await one.read(KEY, POLICY, upstream)
        with redis.Redis.from_url(redis_url) as client:
            client.flushall()
            client.script_flush()
        assert (await other.read(KEY, POLICY, upstream)).body == b"2"
        with redis.Redis.from_url(redis_url) as client:
            client.flushall()
        clock.now += 100
        upstream.error = UpstreamError("down")
        assert (await one.read(KEY, POLICY, upstream)).status == "STALE"
        assert one.statistics().absences == other.statistics().absences == 0


async def test_a_redis_that_is_full_is_a_redis_that_is_away(
    own_valkey: Valkey, clock: Clock, upstream: CountingUpstream
) -> None:
    """The worker fetches and caches by itself."""
    with redis.Redis.from_url(own_valkey.url) as client:
        client.config_set("maxmemory", 1)
    async with workers(own_valkey.url, clock, 1) as (cache,):
        assert (await cache.read(KEY, POLICY, upstream)).status == "MISS"
        assert (await cache.read(KEY, POLICY, upstream)).status == "HIT"
        assert cache.statistics().absences


@pytest.mark.parametrize("fault", ["kill", "freeze"])
async def test_without_redis_readers_are_answered_all_the_same(
    own_valkey: Valkey, clock: Clock, upstream: CountingUpstream, fault: str
) -> None:
    """The worker's own memory still serves; it fetches other keys once, and soon stops waiting for Redis."""
    async with workers(own_valkey.url, clock, 1, budget=0.5) as (cache,):
        await cache.read(KEY, POLICY, upstream)
        getattr(own_valkey, fault)()
        async with asyncio.timeout(scaled(5)):
            assert (await cache.read(KEY, POLICY, upstream)).status == "HIT"
            reads = [cache.read(f"new:{number % 10}", POLICY, upstream) for number in range(100)]
            assert {answer.status for answer in await asyncio.gather(*reads)} == {"MISS"}
        assert upstream.calls == 11
        assert cache.statistics().openings == 1
        absences = cache.statistics().absences
        assert (await cache.read("newer", POLICY, upstream)).status == "MISS"
        assert cache.statistics().absences > absences


async def test_a_redis_that_comes_back_is_shared_again(
    own_valkey: Valkey, clock: Clock, upstream: CountingUpstream
) -> None:
    """A worker can start without Redis."""
    own_valkey.kill()
    async with workers(own_valkey.url, clock, pause=0.02) as (one, other):
        for number in range(3):
            for cache in (one, other):
                assert (await cache.read(f"early:{number}", POLICY, upstream)).status == "MISS"
        own_valkey.start()
        number = 0
        async with asyncio.timeout(scaled(10)):
            while (await other.read(f"late:{number}", POLICY, upstream)).status == "MISS":
                number += 1
                await one.read(f"late:{number}", POLICY, upstream)
                await asyncio.sleep(0.001)
