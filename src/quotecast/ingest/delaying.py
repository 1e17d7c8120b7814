"""The delayed feeds of an ingest, and their metrics: what feeds publish is kept, and published again later.

A delayed feed is a followed feed whose origin is the past, on a bus of its own. It has the epochs, numbers,
bars and documents of the live one, and a lease of its own.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Final

from msgspec import Struct, structs
from prometheus_client import Metric

from quotecast.bus.base import (
    DOCUMENTS,
    Batch,
    Beat,
    BusReader,
    BusWriter,
    Document,
    DocumentChanged,
    FeedInfo,
    Message,
    Snapshot,
)
from quotecast.bus.kept import KeptBlock, KeptReader, KeptWriter, RedisKept, Released
from quotecast.bus.redis import RedisBus
from quotecast.bus.subscription import silence
from quotecast.errors import BusError, UnreadableState
from quotecast.ingest import lease
from quotecast.ingest.follow import Follower
from quotecast.ingest.followed import Followed
from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.observe.metrics import counter, gauge
from quotecast.observe.outages import OutageLog
from quotecast.settings.model import Settings
from quotecast.settings.plans import delayed_prefix

#: What metrics call the origin of a delayed feed.
PROVIDER: Final = "delayed"
#: Seconds between two looks for blocks that are due.
LOOK_SECONDS: Final = 1.0
#: Seconds between two trims of the delayed feeds' final bars: those of the live feeds are in PostgreSQL.
TRIM_SECONDS: Final = 60.0
#: Seconds between two blocks: a leader that is killed loses at most as much.
BLOCK_SECONDS: Final = 1.0
#: Seconds between two states: a delayed feed that lost a block goes on with the next one.
STATE_SECONDS: Final = 60.0
#: Seconds from a lost block to the next state.
RETRY_SECONDS: Final = 5.0
#: Changes that wait for Redis: some 20 MB.
MAX_WAITING: Final = 50_000


class FeedKeeper:
    """Keeps one feed's messages, as a Sink: a block each second, and each minute the feed's state.

    `owner` must hold the feed's lease. Quotes never wait for the keeper. A block that Redis does not take is
    lost; the next one then ends with a state.
    """

    def __init__(
        self,
        feed: Feed,
        bus: BusReader,
        kept: KeptWriter,
        owner: str,
        delay_seconds: int,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._feed = feed
        self._bus = bus
        self._kept = kept
        self._owner = owner
        self._delay_seconds = delay_seconds
        self._clock = clock
        #: Messages of the block in the making, and blocks that end with a state.
        self._messages: list[Batch | Beat] = []
        self._ended: deque[KeptBlock] = deque()
        self._waiting = 0
        self._state_at = float("-inf")
        #: Id of the last block that Redis took.
        self._last_id = ""
        #: Whether a block of this step is lost, so that readers need a state.
        self._has_lost = False
        self._outage = OutageLog(clock)
        #: Kept blocks, their bytes, and batches that were published and not kept.
        self.blocks = self.bytes = self.lost = 0

    def begin(self, snapshot: Snapshot) -> None:
        """See Sink."""
        self._end_block(snapshot)

    def add(self, batch: Batch, state: Callable[[], Snapshot]) -> None:
        """See Sink."""
        self._messages.append(batch)
        self._waiting += len(batch.changes) + len(batch.removed)
        if self._waiting > MAX_WAITING:
            self._lose(self._messages)
            for block in self._ended:
                self._lose(block.messages)
            self._ended.clear()
            self._messages = []
            self._waiting = 0
            self._state_at = float("-inf")
        self._end_block_if_due(state)

    def beat(self, beat: Beat, state: Callable[[], Snapshot]) -> None:
        """See Sink."""
        self._messages.append(beat)
        self._end_block_if_due(state)

    async def run(self) -> None:
        """Keeps a block each second, without end."""
        while True:
            await asyncio.sleep(BLOCK_SECONDS)
            await self.step()

    async def step(self) -> None:
        """Keeps what waits. Never raises."""
        blocks = [*self._ended, KeptBlock(messages=self._messages)]
        self._ended.clear()
        self._messages = []
        self._waiting = 0
        for block in blocks:
            if block.messages or block.state is not None:
                await self._keep(block)
        if self._has_lost:
            # Once for all blocks, and not at once: a state is a copy of the whole feed.
            self._has_lost = False
            self._state_at = min(self._state_at, self._clock() + RETRY_SECONDS)

    def _end_block_if_due(self, state: Callable[[], Snapshot]) -> None:
        if self._clock() >= self._state_at:
            self._end_block(state())

    def _end_block(self, snapshot: Snapshot) -> None:
        self._state_at = self._clock() + STATE_SECONDS
        # Readers keep the closings of the batches; half an hour of them in each state would double its size.
        state = structs.replace(snapshot, closings=snapshot.closings[-1:])
        self._ended.append(KeptBlock(messages=self._messages, state=state))
        self._messages = []

    async def _keep(self, block: KeptBlock) -> None:
        try:
            if block.state is not None:
                found = []
                for name in DOCUMENTS:
                    with contextlib.suppress(UnreadableState):
                        found.append(await self._bus.document(self._feed, name))
                block = structs.replace(block, documents=[each for each in found if each is not None])
            kept = await self._kept.keep(
                self._feed, self._owner, block, self._delay_seconds, after=self._last_id
            )
        except BusError as error:
            self._outage.log_failure(
                "could not store a block for the delayed feed", feed=self._feed, error=str(error)
            )
            kept = None
        if kept is None:
            self._lose(block.messages)
            self._has_lost = True
            return
        self._outage.log_end("blocks are stored again for the delayed feed", feed=self._feed)
        self.blocks += 1
        self.bytes += kept.length
        self._last_id = kept.id
        if not kept.follows and block.state is None:
            # Redis lost a block that it had taken, as after a failover, and readers need a state.
            self._state_at = float("-inf")

    def _lose(self, messages: Sequence[Batch | Beat]) -> None:
        self.lost += sum(isinstance(each, Batch) for each in messages)


class DelayedFeed:
    """The past of one feed, as the origin of a Follower: a BusReader whose present is `delay_seconds` ago."""

    def __init__(self, feed: Feed, kept: KeptReader, delay_seconds: int) -> None:
        self._feed = feed
        self._kept = kept
        self._delay_seconds = delay_seconds
        #: Id of the last block that was read; empty before the first.
        self._read_to = ""
        self._documents: dict[str, Document] = {}

    async def load(self, feed: Feed, *, closings_after: int = 0) -> Snapshot | None:
        """See BusReader; the messages of `listen` go on after this state."""
        del closings_after
        state: Followed | None = None
        read_to = ""
        while released := await self._kept.released(feed, read_to, self._delay_seconds):
            for each in released:
                read_to = each.id
                if each.block is not None:
                    state = self._after(state, each.block)
                await asyncio.sleep(0)  # the live feeds get a turn
        if state is None:
            return None
        self._read_to = read_to
        return structs.replace(state.snapshot(), info=self._late(state.info))

    async def report(self, feed: Feed) -> None:
        """Does nothing: nobody can begin an epoch in the past."""

    async def digest(self, feed: Feed, name: str) -> str | None:  # noqa: ARG002 - of the protocol
        """See BusReader."""
        found = self._documents.get(name)
        return None if found is None else found.digest

    async def document(self, feed: Feed, name: str) -> Document | None:  # noqa: ARG002 - of the protocol
        """See BusReader."""
        return self._documents.get(name)

    async def report_document(self, document: Document) -> None:
        """Forgets a damaged document; the next state brings another."""
        self._documents.pop(document.name, None)

    @contextlib.asynccontextmanager
    async def listen(self, feeds: Sequence[Feed]) -> AsyncIterator[AsyncIterator[Message | None]]:  # noqa: ARG002
        """See BusReader; messages that are due at once come together."""
        async with contextlib.aclosing(self._messages()) as messages:
            yield messages

    @contextlib.asynccontextmanager
    async def announcements(self) -> AsyncIterator[AsyncIterator[Sequence[str] | None]]:
        """See BusReader; a delayed feed has no alerts, so nothing comes."""
        yield silence()

    async def _messages(self) -> AsyncGenerator[Message | None, None]:
        while True:
            released = await self._kept.released(self._feed, self._read_to, self._delay_seconds)
            if released and self._read_to:
                async for message in self._play(released):
                    yield message
            else:
                # Also after blocks of an unknown version: another look at once would find the same.
                yield self._first(released)
                await asyncio.sleep(LOOK_SECONDS)

    async def _play(self, released: Sequence[Released]) -> AsyncIterator[Message]:
        """Yields the messages of blocks, until a load goes past them."""
        for each in released:
            self._read_to = each.id
            if each.block is None:
                continue
            for message in each.block.messages:
                yield (
                    structs.replace(message, info=self._late(message.info))
                    if isinstance(message, Beat)
                    else message
                )
            for name in self._take_documents(each.block):
                yield DocumentChanged(feed=self._feed, name=name, digest=self._documents[name].digest)
            if self._read_to != each.id:
                return

    def _first(self, released: Sequence[Released]) -> Message | None:
        """Returns a beat that makes the reader load the first state."""
        state = next((each.block.state for each in released if each.block and each.block.state), None)
        if state is None:
            return None
        return Beat(feed=self._feed, epoch=state.epoch, seq=state.seq, info=self._late(state.info))

    def _after(self, state: Followed | None, block: KeptBlock) -> Followed | None:
        """Returns the state after a block."""
        self._take_documents(block)
        if block.state is not None:
            return Followed(block.state)
        for message in block.messages:
            if state is None or message.epoch != state.epoch:
                continue
            if isinstance(message, Beat):
                state.info = message.info
            else:
                with contextlib.suppress(UnreadableState):
                    state.take(message)
        return state

    def _take_documents(self, block: KeptBlock) -> list[str]:
        """Takes a block's documents; returns the names of those that changed."""
        changed = [each for each in block.documents if self._documents.get(each.name) != each]
        self._documents.update((each.name, each) for each in changed)
        return [each.name for each in changed]

    def _late(self, info: FeedInfo) -> FeedInfo:
        return structs.replace(info, delay_seconds=info.delay_seconds + self._delay_seconds)


