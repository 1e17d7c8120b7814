"""A region's ingest follows a feed of another installation, whatever the line and the Redis here lose."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from quotecast.bus.base import NEWS, Batch, Beat, Document, FeedInfo, Snapshot
from quotecast.bus.wire import digest_of
from quotecast.history.writer import BarWriter
from quotecast.ingest.bars import FollowedBars
from quotecast.ingest.follow import Follower
from support.made.market import INFO, pair
from support.made.memory_bus import MemoryBus
from support.runs import virtual_time
from support.stages.region import FEED, Stage, now, on_stage


@on_stage
async def test_the_region_has_the_state_of_the_origin(stage: Stage) -> None:
    """Quotes, removals, numbers, bars, closings and freshness, with one load."""
    origin = stage.origin
    await stage.is_equal()
    await origin.change(pair("BTC/USDT", 90_001.0))
    await origin.change(pair("BTC/USDT", 90_002.0), pair("SOL/USDT", 150.0))
    await origin.change(removed=["ETH/USDT"])
    await stage.is_equal()
    await origin.change(pair("BTC/USDT", 90_003.0), minutes=2)
    await origin.change(pair("ETH/USDT", 3001.0), minutes=7)
    origin.info = replace(origin.info, overdue=True)
    await origin.beats()
    await stage.is_equal()
    loaded = await stage.region.load(FEED)
    assert loaded is not None
    assert loaded.info.overdue
    assert [each.seq for each in loaded.closings] == [5, 6, 6]
    assert origin.loads == 1
    assert [type(each) for each in stage.region.sent] == [Beat, *[Batch] * 5, Beat]


def test_what_is_followed_is_recorded() -> None:
    """A recording has the origin's batches, and begins with the state."""

    class Recorder:
        def __init__(self) -> None:
            self.seen: list[str] = []

        def begin(self, snapshot: Snapshot) -> None:
            self.seen.append(f"state {snapshot.seq}")

        def add(self, batch: Batch, state: Callable[[], Snapshot]) -> None:
            self.seen.append(f"batch {batch.seq}, state {state().seq}")

        def beat(self, beat: Beat, state: Callable[[], Snapshot]) -> None:
            self.seen.append(f"beat {beat.seq}, state {state().seq}")

    async def play() -> None:
        stage, recorder = Stage(), Recorder()
        stage.follower = Follower(
            FEED,
            stage.origin,
            stage.region,
            "me",
            clock=now,
            sinks=[recorder],
        )
        await stage.origin.lead("e1", pair("BTC/USDT"))
        await stage.start()
        await stage.origin.change(pair("BTC/USDT", 90_001.0))
        await stage.origin.beats()
        await stage.is_equal()
        assert recorder.seen == ["state 1", "batch 2, state 2", "beat 2, state 2"]
        assert stage.task is not None
        stage.task.cancel()

    virtual_time.run(play())


@on_stage
async def test_a_hole_is_healed_by_one_load(stage: Stage) -> None:
    """The numbers go on, so workers and clients see the changes only."""
    origin = stage.origin
    origin.loses = True
    await origin.change(pair("BTC/USDT", 90_001.0), minutes=3)
    origin.loses = False
    await origin.change(pair("ETH/USDT", 3001.0))
    await stage.is_equal()
    assert origin.loads == 2
    assert {each.epoch for each in stage.region.sent if isinstance(each, Beat | Batch)} == {"e1"}


@on_stage
async def test_a_lost_last_batch_is_noticed_by_the_next_beat(stage: Stage) -> None:
    """A beat names the origin's position."""
    stage.origin.loses = True
    await stage.origin.change(removed=["BTC/USDT"])
    stage.origin.loses = False
    await stage.origin.beats()
    await stage.is_equal()


@on_stage
async def test_a_new_epoch_replaces_the_old_one(stage: Stage) -> None:
    """Symbols that are gone in the new epoch are gone in the region too."""
    await stage.origin.change(removed=["ETH/USDT"])
    await stage.origin.lead("e2", pair("BTC/USDT", 91_000.0))
    await stage.is_equal()
    loaded = await stage.region.load(FEED)
    assert loaded is not None
    assert (loaded.epoch, set(loaded.entries)) == ("e2", {"BTC/USDT"})


@on_stage
async def test_a_state_that_the_origin_had_too_late_is_asked_for_again(stage: Stage) -> None:
    """The worker that answers hears of an epoch later than the region may; no message may follow."""
    origin = stage.origin
    origin.lagging = await MemoryBus.load(origin, FEED)
    await origin.lead("e2", pair("BTC/USDT", 91_000.0))
    await asyncio.sleep(0.1)
    assert origin.loads == 2
    origin.lagging = None
    await asyncio.sleep(5)
    await stage.is_equal()
    assert origin.loads == 3


