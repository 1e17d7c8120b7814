"""A delayed feed shows the past, all of it and nothing younger, whatever fails in between."""

import asyncio
from collections.abc import Sequence

from quotecast.bus.base import NEWS, Batch, Snapshot
from quotecast.bus.kept import Kept, KeptBlock, Released
from quotecast.bus.wire import encode_document
from quotecast.errors import BusError
from quotecast.ingest.delaying import DelayedFeed, FeedKeeper
from quotecast.market.feeds import Feed
from quotecast.settings.model import Settings
from quotecast.settings.plans import delayed_prefix
from support.made.documents import article
from support.made.market import EPOCH, state_of
from support.runs import virtual_time
from support.stages.region import Region
from unit.ingest.delayed_stage import DELAY, FEED, DelayedStage, now, on_delayed_stage

#: Seconds by which a change may come after it is due: a step of the test, a block, and a look.
LATE = 5.0


@on_delayed_stage
async def test_quotes_come_when_they_are_old_enough(stage: DelayedStage) -> None:
    await stage.pass_time(DELAY - 5)
    assert len(stage.mirror) == 0
    await stage.pass_time(60)
    assert len(stage.mirror) > 0
    assert stage.lateness() <= LATE
    info = stage.mirror.info
    assert info is not None
    assert info.delay_seconds == DELAY
    assert stage.keeper.lost == 0


@on_delayed_stage
async def test_the_delayed_feed_has_the_epochs_and_numbers_of_the_live_one(stage: DelayedStage) -> None:
    await stage.pass_time(5)
    live = await stage.bus.load(FEED)
    assert live is not None
    await stage.pass_time(DELAY + 3)
    assert stage.mirror.epoch == live.epoch
    assert live.seq < stage.mirror.mark.seq < live.seq + 40


@on_delayed_stage
async def test_bars_are_late_too(stage: DelayedStage) -> None:
    await stage.pass_time(DELAY + 200)
    closings = (await stage.late_bus.load(FEED, closings_after=0)).closings  # type: ignore[union-attr]
    assert len(closings) >= 2
    live = {each.closing.through: each.closing for each in (await stage.bus.load(FEED)).closings}  # type: ignore[union-attr]
    for each in closings:
        assert each.closing == live.get(each.closing.through, each.closing)


@on_delayed_stage
async def test_documents_are_late_too(stage: DelayedStage) -> None:
    await stage.pass_time(2)
    document = encode_document(FEED, NEWS, [article(headline="Early")])
    assert await stage.bus.store("leader", document)
    await stage.pass_time(DELAY - 10)
    assert await stage.late_bus.document(FEED, NEWS) is None
    await stage.pass_time(80)
    assert await stage.late_bus.document(FEED, NEWS) == document


@on_delayed_stage
async def test_a_delayed_feed_that_was_away_misses_nothing(stage: DelayedStage) -> None:
    await stage.pass_time(DELAY + 30)
    await stage.stop("delayed")
    await stage.pass_time(100)
    stage.start("delayed")
    await stage.pass_time(10)
    assert stage.lateness() <= LATE


@on_delayed_stage
async def test_after_lost_blocks_it_goes_on_with_the_next_state(stage: DelayedStage) -> None:
    await stage.pass_time(30)
    stage.kept.is_full = True
    await stage.pass_time(20)
    assert stage.keeper.lost > 0
    stage.kept.is_full = False
    await stage.pass_time(DELAY + 40)
    assert stage.lateness() <= LATE


@on_delayed_stage
async def test_a_new_leader_begins_an_epoch_in_the_delayed_feed_too(stage: DelayedStage) -> None:
    await stage.pass_time(30)
    await stage.stop("leader")
    await stage.pass_time(10)
    stage.start("leader")
    await stage.pass_time(20)
    epoch = (await stage.bus.load(FEED)).epoch  # type: ignore[union-attr]
    await stage.pass_time(DELAY)
    assert stage.mirror.epoch == epoch
    assert stage.lateness() <= LATE


