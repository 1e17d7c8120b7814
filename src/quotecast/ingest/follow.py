"""Follows one feed that another installation leads, and writes it to the bus here as it is.

Epoch and seq are the origin's, so clients resume in any region. The state lies in memory too: a bus that
refuses a batch, or lost its data, gets it without a question to the origin. While the origin is silent
nothing is written, so workers mark the feed stale. Documents are copied too, and again where the bus here
lost them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from quotecast.backoff import Backoff, without_jitter
from quotecast.bus.base import (
    DOCUMENTS,
    NEWS,
    Batch,
    Beat,
    BusReader,
    BusWriter,
    Document,
    DocumentChanged,
    Message,
)
from quotecast.bus.wire import digest_of
from quotecast.errors import BusError, UnreadableState
from quotecast.ingest import lease
from quotecast.ingest.bars import FollowedBars
from quotecast.ingest.documents import CHECK_SECONDS, store_where_missing
from quotecast.ingest.followed import Followed
from quotecast.ingest.lease import LeaseLostError
from quotecast.ingest.publish import RETRY_SECONDS, IngestStatistics
from quotecast.ingest.sinks import Sink
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog
from quotecast.providers.transport import outcomes


class FollowedDocuments:
    """Copies one feed's documents whenever `look` says that the origin's may have changed."""

    def __init__(self, feed: Feed, origin: BusReader, bus: BusWriter, owner: str) -> None:
        self._feed = feed
        self._origin = origin
        self._bus = bus
        self._owner = owner
        self._copies: dict[str, Document] = {}
        #: Names of documents to ask the origin for.
        self._due: set[str] = set()
        self._outage = OutageLog()

    def look(self) -> None:
        """Asks the origin for its documents at the next step."""
        self._due.update(DOCUMENTS)

    async def run(self) -> None:
        """Copies documents without end; the caller leads the feed meanwhile."""
        while True:
            await self.step()
            await asyncio.sleep(CHECK_SECONDS)

    async def step(self) -> None:
        """Copies what changed at the origin, and stores what the bus here lacks."""
        due, self._due = self._due, set()
        for name in sorted(due):
            try:
                await self._copy(name)
            except BusError:
                # The line is lost, or the document unreadable: the next step asks again.
                self._due.add(name)
        for document in self._copies.values():
            await store_where_missing(document, self._bus, self._owner, self._outage)

    async def _copy(self, name: str) -> None:
        """Copies a document. Raises BusError, and keeps the last copy where the origin's is unreadable."""
        copy = self._copies.get(name)
        digest = await self._origin.digest(self._feed, name)
        if digest is None or (copy is not None and digest == copy.digest):
            return
        document = await self._origin.document(self._feed, name)
        if document is None:
            return
        if document.digest == digest_of(document.content):
            self._copies[name] = document
        else:
            log.warning("document of the origin is damaged", feed=self._feed, document=name)
            await self._origin.report_document(document)


PROVIDER: Final = "quotecast"
#: Seconds without a message after which the origin must answer a question, and seconds for the answer: a
#: frozen origin sends neither.
SILENCE_SECONDS: Final = 3.0
ANSWER_SECONDS: Final = 3.0
#: Seconds between two loads, of which the first brought nothing.
LOAD_SECONDS: Final = 1.0
#: Delays between tries to connect.
FIRST_RETRY_SECONDS: Final = 0.1
LAST_RETRY_SECONDS: Final = 1.6

log = structlog.get_logger()