@on_stage
async def test_a_late_message_of_an_old_epoch_asks_once(stage: Stage) -> None:
    """The next message says that nothing is missing."""
    origin = stage.origin
    await origin.lead("e2", pair("BTC/USDT", 91_000.0))
    await stage.is_equal()
    loads = origin.loads
    origin._send(Beat(feed=FEED, epoch="e1", seq=9, info=origin.info))
    await asyncio.sleep(0.1)
    await origin.beats()
    await asyncio.sleep(10)
    assert origin.loads == loads + 1


@on_stage
async def test_a_redis_that_lost_its_data_gets_it_back_without_a_load(stage: Stage) -> None:
    """The next beat or batch shows it; closings come back with their numbers."""
    origin = stage.origin
    await origin.change(pair("BTC/USDT", 90_001.0), minutes=3)
    for publish in (origin.beats, lambda: origin.change(pair("ETH/USDT", 3002.0), minutes=5)):
        stage.region.lose_data()
        await publish()
        await stage.is_equal()
    assert origin.loads == 1


@on_stage
async def test_a_redis_that_is_away_gets_the_newest_state_when_it_returns(stage: Stage) -> None:
    """The origin is not asked meanwhile, and nothing old is written afterwards."""
    origin, region = stage.origin, stage.region
    region.is_away = True
    for number in range(50):
        await origin.change(pair("BTC/USDT", 90_001.0 + number))
        await asyncio.sleep(0.02)
    assert stage.follower.begun.is_set(), "those who wait for the first state have it"
    region.is_away, sent = False, len(region.sent)
    await asyncio.sleep(1)
    await origin.change(pair("ETH/USDT", 3001.0))
    await stage.is_equal()
    assert origin.loads == 1
    assert [type(each) for each in region.sent[sent:]] == [Beat, Batch]


@on_stage
async def test_a_reader_that_reports_gets_the_state_again(stage: Stage) -> None:
    """A worker could not read what lies in Redis: it is written once more, with the same numbers."""
    await stage.origin.change(pair("BTC/USDT", 90_001.0))
    await asyncio.sleep(0.01)
    await stage.region.report(FEED)
    sent = len(stage.region.sent)
    await stage.origin.beats()
    await stage.is_equal()
    assert [each.seq for each in stage.region.sent[sent:] if isinstance(each, Beat)] == [2]


@on_stage
async def test_who_lost_the_lease_writes_no_more(stage: Stage) -> None:
    """Another ingest of the region follows now."""
    stage.region._leases[FEED] = ("other", float("inf"))
    sent = len(stage.region.sent)
    await stage.origin.change(pair("BTC/USDT", 90_001.0))
    assert stage.task is not None
    async with asyncio.timeout(5):
        await stage.task
    assert len(stage.region.sent) == sent


@on_stage
async def test_a_successor_goes_on_with_the_origins_numbers(stage: Stage) -> None:
    """Workers see no new epoch when another ingest of the region takes over."""
    await stage.origin.change(pair("BTC/USDT", 90_001.0))
    await asyncio.sleep(0.01)
    assert stage.task is not None
    stage.task.cancel()
    await asyncio.gather(stage.task, return_exceptions=True)
    await stage.region.release(FEED, "me")
    await stage.origin.change(pair("BTC/USDT", 90_002.0))
    stage.follower = Follower(FEED, stage.origin, stage.region, "me", clock=now)
    await stage.start()
    await stage.origin.change(pair("BTC/USDT", 90_003.0))
    await stage.is_equal()
    assert {each.epoch for each in stage.region.sent if isinstance(each, Beat | Batch)} == {"e1"}


@on_stage
async def test_nothing_is_written_while_the_origin_is_silent(stage: Stage) -> None:
    """So workers mark the feed stale. A line that answers stays, one that does not is opened again."""
    sent = len(stage.region.sent)
    await asyncio.sleep(10)
    assert len(stage.region.sent) == sent
    assert (stage.origin.lines, stage.origin.loads) == (1, 1)
    stage.origin.is_frozen = True
    await asyncio.sleep(10)
    assert stage.origin.lines > 1
    stage.origin.is_frozen = False
    await asyncio.sleep(10)
    await stage.origin.change(pair("BTC/USDT", 90_001.0))
    await stage.is_equal()


