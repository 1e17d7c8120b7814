"""A leader whose batches are recorded, on a clock that only the test moves."""

from collections.abc import Callable, Iterable
from pathlib import Path

from quotecast.bus.base import Batch, Beat, Snapshot
from quotecast.history.folder import Folder
from quotecast.history.playback import Playback, Played
from quotecast.history.recorder import SegmentRecorder
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from support.made.market import INFO

#: Friday, 20 November 2026, 14:30 UTC: the beginning of ten minutes.
BEGIN = 1_795_185_000.0


class Clock:
    """Unix time, for the test to move."""

    def __init__(self, now: float = BEGIN) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class RecordedLeader:
    """The leader of one feed: `publish` records what it would publish; `published` holds all of it."""

    def __init__(
        self,
        folder: Path,
        feed: Feed = Feed.STOCKS,
        clock: Clock | None = None,
        max_waiting: int = 50_000,
        finished: Callable[[object], None] = lambda _: None,
    ) -> None:
        self.clock = clock or Clock()
        self.recorder = SegmentRecorder(folder, clock=self.clock, max_waiting=max_waiting, finished=finished)
        self.feed = feed
        self.published: list[Played] = []
        self.ledger = Ledger(feed)

    def begin(self, epoch: str, quotes: Iterable[Quote]) -> Snapshot:
        self.ledger.take(Update(list(quotes), complete=True), self.clock.now)
        snapshot = self.ledger.begin(epoch, INFO)
        # The ledger continues to fill its own entries.
        self.published.append(self.ledger.snapshot(INFO))
        self.recorder.feeds[self.feed].begin(self.ledger.snapshot(INFO))
        return snapshot

    def publish(self, quotes: Iterable[Quote] = (), removed: Iterable[str] = ()) -> Batch | None:
        """Publishes the changes, if there are any."""
        self.ledger.take(Update(list(quotes), list(removed)), self.clock.now)
        if not self.ledger.waiting:
            return None
        batch, _, _ = self.ledger.next_batch(self.clock.now)
        self.published.append(batch)
        self.recorder.feeds[self.feed].add(batch, self.state)
        return batch

    def beat(self) -> None:
        beat = Beat(feed=self.feed, epoch=self.ledger.epoch, seq=self.ledger.seq, info=INFO)
        self.recorder.feeds[self.feed].beat(beat, self.state)

    def state(self) -> Snapshot:
        return self.ledger.snapshot(INFO)

    def write(self) -> None:
        self.recorder.write_waiting()

    def stop(self) -> None:
        """Finishes the open segments, as the thread does at its end."""
        self.recorder.start()
        self.recorder.stop()


def all_played(folder: Path, feed: Feed, at: float, now: float) -> list[Played]:
    """Returns everything from the keyframe before `at` on."""
    playback = Playback(Folder(folder), feed, at, clock=lambda: now)
    played = []
    while messages := playback.read(float("inf")):
        played += [message for _, message in messages]
    playback.close()
    return played


def batches(messages: Iterable[Played]) -> list[Batch]:
    return [message for message in messages if isinstance(message, Batch)]