class Follower:
    """Follows one feed while this ingest holds its lease; `clock` gives monotonic seconds.

    `sinks` get everything that was published; metrics name the origin `provider`.
    """

    def __init__(
        self,
        feed: Feed,
        origin: BusReader,
        bus: BusWriter,
        owner: str,
        *,
        bars: FollowedBars | None = None,
        statistics: IngestStatistics | None = None,
        sinks: Sequence[Sink] = (),
        provider: str = PROVIDER,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._feed = feed
        self._origin = origin
        self._bus = bus
        self._owner = owner
        self._bars = bars or FollowedBars(None)
        self._documents = FollowedDocuments(feed, origin, bus, owner)
        self._statistics = statistics or IngestStatistics()
        self._sinks = sinks
        self._provider = provider
        self._clock = clock
        self._state: Followed | None = None
        #: Whether the bus has the state, and whether the origin is known to have a newer one.
        self._is_written = self._is_behind = False
        #: Set once the bus has the state.
        self.begun = asyncio.Event()
        self._begin_at = self._load_at = self._ask_at = float("-inf")
        self._backoff = Backoff(FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS, chance=without_jitter)
        self._line, self._outage, self._unreadable = OutageLog(clock), OutageLog(clock), OutageLog(clock)

    async def run(self) -> None:
        """Follows until another ingest has the lease."""
        self._statistics.leading = True
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(
                    lease.renew(
                        self._bus,
                        self._feed,
                        self._owner,
                        asyncio.sleep,
                        report=self._statistics.set_standing,
                    )
                )
                tasks.create_task(self._documents.run())
                tasks.create_task(self._follow())
        except* LeaseLostError:
            log.warning("lost the lease", feed=self._feed)
        finally:
            self._statistics.leading = False
            await self._bars.stop()

    async def _follow(self) -> None:
        """Follows the origin, and connects again after each failure, without end."""
        while True:
            try:
                async with self._origin.listen([self._feed]) as messages:
                    await self._load()
                    await self._begin_if_due()
                    self._documents.look()
                    self._ask_at = self._clock() + SILENCE_SECONDS
                    async for message in messages:
                        await self._take(message)
            except BusError as error:
                self._line.log_failure("origin lost; reconnecting", feed=self._feed, error=str(error))
            outcomes.connections[self._feed, self._provider, "failed"] += 1
            await asyncio.sleep(self._backoff.delay())

    async def _take(self, message: Message | None) -> None:
        if message is None:
            await self._check_line()
            if self._is_behind:
                await self._load()
        elif isinstance(message, DocumentChanged):
            self._documents.look()
        else:
            self._ask_at = self._clock() + SILENCE_SECONDS
            self._backoff.reset()
            self._line.log_end("origin answers again", feed=self._feed)
            self._statistics.heard_at = time.time()
            await self._apply(message)
        await self._begin_if_due()

    async def _apply(self, message: Batch | Beat) -> None:
        self._is_behind = False
        state = self._state
        if state is None or message.epoch != state.epoch:
            await self._catch_up()
        elif isinstance(message, Beat):
            if not state.has(message):
                await self._catch_up()
                return
            state.info = message.info
            if self._is_written:
                await self._write(self._beat(state))
        elif not state.has(message):
            await self._apply_batch(state, message)

    async def _apply_batch(self, state: Followed, batch: Batch) -> None:
        try:
            stored = state.take(batch)
        except UnreadableState:
            stored = None
        if stored is None:
            await self._catch_up()
        elif self._is_written:
            await self._write(self._bus.publish(self._owner, batch, *stored))
            if self._is_written:
                self._outage.log_end("feed is written again", feed=self._feed)
                state.forget_closings()
                statistics = self._statistics
                statistics.batches += 1
                statistics.changes += len(batch.changes) + len(batch.removed)
                statistics.bars += sum(len(bars) for each in batch.closings for bars in each.bars.values())
                statistics.seq = batch.seq
                for sink in self._sinks:
                    sink.add(batch, state.snapshot)

    async def _beat(self, state: Followed) -> bool:
        beat = Beat(feed=self._feed, epoch=state.epoch, seq=state.seq, info=state.info)
        done = await self._bus.beat(beat)
        if done:
            for sink in self._sinks:
                sink.beat(beat, state.snapshot)
        return done

    async def _write(self, call: Awaitable[bool]) -> None:
        """Awaits a call of the bus; after a failure or a refusal the bus gets the whole state."""
        try:
            self._is_written = await call
        except BusError as error:
            self._fail(error)
            return
        if not self._is_written:
            log.warning("bus has another state", feed=self._feed)

    async def _begin_if_due(self) -> None:
        """Writes the whole state if the bus lacks it. Raises LeaseLostError."""
        state = self._state
        if state is None or self._is_written or self._clock() < self._begin_at:
            return
        snapshot = state.snapshot()
        await self._bars.prepare(snapshot.info.market)
        try:
            # A Redis that lost its data lost the lease too; this ingest takes it again.
            while not await self._bus.begin(self._owner, snapshot):
                if not await self._bus.hold(self._feed, self._owner, lease.LEASE_MILLISECONDS):
                    raise LeaseLostError
        except BusError as error:
            self._fail(error)
            return
        self._is_written = True
        self.begun.set()
        self._outage.log_end("feed is written again", feed=self._feed)
        log.info("state written", feed=self._feed, epoch=state.epoch, seq=state.seq, symbols=len(state))
        self._bars.start(snapshot.info.market)
        state.forget_closings()
        self._statistics.epochs += 1
        self._statistics.seq = state.seq
        for sink in self._sinks:
            sink.begin(snapshot)

    def _fail(self, error: BusError) -> None:
        self._statistics.failures += 1
        self._outage.log_failure("could not write the feed", feed=self._feed, error=str(error))
        # The message may have arrived: writing the whole state is right in both cases.
        self._is_written = False
        self._begin_at = self._clock() + RETRY_SECONDS

    async def _catch_up(self) -> None:
        """Loads the state that the last message is from, and again each second while no other message comes.

        The origin's worker may hear of that state later than we do.
        """
        self._is_behind = True
        await self._load()

    async def _load(self) -> None:
        """Takes the origin's state, unless it is no newer. Raises BusError when the line is lost."""
        if self._clock() < self._load_at:
            return
        self._load_at = self._clock() + LOAD_SECONDS
        try:
            snapshot = await self._origin.load(self._feed)
        except UnreadableState as error:
            self._unreadable.log_failure("could not read origin's state", feed=self._feed, error=str(error))
            await self._origin.report(self._feed)
            return
        self._unreadable.log_end("origin's state is readable again", feed=self._feed)
        if snapshot is None or (self._state is not None and self._state.has(snapshot)):
            return
        earlier, self._state = self._state, Followed(snapshot)
        if earlier is not None:
            self._state.remember(earlier)
            # A change of a document may be among the lost messages.
            self._documents.look()
        self._is_written = self._is_behind = False
        self._load_at = float("-inf")

    async def _check_line(self) -> None:
        """Asks a silent origin a question. Raises BusError without an answer."""
        if self._clock() < self._ask_at:
            return
        self._ask_at = self._clock() + SILENCE_SECONDS
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._origin.digest(self._feed, NEWS)
        except TimeoutError:
            raise BusError("origin: no messages and no answer") from None