async def publish_delayed(
    feed: Feed,
    kept: KeptReader,
    bus: BusWriter,
    owner: str,
    delay_seconds: int,
    *,
    statistics: IngestStatistics,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Publishes a feed's past on the bus of the delayed feeds whenever no other ingest does, without end."""

    async def term() -> None:
        origin = DelayedFeed(feed, kept, delay_seconds)
        follower = Follower(feed, origin, bus, owner, statistics=statistics, provider=PROVIDER, clock=clock)
        await follower.run()

    await lease.lead(bus, feed, owner, term, statistics.set_standing)


class Delaying(Struct, frozen=True):
    """The keepers of the feeds' messages, and the loops that publish them again when they are due."""

    keepers: Mapping[Feed, FeedKeeper]
    statistics: Mapping[Feed, IngestStatistics]
    #: Endless loops that the caller runs.
    loops: Sequence[Coroutine[Any, Any, None]]


NOT_DELAYING: Final = Delaying({}, {}, ())


@contextlib.asynccontextmanager
async def delaying(settings: Settings, bus: RedisBus, owner: str) -> AsyncIterator[Delaying]:
    """Gives the delayed feeds of the configured ones; none without a delay."""
    seconds, feeds = settings.delay_seconds, settings.configured_feeds()
    if not seconds:
        yield NOT_DELAYING
        return
    kept = RedisKept(settings.redis_url, settings.redis_prefix)
    late_bus = RedisBus(settings.redis_url, delayed_prefix(settings))
    keepers = {feed: FeedKeeper(feed, bus, kept, owner, seconds) for feed in feeds}
    statistics = {feed: IngestStatistics() for feed in feeds}
    loops: list[Coroutine[Any, Any, None]] = [keeper.run() for keeper in keepers.values()]
    loops += [
        publish_delayed(feed, kept, late_bus, owner, seconds, statistics=statistics[feed]) for feed in feeds
    ]
    try:
        yield Delaying(keepers, statistics, [*loops, _trim(late_bus, feeds)])
    finally:
        for feed in feeds:
            with contextlib.suppress(BusError):
                await late_bus.release(feed, owner)
        await late_bus.close()
        await kept.close()


async def _trim(bus: BusWriter, feeds: Sequence[Feed]) -> None:
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        for feed in feeds:
            with contextlib.suppress(BusError):
                await bus.trim_closings(feed, int(time.time()))


def families(made: Delaying) -> Iterator[Metric]:
    """Yields the metrics of the delayed feeds; none without a delay."""
    if not made.keepers:
        return
    keepers, late = made.keepers, made.statistics
    yield counter("kept_blocks", "Blocks kept for the delayed feed.", _by_feed(keepers, "blocks"), ["feed"])
    yield counter("kept_bytes", "Bytes kept for the delayed feed.", _by_feed(keepers, "bytes"), ["feed"])
    lost = _by_feed(keepers, "lost")
    yield counter("kept_lost_batches", "Batches published and not kept for the delayed feed.", lost, ["feed"])
    leads = _by_feed(late, "leading")
    yield gauge("delayed_lease_held", "1 while this ingest leads the delayed feed.", leads, ["feed"])
    batches = _by_feed(late, "batches")
    yield counter("delayed_batches", "Batches published on the delayed feed.", batches, ["feed"])


def _by_feed(parts: Mapping[Feed, object], field: str) -> dict[tuple[str], float]:
    return {(feed,): getattr(each, field) for feed, each in parts.items()}
