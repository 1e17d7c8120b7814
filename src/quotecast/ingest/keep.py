"""Keeps what a feed publishes for its delayed feed: a block each second, and each minute the feed's state."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import structs

from quotecast.bus.base import DOCUMENTS, Batch, Beat, BusReader, Snapshot
from quotecast.bus.kept import KeptBlock, KeptWriter
from quotecast.errors import BusError, UnreadableState
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog

#: Seconds between two blocks: a leader that is killed loses at most as much.
BLOCK_SECONDS: Final = 1.0
#: Seconds between two states: a delayed feed that lost a block goes on with the next one.
STATE_SECONDS: Final = 60.0
#: Seconds from a lost block to the next state.
RETRY_SECONDS: Final = 5.0
#: Changes that wait for Redis: some 20 MB.
MAX_WAITING: Final = 50_000


class FeedKeeper:
    """Keeps one feed's messages, as a Sink; `owner` must hold the feed's lease.

    Quotes never wait for it. A block that Redis does not take is lost; the next one then ends with a state.
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
            self._outage.log_failure("not kept for the delayed feed", feed=self._feed, error=str(error))
            kept = None
        if kept is None:
            self._lose(block.messages)
            self._has_lost = True
            return
        self._outage.log_end("kept again for the delayed feed", feed=self._feed)
        self.blocks += 1
        self.bytes += kept.length
        self._last_id = kept.id
        if not kept.follows and block.state is None:
            # Redis lost a block that it had taken, as after a failover, and readers need a state.
            self._state_at = float("-inf")

    def _lose(self, messages: Sequence[Batch | Beat]) -> None:
        self.lost += sum(isinstance(each, Batch) for each in messages)