@on_stage
async def test_an_older_state_is_not_written(stage: Stage) -> None:
    """A replica that became the origin's master may lack the last batches, until the next epoch."""
    origin = stage.origin
    older = await MemoryBus.load(origin, FEED)
    assert older is not None
    await origin.change(pair("BTC/USDT", 90_001.0))
    await asyncio.sleep(0.01)
    newer = await stage.region.load(FEED)
    origin._states[FEED] = older
    origin._send(Batch(feed=FEED, epoch="e1", seq=9))
    await asyncio.sleep(5)
    assert await stage.region.load(FEED) == newer


@on_stage
async def test_a_state_of_an_unknown_version_is_reported_and_waited_for(stage: Stage) -> None:
    """The region keeps what it has; it asks once a second at most."""
    origin = stage.origin
    origin.is_unreadable = True
    await origin.lead("e2", pair("BTC/USDT", 91_000.0))
    for _ in range(40):
        await origin.change(pair("BTC/USDT", 91_000.0 + origin.ledger.seq))
        await asyncio.sleep(0.1)
    assert 2 <= origin.reports <= 6
    origin.is_unreadable = False
    await asyncio.sleep(1)
    await origin.beats()
    await stage.is_equal()


@on_stage
async def test_documents_are_copied_and_come_back_to_a_redis_that_lost_them(stage: Stage) -> None:
    """A damaged one is not copied."""
    content = b"\x90"
    news = Document(FEED, NEWS, digest_of(content), content)
    assert await stage.origin.store("leader", news)
    await asyncio.sleep(3)
    assert await stage.region.document(FEED, NEWS) == news
    stage.region.lose_data()
    await stage.origin.beats()
    await asyncio.sleep(3)
    assert await stage.region.document(FEED, NEWS) == news
    assert await stage.origin.store("leader", Document(FEED, NEWS, "another", content))
    await asyncio.sleep(3)
    assert await stage.region.document(FEED, NEWS) == news


def test_bars_are_written_under_the_name_of_the_origins_market() -> None:
    """When the origin's market changes, the old writer ends before Redis has bars of the new one."""
    events: list[str] = []

    class Writer:
        def __init__(self, market: str) -> None:
            self.market = market

        async def run(self) -> None:
            events.append(f"writes {self.market or 'the real one'}")
            try:
                await asyncio.Event().wait()
            finally:
                events.append(f"ends {self.market or 'the real one'}")

    def make(market: str) -> BarWriter:
        return Writer(market)  # type: ignore[return-value]

    async def play() -> None:
        stage = Stage(FollowedBars(make))
        stage.origin.info = FeedInfo(provider="simulator", simulated=True, always_open=True)
        await stage.origin.lead("e1", pair("BTC/USDT"))
        await stage.start()
        await stage.origin.lead("e2", pair("BTC/USDT", 90_001.0))
        await asyncio.sleep(0.01)
        stage.origin.info = INFO
        await stage.origin.lead("e3", pair("BTC/USDT", 90_002.0))
        await asyncio.sleep(0.01)
        assert stage.task is not None
        stage.task.cancel()
        await asyncio.gather(stage.task, return_exceptions=True)

    virtual_time.run(play())
    assert events == ["writes simulator", "ends simulator", "writes the real one", "ends the real one"]


def test_an_origin_without_a_state_is_waited_for() -> None:
    """It may have started a moment ago."""

    async def play() -> None:
        stage = Stage()
        await stage.start()
        await asyncio.sleep(5)
        assert await stage.region.load(FEED) is None
        await stage.origin.lead("e1", pair("BTC/USDT"))
        await stage.is_equal()
        assert stage.task is not None
        stage.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stage.task

    virtual_time.run(play())


def test_a_failed_write_does_not_lose_those_who_wait_for_the_first() -> None:
    """The event of the first write is the same before and after a failure."""

    async def play() -> None:
        stage = Stage()
        begun = stage.follower.begun
        stage.region.is_away = True
        await stage.origin.lead("e1", pair("BTC/USDT"))
        await stage.start()
        assert not begun.is_set()
        stage.region.is_away = False
        await asyncio.sleep(5)
        await stage.origin.beats()
        await stage.is_equal()
        assert begun.is_set()
        assert stage.task is not None
        stage.task.cancel()

    virtual_time.run(play())


@on_stage
async def test_a_document_whose_change_was_lost_comes_with_the_next_load(stage: Stage) -> None:
    """The message that says so may be among those that the line lost."""
    origin = stage.origin
    news = Document(FEED, NEWS, digest_of(b"[1]"), b"[1]")
    await asyncio.sleep(3)
    origin.loses = True
    await origin.store("leader", news)
    await origin.change(pair("BTC/USDT", 90_001.0))
    origin.loses = False
    await origin.change(pair("ETH/USDT", 3001.0))
    await asyncio.sleep(3)
    assert await stage.region.document(FEED, NEWS) == news
