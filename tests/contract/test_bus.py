"""Guarantees of every bus, tested on each implementation."""

import pytest
from msgspec import structs

from quotecast.bus.base import Batch, Beat, Snapshot, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.bus.wire import encode_change
from quotecast.market.feeds import Feed
from support.made.alpaca import closed_day
from support.made.market import INFO, state_of, stock
from support.made.memory_bus import MemoryBus
from support.runs.waits import until_answered

Bus = MemoryBus | RedisBus


def second_batch(price: float = 2.0) -> tuple[Batch, dict[str, StoredQuote]]:
    quote = stock("AAPL", price)
    batch = Batch(feed=Feed.STOCKS, epoch=STATE.epoch, seq=2, changes=[encode_change(quote)])
    return batch, {"AAPL": StoredQuote(2, 1, quote)}


STATE = state_of([stock("AAPL"), stock("MSFT")])


async def lead(bus: Bus) -> None:
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    assert await bus.begin("me", STATE)


async def test_a_lease_has_one_holder_until_it_ends(bus: Bus) -> None:
    """A lease has one holder: the holder renews it, others fail, and a released lease is free."""
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    assert not await bus.hold(Feed.STOCKS, "other", 10_000)
    assert await bus.hold(Feed.CRYPTO, "other", 10_000)
    await bus.release(Feed.STOCKS, "other")
    assert not await bus.hold(Feed.STOCKS, "other", 10_000)
    await bus.release(Feed.STOCKS, "me")
    assert await bus.hold(Feed.STOCKS, "other", 10_000)


async def test_an_heir_needs_the_state_of_the_last_leader(bus: Bus) -> None:
    """Where the bus lost its data, the leader, who remembers them, takes the lease again before any heir."""
    assert await bus.take_over(Feed.STOCKS, "heir", 10_000) is None
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    assert await bus.take_over(Feed.STOCKS, "heir", 10_000) is False
    assert await bus.begin("me", STATE)
    await bus.release(Feed.STOCKS, "me")
    assert await bus.take_over(Feed.STOCKS, "heir", 10_000) is True
    assert await bus.take_over(Feed.STOCKS, "heir", 10_000) is True


async def test_a_lease_without_renewal_expires(bus: Bus) -> None:
    """A lease that nobody renews expires, so that another ingest can take it."""
    assert await bus.hold(Feed.STOCKS, "me", 50)
    await until_answered(lambda: bus.hold(Feed.STOCKS, "other", 10_000))


async def test_there_is_no_state_before_the_first_epoch(bus: Bus) -> None:
    """Before the first epoch the state is None, which differs from an empty state."""
    assert await bus.load(Feed.STOCKS) is None


async def test_a_new_epoch_replaces_the_whole_state(bus: Bus) -> None:
    """A new epoch replaces the whole state, with symbols that only the old epoch had."""
    await lead(bus)
    assert await bus.load(Feed.STOCKS) == STATE
    newer = state_of([stock("TSLA")], epoch="0000000000bb00000001")
    assert await bus.begin("me", newer)
    assert await bus.load(Feed.STOCKS) == newer


async def test_a_reader_asks_the_leader_for_a_new_epoch(bus: Bus) -> None:
    """A reader's request fails one beat of the leader; requests that follow soon have no effect."""
    await lead(bus)
    beat = Beat(feed=Feed.STOCKS, epoch=STATE.epoch, seq=STATE.seq, info=INFO)
    for _ in range(3):
        await bus.report(Feed.STOCKS)
    assert not await bus.beat(beat)
    assert await bus.beat(beat)
    await bus.report(Feed.STOCKS)
    await bus.report(Feed.CRYPTO)
    assert await bus.beat(beat)


async def test_only_the_leader_begins_an_epoch(bus: Bus) -> None:
    """Beginning an epoch without the lease fails and changes nothing."""
    await lead(bus)
    assert not await bus.begin("other", state_of([stock("TSLA")], epoch="ff"))
    assert await bus.load(Feed.STOCKS) == STATE


async def test_a_batch_is_stored_and_numbered(bus: Bus) -> None:
    """A batch changes the stored state and its seq."""
    await lead(bus)
    batch, entries = second_batch()
    assert await bus.publish("me", batch, entries)
    assert await bus.load(Feed.STOCKS) == Snapshot(
        Feed.STOCKS, STATE.epoch, 2, INFO, {**STATE.entries, **entries}
    )


@pytest.mark.parametrize(("epoch", "seq"), [("ff", 2), (STATE.epoch, 3), (STATE.epoch, 1)])
async def test_a_batch_that_does_not_follow_is_refused(bus: Bus, epoch: str, seq: int) -> None:
    """The bus stores and sends nothing of a batch of another epoch, after a gap, or repeated."""
    await lead(bus)
    batch, entries = second_batch()
    async with bus.listen([Feed.STOCKS]) as messages:
        assert not await bus.publish("me", structs.replace(batch, epoch=epoch, seq=seq), entries)
        assert await bus.load(Feed.STOCKS) == STATE
        assert await bus.publish("me", batch, entries)
        assert await anext(messages) == batch


async def test_a_leader_that_slept_through_a_takeover_publishes_nothing(bus: Bus) -> None:
    """The next leader may have loaded the state: it makes the same minutes final itself."""
    await lead(bus)
    await bus.release(Feed.STOCKS, "me")
    assert await bus.hold(Feed.STOCKS, "next", 10_000)
    batch, entries = second_batch()
    assert not await bus.publish("me", batch, entries)
    assert await bus.load(Feed.STOCKS) == STATE


async def test_listeners_get_messages_in_order(bus: Bus) -> None:
    """Listeners get batches, beats and new epochs of their feeds, in order, from their subscription on."""
    await lead(bus)
    batch, entries = second_batch()
    beat = Beat(feed=Feed.STOCKS, epoch=STATE.epoch, seq=2, info=INFO)
    async with bus.listen([Feed.STOCKS, Feed.CRYPTO]) as messages:
        assert await bus.publish("me", batch, entries)
        assert await bus.beat(beat)
        assert await bus.hold(Feed.DOVIZ, "me", 60_000)
        assert await bus.begin("me", state_of([], feed=Feed.DOVIZ))
        assert await bus.begin("me", state_of([], epoch="ff"))
        assert [await anext(messages) for _ in range(3)] == [
            batch,
            beat,
            Beat(feed=Feed.STOCKS, epoch="ff", seq=1, info=INFO),
        ]


async def test_a_quiet_bus_gives_a_sign(bus: Bus) -> None:
    """A listener gets a sign of a quiet bus, so that it can tell it from a dead one."""
    async with bus.listen([Feed.STOCKS]) as messages:
        assert await anext(messages) is None


async def test_a_beat_of_an_old_epoch_is_not_sent(bus: Bus) -> None:
    """The beat of an old epoch fails: a leader that was frozen learns that another took over."""
    await lead(bus)
    late = structs.replace(INFO, overdue=True)
    assert not await bus.beat(Beat(feed=Feed.STOCKS, epoch="old", seq=9, info=late))
    state = await bus.load(Feed.STOCKS)
    assert state is not None
    assert state.info == INFO


async def test_a_beat_stores_the_source_of_the_feed(bus: Bus) -> None:
    """A beat stores the feed's source, so that a worker that starts later knows it."""
    await lead(bus)
    late = structs.replace(INFO, overdue=True, unscheduled=closed_day())
    assert await bus.beat(Beat(feed=Feed.STOCKS, epoch=STATE.epoch, seq=1, info=late))
    state = await bus.load(Feed.STOCKS)
    assert state is not None
    assert state.info == late
