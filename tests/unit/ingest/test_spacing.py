"""Spacing of batches on the bus."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from itertools import pairwise

import pytest

from quotecast.bus.base import NO_PARTS, Batch, StoredQuote
from quotecast.ingest.publish import FeedPublisher, Spacing
from quotecast.market.crossings import Crossing
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Parts
from quotecast.providers.base import Update
from support.made.market import stock
from support.made.memory_bus import MemoryBus
from support.runs import virtual_time
from support.stages.following import ScriptedProvider

MS = 0.001


def delays(spacing: Spacing, gap: float, publishing: float = 0.0) -> Iterator[float]:
    """Yields the delay of each batch, when a change waits `gap` after the last publication ended."""
    now = 0.0
    while True:
        delay = spacing.next_delay(now)
        yield round(delay, 6)
        began = now + delay
        spacing.note_batch(began, began + publishing)
        now = began + publishing + gap


def first(count: int, values: Iterator[float]) -> list[float]:
    return [next(values) for _ in range(count)]


def test_spacing_doubles_up_to_its_bound_while_changes_keep_coming() -> None:
    """The first change goes out at once, and each further batch waits longer."""
    assert first(7, delays(Spacing(20 * MS), gap=0)) == [0, 2 * MS, 4 * MS, 8 * MS, 16 * MS, 20 * MS, 20 * MS]


def test_a_change_after_a_quiet_period_goes_out_at_once() -> None:
    """A period is quiet if no change came within the spacing."""
    assert first(5, delays(Spacing(20 * MS), gap=2 * MS)) == [0] * 5
    spacing = Spacing(20 * MS)
    assert first(6, delays(spacing, gap=0))[-1] == 20 * MS
    spacing.note_batch(1.0, 1.0)
    assert spacing.next_delay(1.021) == 0
    spacing.note_batch(2.0, 2.0)
    assert round(spacing.next_delay(2.0), 6) == 2 * MS


def test_publication_is_part_of_the_spacing_and_no_quiet_period() -> None:
    """With a slow Redis the spacing grows too, and no change waits longer for that."""
    slow, slower = (delays(Spacing(20 * MS), gap=0, publishing=each * MS) for each in (3, 30))
    assert first(6, slow) == [0, 0, MS, 5 * MS, 0.013, 0.017]
    assert first(6, slower) == [0] * 6


@pytest.mark.parametrize("bound", [0.0, MS])
def test_a_bound_below_the_first_spacing_holds(bound: float) -> None:
    """Without a bound there is no spacing."""
    assert first(4, delays(Spacing(bound), gap=0)) == [0, bound, bound, bound]


class Noting(MemoryBus):
    """Notes the time and the size of each batch."""

    def __init__(self) -> None:
        self.batches: list[tuple[float, int]] = []
        super().__init__(self._now)

    async def publish(
        self,
        owner: str,
        batch: Batch,
        entries: Mapping[str, StoredQuote],
        parts: Mapping[str, Parts] = NO_PARTS,
        crossings: Sequence[Crossing] = (),
    ) -> bool:
        self.batches.append((round(self._now(), 6), len(batch.changes)))
        return await super().publish(owner, batch, entries, parts, crossings)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


class Ticking(ScriptedProvider):
    """Sends a change of another stock every millisecond for a while; the last one comes late."""

    async def updates(self) -> AsyncGenerator[Update, None]:
        for number in range(101):
            yield Update([stock(f"S{number}")])
            await asyncio.sleep(MS)
        await asyncio.sleep(0.4)
        yield Update([stock("LATE")])
        await asyncio.Event().wait()


async def publish(bus: Noting, spacing_seconds: float) -> None:
    await bus.hold(Feed.STOCKS, "me", 60_000)
    publisher = FeedPublisher(Ticking(), bus, "me", spacing_seconds=spacing_seconds)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.9):
            await publisher.run()


def test_ingest_merges_changes_that_keep_coming() -> None:
    """A change waits at most the bound; a late one does not wait, and no change is lost."""
    bus = Noting()
    virtual_time.run(publish(bus, 20 * MS))
    times = [at for at, _ in bus.batches]
    gaps = [round(later - at, 6) for at, later in pairwise(times)]
    assert gaps[:6] == [4 * MS, 8 * MS, 16 * MS, 20 * MS, 20 * MS, 20 * MS]
    assert bus.batches[-1] == (0.501, 1)
    # The first change begins the epoch and is in no batch.
    assert sum(size for _, size in bus.batches) == 101


def test_ingest_without_spacing_sends_each_change_at_once() -> None:
    """The setting 0 switches the merging off."""
    bus = Noting()
    virtual_time.run(publish(bus, 0.0))
    assert {size for _, size in bus.batches} == {1}
    assert len(bus.batches) == 101
