"""Kept blocks on a real Redis: it gives none before its time, and takes none from a stranger."""

import time
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest
import redis
from msgspec.structs import replace

from quotecast.bus.base import Batch, Beat
from quotecast.bus.kept import KeptBlock, RedisKept, Released
from quotecast.bus.redis import RedisBus
from quotecast.errors import BusError
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, INFO, state_of, stock
from support.runs.waits import until_answered
from support.servers.processes import Valkey

pytestmark = pytest.mark.usefixtures("patient_bus")

FEED = Feed.STOCKS
#: Lets a test choose what counts as old enough.
NO_DELAY = 0


@pytest.fixture
async def kept(redis_url: str) -> AsyncIterator[RedisKept]:
    """Returns the kept blocks of an installation in which `leader` has the lease."""
    bus, made = RedisBus(redis_url, "kept"), RedisKept(redis_url, "kept")
    assert await bus.hold(FEED, "leader", 60_000)
    yield made
    await bus.close()
    await made.close()


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    """Returns a client beside the kept blocks'."""
    with redis.Redis.from_url(redis_url) as made:
        yield made


def block(*numbers: int, state: bool = False) -> KeptBlock:
    batches = [Batch(feed=FEED, epoch=EPOCH, seq=number) for number in numbers]
    return KeptBlock(messages=batches, state=state_of([stock()], seq=numbers[-1]) if state else None)


def seqs(released: Sequence[Released]) -> list[int]:
    return [message.seq for each in released if each.block for message in each.block.messages]


async def test_a_block_is_released_once_it_is_old_enough(kept: RedisKept, client: redis.Redis) -> None:
    """By the clock of the server: the test reads that clock after each answer."""
    assert await kept.keep(FEED, "leader", block(1, state=True), 1)
    released = await until_answered(lambda: kept.released(FEED, "", 1))
    seconds, micros = client.time()
    assert 1000 * seconds + micros // 1000 - int(released[0].id.partition("-")[0]) >= 1000
    assert seqs(released) == [1]


async def test_a_redis_whose_clock_is_ahead_gives_no_block_early(kept: RedisKept, redis_url: str) -> None:
    """As after a failover to such a replica: the reader's own clock must agree."""
    assert await kept.keep(FEED, "leader", block(1, state=True), 900)
    behind = RedisKept(redis_url, "kept", clock=lambda: time.time() - 60)
    assert await behind.released(FEED, "", NO_DELAY) == []
    assert seqs(await kept.released(FEED, "", NO_DELAY)) == [1]
    await behind.close()


async def test_blocks_begin_again_after_a_clock_that_was_ahead(kept: RedisKept, client: redis.Redis) -> None:
    """Else ids go on from the later time: nothing is due, and nothing forgotten, until the clock is there."""
    future = f"{int(time.time() + 86_400) * 1000}-0"
    client.xadd(f"kept:{{{FEED}}}:kept", {"block": b"early", "state": 0}, id=future)
    found = await kept.keep(FEED, "leader", block(1, state=True), 900)
    assert found is not None
    assert not found.follows
    assert seqs(await kept.released(FEED, "", NO_DELAY)) == [1]
    assert seqs(await kept.released(FEED, future, NO_DELAY)) == [1]


async def test_blocks_come_in_order_from_the_newest_state_on(kept: RedisKept) -> None:
    for each in (block(1, state=True), block(2, 3), block(4, state=True), block(5), block(6, 7)):
        assert await kept.keep(FEED, "leader", each, 900)
    released = await kept.released(FEED, "", NO_DELAY)
    assert seqs(released) == [4, 5, 6, 7]
    first = released[0].block
    assert first is not None
    assert first.state == replace(state_of([stock()], seq=4), closings=[])
    assert seqs(await kept.released(FEED, released[1].id, NO_DELAY)) == [6, 7]
    assert await kept.released(FEED, released[-1].id, NO_DELAY) == []
    assert await kept.released(FEED, "", 900) == []


async def test_a_leader_learns_that_its_last_block_is_gone(kept: RedisKept, client: redis.Redis) -> None:
    """As after a failover to a replica that lacked it: readers need a state then."""
    first = await kept.keep(FEED, "leader", block(1, state=True), 900)
    assert first is not None
    second = await kept.keep(FEED, "leader", block(2), 900, after=first.id)
    assert second is not None
    assert second.follows
    client.xdel(f"kept:{{{FEED}}}:kept", second.id)
    third = await kept.keep(FEED, "leader", block(3), 900, after=second.id)
    assert third is not None
    assert not third.follows


async def test_without_a_state_nothing_can_begin(kept: RedisKept) -> None:
    assert await kept.keep(FEED, "leader", block(1), 900)
    assert await kept.released(FEED, "", NO_DELAY) == []


async def test_a_long_past_comes_in_pages(kept: RedisKept) -> None:
    assert await kept.keep(FEED, "leader", block(1, state=True), 900)
    for number in range(2, 50):
        assert await kept.keep(FEED, "leader", block(number), 900)
    found: list[int] = []
    after = ""
    while released := await kept.released(FEED, after, NO_DELAY):
        found += seqs(released)
        after = released[-1].id
    assert found == [*range(1, 50)]


async def test_only_the_leader_keeps(kept: RedisKept) -> None:
    assert await kept.keep(FEED, "a former leader", block(1, state=True), 900) is None
    assert await kept.released(FEED, "", NO_DELAY) == []


async def test_blocks_of_another_version_are_passed_over(kept: RedisKept, client: redis.Redis) -> None:
    assert await kept.keep(FEED, "leader", block(1, state=True), 900)
    client.xadd("kept:{stocks}:kept", {"block": b"no block", "state": "0"})
    assert await kept.keep(FEED, "leader", block(3), 900)
    released = await kept.released(FEED, "", NO_DELAY)
    assert [each.block is None for each in released] == [False, True, False]


async def test_old_blocks_are_forgotten(kept: RedisKept, client: redis.Redis) -> None:
    """What is past the delay and its grace goes with the next block, and all of it when no more come."""
    client.xadd("kept:{stocks}:kept", {"block": b"old", "state": "0"}, id="1000-0")
    assert await kept.keep(FEED, "leader", block(1), 900)
    assert client.xlen("kept:{stocks}:kept") == 1
    assert 0 < client.ttl("kept:{stocks}:kept") <= 900 + 120


async def test_a_full_redis_takes_quotes_and_no_more_blocks(own_valkey: Valkey) -> None:
    """The delayed feed gives way: the live one goes on."""
    bus, kept = RedisBus(own_valkey.url, "kept"), RedisKept(own_valkey.url, "kept")
    assert await bus.hold(FEED, "leader", 60_000)
    assert await bus.begin("leader", state_of([stock()], seq=1))
    with redis.Redis.from_url(own_valkey.url) as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", 1)
    with pytest.raises(BusError):
        await kept.keep(FEED, "leader", block(1, state=True), 900)
    assert await bus.publish("leader", Batch(feed=FEED, epoch=EPOCH, seq=2), {})
    assert await bus.beat(Beat(feed=FEED, epoch=EPOCH, seq=2, info=INFO))
    await bus.close()
    await kept.close()
