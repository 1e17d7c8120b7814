"""How every bus carries bars: parts and closings with the state, and closings for the database."""

from msgspec import structs

from quotecast.bus.base import STORED_CLOSINGS, Batch, FeedInfo, NumberedClosing, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, OwnBar, Part, Progress
from support.made.market import EPOCH, state_of, stock
from support.made.memory_bus import MemoryBus

Bus = MemoryBus | RedisBus

BAR = OwnBar(60, 1.0, 3.0, 0.5, 2.0, 12.5, 4)
PARTS = {"AAPL": {"5m": Part(BAR, 300)}}
STATE = structs.replace(
    state_of([stock("AAPL")]),
    entries={"AAPL": StoredQuote(1, 1, stock("AAPL"), Progress(BAR, None, 1000.0, 0))},
)


def closing(through: int) -> Closing:
    return Closing(through, {"1m": {"AAPL": structs.replace(BAR, opened=through - 60)}}, {"5m": (0, 300)})


async def publish(bus: Bus, seq: int, *throughs: int) -> None:
    batch = Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, closings=[closing(each) for each in throughs])
    assert await bus.publish("me", batch, {}, PARTS)  # type: ignore[arg-type]


async def lead(bus: Bus, *remembered: int) -> None:
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    closings = [NumberedClosing(EPOCH, 1, closing(each)) for each in remembered]
    assert await bus.begin("me", structs.replace(STATE, closings=closings))


async def test_state_has_bars_in_progress_parts_and_closings(bus: Bus) -> None:
    await lead(bus)
    await publish(bus, 2, 120)
    await publish(bus, 3, 180, 240)
    state = await bus.load(Feed.STOCKS)
    assert state is not None
    assert state.entries == STATE.entries
    assert state.parts == PARTS
    assert [(each.epoch, each.seq, each.closing) for each in state.closings] == [
        (EPOCH, 2, closing(120)),
        (EPOCH, 3, closing(180)),
        (EPOCH, 3, closing(240)),
    ]


async def test_reader_gets_no_closings_that_it_has(bus: Bus) -> None:
    """A reader names the end of its newest closing, and the state has later ones only."""
    await lead(bus)
    await publish(bus, 2, 120, 180, 240)
    state = await bus.load(Feed.STOCKS, closings_after=180)
    assert state is not None
    assert [each.closing.through for each in state.closings] == [240]
    assert state.parts == PARTS


async def test_a_new_epoch_keeps_closings_and_adds_those_that_were_lost(bus: Bus) -> None:
    await lead(bus)
    await publish(bus, 2, 120)
    await lead(bus, 60, 120, 180)
    assert [each.through for each in await bus.closings_after(Feed.STOCKS, 0, 10)] == [120, 180]
    state = await bus.load(Feed.STOCKS)
    assert state is not None
    assert [each.seq for each in state.closings] == [2, 1]


async def test_a_bus_without_data_gets_the_remembered_closings(bus: Bus) -> None:
    await lead(bus, 60, 120)
    assert [each.through for each in await bus.closings_after(Feed.STOCKS, 0, 10)] == [60, 120]


async def test_a_state_within_an_epoch_keeps_the_numbers_of_its_closings(bus: Bus) -> None:
    """A followed feed: clients resume by these numbers in every region."""
    closings = [NumberedClosing("e0", 9, closing(60)), NumberedClosing(EPOCH, 4, closing(120))]
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    for seq in (7, 8):
        assert await bus.begin("me", structs.replace(STATE, seq=seq, closings=closings))
        state = await bus.load(Feed.STOCKS)
        assert state is not None
        assert (state.seq, list(state.closings)) == (seq, closings)


async def test_a_minute_is_stored_once(bus: Bus) -> None:
    """A batch with a minute that is stored is published all the same."""
    await lead(bus)
    await publish(bus, 2, 120)
    await publish(bus, 3, 120)
    state = await bus.load(Feed.STOCKS)
    assert state is not None
    assert (state.seq, [each.seq for each in state.closings]) == (3, [2])


async def test_the_database_reads_on_and_forgets_what_it_has(bus: Bus) -> None:
    """The newest closings stay, because workers and leaders load them."""
    throughs = [60 * number for number in range(1, STORED_CLOSINGS + 11)]
    await lead(bus)
    await publish(bus, 2, *throughs)
    assert [each.through for each in await bus.closings_after(Feed.STOCKS, 120, 2)] == [180, 240]
    await bus.trim_closings(Feed.STOCKS, 180)
    assert [each.through for each in await bus.closings_after(Feed.STOCKS, 0, 1)] == [240]
    await bus.trim_closings(Feed.STOCKS, throughs[-1])
    kept = await bus.closings_after(Feed.STOCKS, 0, 1000)
    assert [each.through for each in kept] == throughs[-STORED_CLOSINGS:]
    newest = await bus.newest_closings(Feed.STOCKS, 3)
    assert [each.through for each in newest] == throughs[-3:]


async def test_feeds_without_closings_have_none(bus: Bus) -> None:
    assert not await bus.closings_after(Feed.DOVIZ, 0, 10)
    await bus.trim_closings(Feed.DOVIZ, 600)


async def test_closings_of_another_market_are_forgotten(bus: Bus) -> None:
    """A simulation may be ahead of the real market, and its bars have another name in PostgreSQL."""
    simulated = structs.replace(STATE, info=FeedInfo(provider="simulator", simulated=True))
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    assert await bus.begin(
        "me", structs.replace(simulated, closings=[NumberedClosing(EPOCH, 1, closing(600))])
    )
    assert await bus.begin("me", simulated)
    assert [each.through for each in await bus.closings_after(Feed.STOCKS, 0, 10)] == [600]
    await lead(bus, 120)
    assert [each.through for each in await bus.closings_after(Feed.STOCKS, 0, 10)] == [120]
    other = structs.replace(STATE, info=FeedInfo(provider="other"))
    assert await bus.begin("me", other)
    assert [each.through for each in await bus.closings_after(Feed.STOCKS, 0, 10)] == [120]
