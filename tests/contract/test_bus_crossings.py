"""How every bus carries crossings: with their batch, once each, and until the writer has them."""

from collections.abc import AsyncIterator

from quotecast.bus.base import Batch, Memory
from quotecast.bus.redis import RedisBus
from quotecast.market.crossings import NO_CROSSING, Crossing, CrossingId
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, state_of, stock
from support.made.memory_bus import MemoryBus

Bus = MemoryBus | RedisBus
STATE = state_of([stock("AAPL")])


def crossing(moment: int, number: int = 0) -> Crossing:
    return Crossing(moment, number, "AAPL", "price", 99.5, 100.25, 100.25, moment / 1000)


async def lead(bus: Bus, *remembered: Crossing, owner: str = "me") -> None:
    assert await bus.hold(Feed.STOCKS, owner, 10_000)
    assert await bus.begin(owner, STATE, Memory(crossings=remembered))


async def publish(bus: Bus, seq: int, *crossings: Crossing, owner: str = "me") -> bool:
    batch = Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq)
    return await bus.publish(owner, batch, {}, {}, crossings)


async def stored(bus: Bus, last: CrossingId = NO_CROSSING, count: int = 100) -> list[Crossing]:
    return [*await bus.crossings_after(Feed.STOCKS, last, count)]


async def test_crossings_come_with_their_batch(bus: Bus) -> None:
    await lead(bus)
    assert await publish(bus, 2, crossing(5), crossing(5, 1))
    assert await publish(bus, 3, crossing(7))
    assert await stored(bus) == [crossing(5), crossing(5, 1), crossing(7)]
    assert await stored(bus, CrossingId(5, 0), 1) == [crossing(5, 1)]
    assert await bus.last_crossing(Feed.STOCKS) == CrossingId(7, 0)
    assert await bus.count_crossings(Feed.STOCKS) == 3


async def test_a_refused_batch_leaves_no_crossings(bus: Bus) -> None:
    """Another owner's lease refuses it, and another state."""
    await lead(bus)
    assert not await publish(bus, 3, crossing(5))
    await bus.release(Feed.STOCKS, "me")
    assert await bus.hold(Feed.STOCKS, "other", 10_000)
    assert not await publish(bus, 2, crossing(5))
    assert await stored(bus) == []
    assert await bus.last_crossing(Feed.STOCKS) == NO_CROSSING


async def test_a_new_epoch_adds_the_crossings_that_the_bus_lacks(bus: Bus) -> None:
    """Those of a batch whose publication was uncertain are there once."""
    await lead(bus)
    assert await publish(bus, 2, crossing(5), crossing(6))
    await lead(bus, crossing(5), crossing(6), crossing(6, 1))
    assert await stored(bus) == [crossing(5), crossing(6), crossing(6, 1)]


async def test_a_bus_without_data_gets_the_remembered_crossings(bus: Bus) -> None:
    await lead(bus, crossing(5), crossing(6))
    assert await stored(bus) == [crossing(5), crossing(6)]


async def test_the_bus_forgets_written_crossings_but_for_the_last(bus: Bus) -> None:
    """So the next leader's ids are greater, and none comes back."""
    await lead(bus, crossing(5), crossing(6), crossing(7))
    await bus.trim_crossings(Feed.STOCKS, CrossingId(6, 0))
    assert await stored(bus) == [crossing(6), crossing(7)]
    await bus.trim_crossings(Feed.STOCKS, CrossingId(9, 0))
    assert await stored(bus) == [crossing(7)]
    await lead(bus, crossing(5), crossing(6), crossing(7))
    assert await stored(bus) == [crossing(7)]


async def test_feeds_without_crossings_have_none(bus: Bus) -> None:
    assert await bus.crossings_after(Feed.DOVIZ, NO_CROSSING, 10) == []
    await bus.trim_crossings(Feed.DOVIZ, CrossingId(5, 0))
    assert await bus.count_crossings(Feed.DOVIZ) == 0


async def test_the_copy_of_thresholds_is_the_last_one(bus: Bus) -> None:
    assert await bus.levels(Feed.STOCKS) is None
    await bus.store_levels(Feed.STOCKS, b"old")
    await bus.store_levels(Feed.STOCKS, b"new")
    assert await bus.levels(Feed.STOCKS) == b"new"
    assert await bus.levels(Feed.CRYPTO) is None


async def test_listeners_hear_which_users_have_events(bus: Bus) -> None:
    async with bus.announcements() as first, bus.announcements() as second:
        await bus.announce(["a", "b"])
        await bus.announce(["c"])
        for listener in (first, second):
            heard = [users async for users in _until_two(listener)]
            assert heard == [["a", "b"], ["c"]]


async def _until_two(listener: AsyncIterator[object]) -> AsyncIterator[object]:
    count = 0
    async for users in listener:
        if users is not None:
            count += 1
            yield users
        if count == 2:
            return
