"""An origin and a region in one process, with the follower between them; time passes at once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any

from msgspec.structs import replace

from quotecast.bus.base import Beat, Message, Snapshot
from quotecast.errors import BusError, UnreadableState
from quotecast.ingest.bars import FollowedBars
from quotecast.ingest.follow import Follower
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.providers.base import Update
from support.made.market import INFO, pair
from support.made.memory_bus import MemoryBus
from support.runs import virtual_time

FEED = Feed.CRYPTO
#: 2026-11-20T15:00:00Z.
NOON = 1_795_186_800.0
LONG = 1_000_000_000


def now() -> float:
    return asyncio.get_running_loop().time()


class Origin(MemoryBus):
    """The origin's bus with its leader, and the line to it."""

    def __init__(self) -> None:
        super().__init__(now)
        self.loads = self.questions = self.lines = self.reports = 0
        #: Loses messages, and keeps answers to itself.
        self.loses = self.is_frozen = self.is_unreadable = False
        #: What a worker that lags behind the bus answers to a load.
        self.lagging: Snapshot | None = None
        self.ledger = Ledger(FEED)
        self.info = replace(INFO, always_open=True)

    async def lead(self, epoch: str, *quotes: Any, removed: Sequence[str] = ()) -> None:
        await self.hold(FEED, "leader", LONG)
        self.ledger.take(Update(quotes, removed), NOON)
        assert await self.begin("leader", self.ledger.begin(epoch, self.info))

    async def change(self, *quotes: Any, removed: Sequence[str] = (), minutes: int = 0) -> None:
        self.ledger.take(Update(quotes, removed), NOON + 60 * minutes)
        batch, entries, parts = self.ledger.next_batch(NOON)
        assert await self.publish("leader", batch, entries, parts)

    async def beats(self) -> None:
        ledger = self.ledger
        assert await self.beat(Beat(feed=FEED, epoch=ledger.epoch, seq=ledger.seq, info=self.info))

    async def load(self, feed: Feed, *, closings_after: int = 0) -> Snapshot | None:
        self.loads += 1
        if self.is_unreadable:
            raise UnreadableState("of another version")
        return self.lagging or await super().load(feed, closings_after=closings_after)

    async def report(self, _: Feed) -> None:
        self.reports += 1

    async def digest(self, feed: Feed, name: str) -> str | None:
        self.questions += 1
        if self.is_frozen:
            await asyncio.Event().wait()
        return await super().digest(feed, name)

    @contextlib.asynccontextmanager
    async def listen(self, feeds: Sequence[Feed]) -> AsyncIterator[AsyncIterator[Message | None]]:
        self.lines += 1
        async with super().listen(feeds) as messages:
            yield messages

    def _send(self, message: Message) -> None:
        if not self.loses:
            super()._send(message)


class Region(MemoryBus):
    """The region's bus, and the messages that its workers got."""

    def __init__(self) -> None:
        super().__init__(now)
        self.sent: list[Message] = []
        self.is_away = False

    def lose_data(self) -> None:
        self._states.clear()
        self._leases.clear()
        self._closings.clear()
        self._documents.clear()

    async def begin(self, *arguments: Any) -> bool:
        if self.is_away:
            raise BusError("away")
        return await super().begin(*arguments)

    async def publish(self, *arguments: Any) -> bool:
        if self.is_away:
            raise BusError("away")
        return await super().publish(*arguments)

    def _send(self, message: Message) -> None:
        self.sent.append(message)
        super()._send(message)


class Stage:
    """Both buses, and the follower between them."""

    def __init__(self, bars: FollowedBars | None = None) -> None:
        self.origin, self.region = Origin(), Region()
        self.follower = Follower(FEED, self.origin, self.region, "me", bars=bars, clock=now)
        self.task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        assert await self.region.hold(FEED, "me", LONG)
        self.task = asyncio.create_task(self.follower.run())
        await asyncio.sleep(0.01)

    async def is_equal(self) -> None:
        """Waits a moment, after which the region has the origin's state: quotes, numbers, bars and all."""
        await asyncio.sleep(0.01)
        ours, theirs = await self.region.load(FEED), await MemoryBus.load(self.origin, FEED)
        assert ours == theirs
        assert ours is not None


def on_stage(test: Callable[[Stage], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Runs a test on a stage whose origin leads and whose follower follows; its time passes at once."""

    def run() -> None:
        async def play() -> None:
            stage = Stage()
            await stage.origin.lead("e1", pair("BTC/USDT"), pair("ETH/USDT", 3000.0))
            await stage.start()
            await test(stage)
            assert stage.task is not None
            stage.task.cancel()
            await asyncio.gather(stage.task, return_exceptions=True)

        virtual_time.run(play())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run
