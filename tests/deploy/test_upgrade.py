"""During an upgrade workers of two releases share the bus and read each other's messages.

The messages are literal bytes of the wire, so that a change of the structs cannot change them. When the
version of the schema rises, the messages of the old version stay here beside the new ones.
"""

from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from quotecast.bus.base import Batch, Beat, DocumentChanged
from quotecast.bus.redis import RedisBus
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed

Wire = dict[str, Any]

EPOCH = "0000000000aa00000001"
TIME = "2026-11-20T15:00:00.000Z"
QUOTE: Wire = {
    "type": "stock_quote",
    "ticker": "AAPL",
    "name": "Apple Inc.",
    "price": 100.0,
    "timestamp": TIME,
}
INFO: Wire = {"provider": "test"}
HEAD: Wire = {"feed": "stocks", "epoch": EPOCH, "seq": 2}
#: Messages of version 1, of release 0.1.0, without the fields that it omits when empty.
MESSAGES: list[Wire] = [
    HEAD | {"type": "batch", "changes": [{"quote": QUOTE | {"price": 101.0}, "key": "AAPL"}]},
    HEAD | {"type": "beat", "info": INFO},
    {"type": "document", "feed": "stocks", "name": "news", "digest": "d"},
]
#: Fields that a later version may add to any message.
MORE: Wire = {"version": 2, "added": {"by": "a version to come"}}


@pytest.fixture(params=[{}, MORE], ids=["the version before", "the version after"])
def extra(request: pytest.FixtureRequest) -> Wire:
    extra: Wire = request.param
    return extra


def key(name: str) -> str:
    return f"test:{{stocks}}:{name}"


async def write_state(redis: Redis, extra: Wire) -> None:
    encode = msgspec.msgpack.encode
    stored = {"seq": 1, "full_seq": 1, "quote": QUOTE | extra} | extra
    await redis.hset(key("state"), mapping={"epoch": EPOCH, "seq": 1, "info": encode(INFO | extra)})
    await redis.hset(key("quotes"), mapping={"AAPL": encode(stored)})


async def test_a_worker_serves_what_another_version_published(redis_url: str, extra: Wire) -> None:
    """A worker loads the state of another version and applies its messages."""
    bus, mirror = RedisBus(redis_url, "test"), Mirror(Feed.STOCKS)
    async with Redis.from_url(redis_url) as redis, bus.listen([Feed.STOCKS]) as messages:
        await write_state(redis, extra)
        for message in MESSAGES:
            await redis.publish(key("batches"), msgspec.msgpack.encode(message | extra))
        state = await bus.load(Feed.STOCKS)
        assert state
        mirror.load(state)
        batch, beat, changed = [await anext(messages) for _ in MESSAGES]
    await bus.close()
    assert isinstance(batch, Batch)
    assert mirror.apply(batch)
    assert mirror.quotes()["AAPL"].price == 101.0
    assert isinstance(beat, Beat)
    assert (beat.seq, beat.info.provider) == (2, "test")
    assert isinstance(changed, DocumentChanged)


async def test_unknown_kinds_of_messages_are_skipped(redis_url: str) -> None:
    """A worker skips an unknown type of message and reads the next one."""
    bus = RedisBus(redis_url, "test")
    async with Redis.from_url(redis_url) as redis, bus.listen([Feed.STOCKS]) as messages:
        for message in ({"type": "to_come"}, MESSAGES[1]):
            await redis.publish(key("batches"), msgspec.msgpack.encode(message))
        assert await anext(messages) is None
        assert isinstance(await anext(messages), Beat)
    await bus.close()
