"""A publisher that is stopped while the bus has not answered yet."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from quotecast.bus.base import Batch, Beat, Snapshot
from quotecast.errors import BusError
from quotecast.ingest.publish import FeedPublisher
from quotecast.market.feeds import Feed
from support.made.market import stock
from support.made.memory_bus import MemoryBus
from support.runs.waits import until
from support.stages.following import ScriptedProvider


class LateBus(MemoryBus):
    """A bus that takes a batch at once and answers when it may; it answers nothing if it fails."""

    def __init__(self) -> None:
        super().__init__(lambda: 0.0)
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.fails = False

    async def publish(self, *asked: Any) -> bool:
        is_taken = await super().publish(*asked)
        self.asked.set()
        await self.may_answer.wait()
        if self.fails:
            raise BusError("no reply")
        return is_taken


class Recorded:
    """Notes the batches of a feed."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def begin(self, snapshot: Snapshot) -> None:
        """Nothing to note."""

    def add(self, batch: Batch, _state: Callable[[], Snapshot]) -> None:
        self.batches.append(batch)

    def beat(self, beat: Beat, state: Callable[[], Snapshot]) -> None:
        """Nothing to note."""


@pytest.mark.parametrize("fails", [False, True])
async def test_a_batch_that_the_bus_took_is_recorded(*, fails: bool) -> None:
    """The end waits for the answer; without one nobody knows whether the batch was published."""
    bus, provider, recorded = LateBus(), ScriptedProvider(), Recorded()
    bus.fails = fails
    await bus.hold(Feed.STOCKS, "me", 60_000)
    publisher = FeedPublisher(provider, bus, "me", sinks=[recorded])
    running = asyncio.create_task(publisher.run())
    provider.send(stock("AAPL", 1.0))
    await until(publisher.begun.is_set)
    provider.send(stock("AAPL", 2.0))
    await bus.asked.wait()
    running.cancel()
    await asyncio.sleep(0)
    assert recorded.batches == []
    bus.may_answer.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [len(each.changes) for each in recorded.batches] == ([] if fails else [1])
