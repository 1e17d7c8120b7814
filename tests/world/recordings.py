"""The recordings of a world: the service's own recorder, in turns of its ingest, and disks that fail."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from quotecast.bus.base import Batch, Snapshot
from quotecast.history.recorder import FLUSH_SECONDS, FeedRecorder, SegmentRecorder
from quotecast.market.feeds import Feed
from world.clock import PROCESS, wall_time
from world.faults import DISK_KINDS, Fault

#: How many worlds record their feeds, and in how many of those a disk fails.
_RECORDED: Final = 0.25
_FAILING: Final = 0.8
#: How often the ingest starts again while its disk fails.
_STARTS_AGAIN: Final = 0.3


def is_recorded(seed: int) -> bool:
    """Draws whether the ingests of a world record."""
    return random.Random(f"recordings of {seed}").random() < _RECORDED


def draw_faults(seed: int, workers: int, first: float, last: float) -> list[Fault]:
    """Returns faults of disks between two seconds of a world that records.

    They have a generator of their own, so all that is drawn beside them stays.
    """
    chance = random.Random(f"disks of {seed}")
    faults: list[Fault] = []
    if not is_recorded(seed) or chance.random() > _FAILING:
        return faults
    ingests = ["ingest-1", "ingest-2"]
    for _ in range(chance.randint(1, 3)):
        kind = chance.choice(DISK_KINDS)
        at = chance.uniform(first, last)
        seconds = chance.choice((0.3, 1.5, 4.0, 8.0)) * chance.uniform(0.8, 1.2)
        readers = [f"worker-{number + 1}" for number in range(workers)] if kind == "broken disk" else []
        target = chance.choice([*ingests, *ingests, *readers])
        if kind == "full disk":
            detail = f"{chance.choice((0, 100, 1000, 10_000))} bytes left"
        else:
            detail = chance.choice(("each call", "every other call"))
        faults.append(Fault(kind, at, seconds, target, detail=detail))
        if target in ingests and chance.random() < _STARTS_AGAIN:
            faults.append(Fault("kill", at + seconds * chance.random(), 0.3, target))
    return faults


class Given(NamedTuple):
    """What an ingest gave its recorder: a batch, or the state that begins an epoch, and the Unix time."""

    epoch: str
    seq: int
    is_batch: bool
    at: float


class NotedRecorder(FeedRecorder):
    """One feed's side of a recorder, which remembers all that it was given."""

    def __init__(self, recorder: SegmentRecorder, feed: Feed, clock: Callable[[], float]) -> None:
        super().__init__(recorder, feed, clock)
        self.given: list[Given] = []

    def begin(self, snapshot: Snapshot) -> None:
        """See FeedRecorder."""
        self.given.append(Given(snapshot.epoch, snapshot.seq, False, wall_time()))
        super().begin(snapshot)

    def add(self, batch: Batch, state: Callable[[], Snapshot]) -> None:
        """See FeedRecorder."""
        self.given.append(Given(batch.epoch, batch.seq, True, wall_time()))
        super().add(batch, state)


class TurnRecorder(SegmentRecorder):
    """A recorder without a thread: threads have no order that a seed could draw."""

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, **options)
        self.host: str = PROCESS.get().host.name
        self.noted = {feed: NotedRecorder(self, feed, self._clock) for feed in Feed}
        self.feeds = {**self.noted}

    @property
    def token(self) -> str:
        """The end of the names of its segments."""
        return self._token

    def held(self, feed: Feed) -> int:
        """Returns how many batches of a feed wait for the disk; those of a killed ingest are lost."""
        side = self.noted[feed]
        return sum(item[0] is side and isinstance(item[2], Batch) for item, _ in self._queue)

    def start(self) -> None:
        """Writes once a second from now on."""
        self._turns = asyncio.get_running_loop().create_task(self._take_turns())

    def stop(self) -> None:
        """Writes what waits, and finishes the segments."""
        self._turns.cancel()
        self._stopping = True
        self._run()

    async def _take_turns(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            self.write_waiting()