@on_delayed_stage
async def test_a_bus_that_lost_the_delayed_feed_gets_it_again(stage: DelayedStage) -> None:
    await stage.pass_time(DELAY + 30)
    stage.late_bus.lose_data()
    await stage.pass_time(20)
    assert stage.lateness() <= LATE


@on_delayed_stage
async def test_a_redis_that_lost_what_was_kept_begins_again(stage: DelayedStage) -> None:
    """Nothing is shown early to fill the gap: the feed stands still until the next state is old enough."""
    await stage.pass_time(DELAY + 30)
    stage.kept.blocks.clear()
    await stage.pass_time(30)
    assert stage.lateness() > 20
    await stage.pass_time(DELAY - 20)
    assert stage.lateness() <= LATE


@on_delayed_stage
async def test_a_redis_that_lost_one_block_gets_a_state_with_the_next(stage: DelayedStage) -> None:
    """As after a failover: Redis had taken the block, so that its keeper had no error."""
    await stage.pass_time(DELAY + 30)
    del stage.kept.blocks[-1]
    await stage.pass_time(DELAY + 6)
    assert stage.lateness() <= LATE


def test_no_price_is_early_in_any_order_of_faults() -> None:
    """Draws faults for ten minutes; then the feed catches up. `just chaos-delayed` draws millions."""

    async def play() -> None:
        stage = DelayedStage(1)
        stage.start()
        end = now() + 600
        while now() < end:
            await stage.pass_time(stage.random.uniform(5, 60))
            match stage.random.choice(
                ["leader", "keeper", "delayed", "worker", "away", "full", "late", "lose"]
            ):
                case "away":
                    stage.kept.is_away = not stage.kept.is_away
                case "full":
                    stage.kept.is_full = not stage.kept.is_full
                case "late":
                    stage.late_bus.is_away = not stage.late_bus.is_away
                case "lose":
                    stage.late_bus.lose_data()
                case name:
                    await stage.stop(name)
                    await stage.pass_time(stage.random.uniform(0, 40))
                    stage.start(name)
        stage.kept.is_away = stage.kept.is_full = stage.late_bus.is_away = False
        await stage.pass_time(DELAY + 65)
        assert stage.lateness() <= LATE
        assert stage.deliveries > 500
        await stage.stop()

    virtual_time.run(play())


def test_blocks_of_an_unknown_version_cause_no_flood_of_calls() -> None:
    """After a rollback nobody can read what the newer version kept: the reader looks once a second."""

    class Unreadable:
        calls = 0

        async def released(self, _feed: Feed, _after: str, _delay_seconds: int) -> Sequence[Released]:
            self.calls += 1
            return [Released(f"{self.calls}-0", None)]

    async def play() -> None:
        kept = Unreadable()
        async with DelayedFeed(FEED, kept, DELAY).listen([FEED]) as messages:
            for _ in range(20):
                assert await anext(messages) is None
        assert now() >= 19

    virtual_time.run(play())


def test_a_worker_never_reads_the_feed_of_a_shorter_delay() -> None:
    """What an ingest published 300 seconds late stays in Redis when the delay becomes 900 seconds."""
    prefixes = {delayed_prefix(Settings(delay_seconds=seconds)) for seconds in (300, 900)}
    assert len(prefixes) == 2


def test_a_redis_that_hangs_for_the_keeper_alone_gathers_no_states() -> None:
    """A lost block calls for one state: each has every quote of the feed."""
    made = tried = 0

    class Hanging:
        async def keep(
            self, feed: Feed, owner: str, block: KeptBlock, delay_seconds: int, *, after: str = ""
        ) -> Kept | None:
            nonlocal tried
            del feed, owner, delay_seconds, after
            tried += block.state is not None
            await asyncio.sleep(2)
            raise BusError("away")

    def state() -> Snapshot:
        nonlocal made
        made += 1
        return state_of([])

    async def play() -> None:
        keeper = FeedKeeper(FEED, Region(), Hanging(), "leader", DELAY, clock=now)
        running = asyncio.create_task(keeper.run())
        for number in range(3000):
            await asyncio.sleep(0.2)
            keeper.add(Batch(feed=FEED, epoch=EPOCH, seq=number), state)
            assert made - tried <= 3
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    virtual_time.run(play())
