"""The cache that workers share, on a real server; each RedisCache is one worker."""

import asyncio
from collections import Counter

import pytest
import redis

from quotecast.cache.base import Cached
from quotecast.cache.redis import FAILURE_SECONDS, MAX_FAILURE_SECONDS
from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError
from support.runs.waits import until
from support.stages.caching import KEY, POLICY, Clock, CountingUpstream, workers

pytestmark = pytest.mark.usefixtures("patient_redis")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def upstream() -> CountingUpstream:
    return CountingUpstream()


async def test_one_worker_fetches_for_all(redis_url: str, clock: Clock, upstream: CountingUpstream) -> None:
    """200 readers of a cold key in two workers cause one call, and all get its answer."""
    upstream.answering.clear()
    async with workers(redis_url, clock) as (one, other):
        reads = [
            asyncio.create_task(cache.read(KEY, POLICY, upstream))
            for cache in (one, other)
            for _ in range(100)
        ]
        await until(lambda: one.statistics().waits + other.statistics().waits)
        upstream.answering.set()
        answers = Counter(await asyncio.gather(*reads))
    assert upstream.calls == 1
    assert answers == {Cached(b"1", "MISS", 0, 100): 100, Cached(b"1", "HIT", 0, 100): 100}


async def test_an_answer_is_fresh_for_its_time_in_every_worker(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    async with workers(redis_url, clock) as (one, other):
        assert await one.read(KEY, POLICY, upstream) == Cached(b"1", "MISS", 0, 100)
        clock.now += 99.5
        assert await one.read(KEY, POLICY, upstream) == Cached(b"1", "HIT", 99, 1)
        assert await other.read(KEY, POLICY, upstream) == Cached(b"1", "HIT", 99, 1)
        clock.now += 0.5
        assert await other.read(KEY, POLICY, upstream) == Cached(b"2", "MISS", 0, 100)
        assert await one.read(KEY, POLICY, upstream) == Cached(b"2", "HIT", 0, 100)


async def test_a_fresh_answer_of_the_workers_own_costs_redis_nothing(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    async with workers(redis_url, clock, 1) as (cache,):
        await cache.read(KEY, POLICY, upstream)
        with redis.Redis.from_url(redis_url) as client:
            client.flushall()
        assert (await cache.read(KEY, POLICY, upstream)).status == "HIT"
        assert cache.statistics().remembered == 1


async def test_when_the_upstream_fails_an_old_answer_is_served(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """Readers get it with its age up to `stale_seconds`, then the failure."""
    async with workers(redis_url, clock) as (one, other):
        await one.read(KEY, POLICY, upstream)
        upstream.error = UpstreamError("down")
        clock.now += 999
        assert await other.read(KEY, POLICY, upstream) == Cached(b"1", "STALE", 999, 0)
        clock.now += 1
        with pytest.raises(UpstreamError, match="down") as raised:
            await other.read(KEY, POLICY, upstream)
    assert raised.value.retry_after == FAILURE_SECONDS - 1
    assert other.statistics().stale == 1


@pytest.mark.parametrize(
    ("asked", "seconds"), [(None, FAILURE_SECONDS), (42.0, 42.0), (10.0**9, MAX_FAILURE_SECONDS)]
)
async def test_a_failed_upstream_is_left_alone_by_all_workers(
    redis_url: str, clock: Clock, upstream: CountingUpstream, asked: float | None, seconds: float
) -> None:
    """The cache waits as long as the upstream asks, up to a bound, then calls again."""
    upstream.error = UpstreamError("down", retry_after=asked)
    async with workers(redis_url, clock) as (one, other):
        for cache in (one, other, one, other):
            with pytest.raises(UpstreamError) as raised:
                await cache.read(KEY, POLICY, upstream)
            assert raised.value.retry_after == pytest.approx(seconds)
        assert upstream.calls == 1
        upstream.error = None
        clock.now += seconds
        assert await other.read(KEY, POLICY, upstream) == Cached(b"2", "MISS", 0, 100)
        assert (await one.read(KEY, POLICY, upstream)).status == "HIT"


async def test_who_waited_for_a_call_that_fails_does_not_call_again(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """Waiting workers share one call to a failing upstream."""
    upstream.error = UpstreamError("down")
    upstream.answering.clear()
    async with workers(redis_url, clock) as caches:
        reads = [asyncio.create_task(cache.read(KEY, POLICY, upstream)) for cache in caches]
        await until(lambda: sum(cache.statistics().waits for cache in caches))
        upstream.answering.set()
        errors = await asyncio.gather(*reads, return_exceptions=True)
    assert [type(error) for error in errors] == [UpstreamError] * 2
    assert upstream.calls == 1


@pytest.mark.parametrize("error", [SymbolNotFound(), NotOffered("not in this plan")])
async def test_what_there_is_not_is_remembered_for_a_while(
    redis_url: str, clock: Clock, upstream: CountingUpstream, error: Exception
) -> None:
    """Every worker raises it with its text, without a call."""
    upstream.error = error
    async with workers(redis_url, clock) as (one, other):
        for cache in (one, other, one):
            with pytest.raises(type(error), match=str(error)):
                await cache.read(KEY, POLICY, upstream)
        assert upstream.calls == 1
        upstream.error = None
        clock.now += 50
        assert (await one.read(KEY, POLICY, upstream)).body == b"2"


async def test_a_removed_symbol_is_not_served_stale(
    redis_url: str, clock: Clock, upstream: CountingUpstream
) -> None:
    """A missing symbol is an answer, not a failure."""
    async with workers(redis_url, clock, 1) as (cache,):
        await cache.read(KEY, POLICY, upstream)
        upstream.error = SymbolNotFound()
        clock.now += 100
        with pytest.raises(SymbolNotFound):
            await cache.read(KEY, POLICY, upstream)


@pytest.mark.parametrize("key", ["x" * 5000, "gümüş", "\ud800", "a}b{c", "a b\r\nc", ""])
async def test_any_text_is_a_key(redis_url: str, clock: Clock, upstream: CountingUpstream, key: str) -> None:
    """Names in Redis are short, share a hash tag, and expire."""
    async with workers(redis_url, clock) as (one, other):
        await one.read(key, POLICY, upstream)
        assert (await other.read(key, POLICY, upstream)).body == b"1"
        upstream.error = UpstreamError("down")
        clock.now += 100
        await one.read(key, POLICY, upstream)
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        names = sorted(client.keys())
        lives = [client.pttl(name) for name in names]
    assert [name.rpartition(":")[2] for name in names] == ["entry", "failure"]
    assert len({name[name.index("{") : name.index("}")] for name in names}) == 1
    assert all(name.startswith("t:cache:{") and len(name) < 130 for name in names)
    assert [0 < life <= most for life, most in zip(lives, (1_000_000, 5_000), strict=True)] == [True, True]
