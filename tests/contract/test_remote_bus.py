"""A relay is a reader of the bus: what is written at the origin is read equal through it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import redis
from msgspec import structs

from contract.relays_made import Origin, serving_relays
from quotecast.bus.base import NEWS, Batch, Beat, Document, DocumentChanged, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.bus.wire import encode_change
from quotecast.errors import BusError, UnreadableState
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.made.documents import article, news_of
from support.made.market import INFO, state_of, stock
from support.runs.deadlines import scaled
from support.runs.waits import until

STATE = state_of([stock("AAPL"), stock("MSFT")])
BEAT = Beat(feed=Feed.STOCKS, epoch=STATE.epoch, seq=1, info=INFO)
PATIENCE_SECONDS = 10.0


@pytest.fixture
async def bus(redis_url: str) -> AsyncIterator[RedisBus]:
    bus = RedisBus(redis_url, "test")
    yield bus
    await bus.close()


@pytest.fixture
async def origin(bus: RedisBus) -> AsyncIterator[Origin]:
    async with serving_relays(bus) as origin:
        yield origin


def batch_of(seq: int) -> tuple[Batch, dict[str, StoredQuote]]:
    quote = stock("AAPL", float(seq))
    batch = Batch(feed=Feed.STOCKS, epoch=STATE.epoch, seq=seq, changes=[encode_change(quote)], sent_at=5.5)
    return batch, {"AAPL": StoredQuote(seq, 1, quote)}


async def lead(bus: RedisBus) -> None:
    assert await bus.hold(Feed.STOCKS, "me", 60_000)
    assert await bus.begin("me", STATE)


async def next_of(messages: Any, count: int) -> list[Any]:
    """Returns that many messages; leaves out signs of a quiet bus."""
    found: list[Any] = []
    async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
        while len(found) < count:
            message = await anext(messages)
            found += [message] if message is not None else []
    return found


async def test_states_and_messages_are_those_of_the_origin(bus: RedisBus, origin: Origin) -> None:
    """A relay loads the stored state, and gets batches, beats, epochs and documents in order and equal."""
    reader = origin.reader()
    async with reader.listen([*Feed]) as messages:
        assert await reader.check() == "ok"
        assert await reader.load(Feed.STOCKS) is None
        await lead(bus)
        assert await reader.load(Feed.STOCKS) == STATE
        batch, entries = batch_of(2)
        document = news_of(article(1))
        assert await bus.publish("me", batch, entries)
        assert await bus.beat(structs.replace(BEAT, seq=2))
        assert await bus.store("me", document)
        assert await next_of(messages, 4) == [
            BEAT,
            batch,
            structs.replace(BEAT, seq=2),
            DocumentChanged(feed=Feed.STOCKS, name=NEWS, digest=document.digest),
        ]
        assert await reader.load(Feed.STOCKS) == await bus.load(Feed.STOCKS)
        assert await reader.digest(Feed.STOCKS, NEWS) == document.digest
        assert await reader.document(Feed.STOCKS, NEWS) == document
        assert await reader.digest(Feed.CRYPTO, NEWS) is None
        assert await reader.document(Feed.CRYPTO, NEWS) is None


async def test_a_relay_gets_the_feeds_that_it_asked_for(bus: RedisBus, origin: Origin) -> None:
    """Messages of other feeds stay at the origin."""
    await lead(bus)
    reader = origin.reader()
    async with reader.listen([Feed.STOCKS]) as messages:
        assert await bus.hold(Feed.DOVIZ, "me", 60_000)
        assert await bus.begin("me", state_of([], feed=Feed.DOVIZ))
        assert await bus.beat(BEAT)
        assert await next_of(messages, 1) == [BEAT]


async def test_a_quiet_bus_gives_a_sign_and_a_lost_one_an_error(origin: Origin) -> None:
    """A relay tells a quiet origin from one that is gone."""
    reader = origin.reader()
    async with reader.listen([Feed.STOCKS]) as messages:
        assert await anext(messages) is None
        origin.relays.drain()
        with pytest.raises(BusError, match="service_restart"):
            await next_of(messages, 1)
    with pytest.raises(BusError, match="not connected"):
        await reader.load(Feed.STOCKS)
    with pytest.raises(BusError, match="not connected"):
        await reader.check()


async def test_a_wrong_secret_names_the_remedy(origin: Origin) -> None:
    """The origin's operator and the edge's find the two settings in one line."""
    with pytest.raises(BusError, match="QUOTECAST_ORIGIN_SECRET here is QUOTECAST_RELAY_SECRET there"):
        async with origin.reader("x" * 32).listen([Feed.STOCKS]):
            pass


async def test_only_a_state_that_the_origin_cannot_read_gets_a_new_epoch(
    bus: RedisBus, origin: Origin, redis_url: str
) -> None:
    """A new epoch costs every client of the origin: an edge of another version must not ask for ever."""
    await lead(bus)
    reader = origin.reader()
    async with reader.listen([Feed.STOCKS]):
        await reader.report(Feed.STOCKS)
        assert await bus.beat(BEAT)
        with redis.Redis.from_url(redis_url) as client:
            client.hset("test:{stocks}:quotes", "POISON", b"\xc1")
        with pytest.raises(UnreadableState):
            await reader.load(Feed.STOCKS)
        origin.relays._checked_at.clear()
        await reader.report(Feed.STOCKS)
        assert not await bus.beat(BEAT)


async def test_only_a_damaged_document_is_stored_again(bus: RedisBus, origin: Origin, redis_url: str) -> None:
    """The origin forgets the digest of content that is damaged there too."""
    await lead(bus)
    document = news_of(article(1))
    assert await bus.store("me", document)
    reader = origin.reader()
    async with reader.listen([Feed.STOCKS]):
        await reader.report_document(Document(Feed.STOCKS, NEWS, document.digest, b"damaged on the line"))
        assert await bus.digest(Feed.STOCKS, NEWS) == document.digest
        with redis.Redis.from_url(redis_url) as client:
            client.hset("test:{stocks}:document:news", "content", b"damaged")
        found = await reader.document(Feed.STOCKS, NEWS)
        assert found is not None
        assert found.content == b"damaged"
        await reader.report_document(found)
        assert await bus.digest(Feed.STOCKS, NEWS) is None


async def test_a_hole_is_healed_by_a_load(bus: RedisBus, origin: Origin) -> None:
    """A worker on a relay that missed a batch notices the gap in numbers, and loads the state."""
    await lead(bus)
    mirror = Mirror(Feed.STOCKS)
    relay = BusListener(origin.reader(), {Feed.STOCKS: mirror})
    following = asyncio.create_task(relay.run())
    try:
        await until(lambda: mirror.mark.seq == 1)
        origin.loses = 1
        assert await bus.publish("me", *batch_of(2))
        assert await bus.publish("me", *batch_of(3))
        await until(lambda: mirror.mark.seq == 3)
        assert mirror.quotes()["AAPL"].price == 3.0
        assert relay.statistics()["reconnects"] == 0
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


class SlowBus:
    """A bus whose loads wait."""

    def __init__(self, bus: RedisBus) -> None:
        self._bus = bus
        self.waits = asyncio.Event()
        self.began = asyncio.Event()

    async def stored(self, feed: Feed) -> Sequence[Any]:
        self.began.set()
        await self.waits.wait()
        return await self._bus.stored(feed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)


async def test_an_answer_that_nobody_waits_for_is_nobody_elses(bus: RedisBus) -> None:
    """A call that was cancelled leaves its answer to no other call."""
    await lead(bus)
    slow: Any = SlowBus(bus)
    async with serving_relays(slow) as origin:
        reader = origin.reader()
        async with reader.listen([Feed.STOCKS]):
            left = asyncio.create_task(reader.load(Feed.STOCKS))
            await slow.began.wait()
            left.cancel()
            await asyncio.gather(left, return_exceptions=True)
            asking = asyncio.create_task(reader.digest(Feed.STOCKS, NEWS))
            slow.waits.set()
            assert await asking is None
            assert await reader.load(Feed.STOCKS) == STATE


async def test_an_error_of_the_origins_bus_is_one_of_the_relays(bus: RedisBus) -> None:
    """While the origin's Redis fails, its relays see the same."""

    class FailingBus(SlowBus):
        async def stored(self, feed: Feed) -> Sequence[Any]:
            raise BusError(f"Redis: no {feed}")

    failing: Any = FailingBus(bus)
    async with serving_relays(failing) as origin:
        reader = origin.reader()
        async with reader.listen([Feed.STOCKS]):
            with pytest.raises(BusError, match="origin: Redis: no stocks"):
                await reader.load(Feed.STOCKS)


async def test_a_relay_follows_a_relay(bus: RedisBus, origin: Origin) -> None:
    """An edge is an origin for others: states, messages and documents pass it unchanged."""
    document = news_of(article(1))
    async with serving_relays(origin.reader()) as edge:
        reader = edge.reader()
        async with reader.listen([Feed.STOCKS]) as messages:
            await lead(bus)
            assert await bus.store("me", document)
            changed = DocumentChanged(feed=Feed.STOCKS, name=NEWS, digest=document.digest)
            assert await next_of(messages, 2) == [BEAT, changed]
            assert await reader.load(Feed.STOCKS) == STATE
            assert await reader.document(Feed.STOCKS, NEWS) == document
            assert await reader.load(Feed.CRYPTO) is None
            assert await bus.publish("me", *batch_of(2))
            assert await next_of(messages, 1) == [batch_of(2)[0]]
