"""The recorder: writes what ingest publishes to segments, in a thread of its own.

Quotes never wait for it. Its queue is bounded: when the disk is full or slow, the recorder loses batches,
counts them, and continues with the next keyframe.
"""

import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import structs

from quotecast.bus.base import Batch, Beat, FeedInfo, Snapshot
from quotecast.bus.wire import encode
from quotecast.history.segments import Manifest, SegmentWriter, slot_of
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog

#: Seconds between two blocks: a kill loses at most as much.
FLUSH_SECONDS: Final = 1.0
#: Updates after which a group ends: a reader decodes at most as many to open a moment.
GROUP_UPDATES: Final = 25_000
#: Changes that may wait for the thread: some 20 MB.
MAX_WAITING: Final = 50_000
#: Seconds between two beats in a segment, and between two tries to write after a failure.
BEAT_SECONDS: Final = 10.0
RETRY_SECONDS: Final = 5.0
STOP_SECONDS: Final = 10.0


class FeedRecorder:
    """One feed's side of the recorder, in the event loop: it decides which batch a keyframe follows.

    `clock` is Unix time.
    """

    def __init__(self, recorder: "SegmentRecorder", feed: Feed, clock: Callable[[], float]) -> None:
        self.feed = feed
        #: Batches that found no place in the queue, and batches that the thread could not write.
        self._dropped = self._unwritten = 0
        self._recorder = recorder
        self._clock = clock
        self._newest = 0.0
        self._since_keyframe = GROUP_UPDATES
        self._slot = 0
        self._lost_in_a_row = 0
        self._retry_at = 0.0
        self._beat_at = 0.0
        self._info: FeedInfo | None = None
        #: Set by the thread when it cannot write: all that follows up to the next keyframe is lost.
        self.failed = False
        #: Batches that the thread lost since the last keyframe that it began.
        self.unmarked = 0
        self.outage = OutageLog()

    @property
    def lost(self) -> int:
        """The number of batches that were published and not recorded."""
        return self._dropped + self._unwritten

    def begin(self, snapshot: Snapshot) -> None:
        """Records a new epoch."""
        self._keyframe(snapshot)

    def add(self, batch: Batch, state: Callable[[], Snapshot]) -> None:
        """Records a published batch; `state` returns the feed's state after it, for a keyframe."""
        if self.failed or self._lost_in_a_row:
            self._lose()
            self._recover(state)
            return
        count = len(batch.changes) + len(batch.removed)
        if not self._recorder.put((self, self._now(), batch, 0), count):
            self._lose()
            return
        self._since_keyframe += count
        if self._since_keyframe >= GROUP_UPDATES or slot_of(self._now()) != self._slot:
            self._keyframe(_without_old_closings(state()))

    def beat(self, beat: Beat, state: Callable[[], Snapshot]) -> None:
        """Records that the feed was alive, every ten seconds and whenever its state changes."""
        now = self._now()
        if self.failed or self._lost_in_a_row:
            self._recover(state)
        elif slot_of(now) != self._slot:
            self._keyframe(_without_old_closings(state()))
        info = structs.replace(beat.info, last_update=None)
        if now >= self._beat_at or info != self._info:
            self._beat_at, self._info = now + BEAT_SECONDS, info
            self._recorder.put((self, now, beat, 0), 1)

    def note_unwritten(self, batches: int) -> None:
        """Counts batches that could not be written; called in the thread."""
        self._unwritten += batches
        self.unmarked += batches

    def _now(self) -> float:
        """Returns Unix time that never goes back, as names and times of segments need."""
        self._newest = max(self._newest, self._clock())
        return self._newest

    def _keyframe(self, snapshot: Snapshot) -> None:
        # What the thread could not write, it adds to the batches that found no place.
        now, lost = self._now(), self._lost_in_a_row
        self.failed = False
        if not self._recorder.put((self, now, snapshot, lost), len(snapshot.entries)):
            self._lost_in_a_row = max(1, self._lost_in_a_row)
            return
        self._since_keyframe, self._lost_in_a_row, self._slot = 0, 0, slot_of(now)

    def _lose(self) -> None:
        self._dropped += 1
        self._lost_in_a_row += 1

    def _recover(self, state: Callable[[], Snapshot]) -> None:
        if self._now() >= self._retry_at:
            self._retry_at = self._now() + RETRY_SECONDS
            self._keyframe(state())


def _without_old_closings(snapshot: Snapshot) -> Snapshot:
    """Returns the snapshot with its newest closing alone: the segments have the others.

    An hour of closings in each keyframe would almost double the recorded bytes.
    """
    return structs.replace(snapshot, closings=snapshot.closings[-1:])


#: The feed, Unix time, the message, and the batches that were lost before it.
_Item = tuple[FeedRecorder, float, Batch | Beat | Snapshot, int]


class SegmentRecorder:
    """The thread that writes segments below `folder`; `finished` gets the manifest of each finished one."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.time,
        finished: Callable[[Manifest], None] = lambda _: None,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._finished = finished
        self._max_waiting = max_waiting
        self._queue: deque[tuple[_Item, int]] = deque()
        #: Weights of queued and of taken messages; the event loop writes the one, the thread the other.
        self._queued = self._taken = 0
        self._token = secrets.token_hex(4)
        self._writers: dict[FeedRecorder, SegmentWriter] = {}
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self.feeds = {feed: FeedRecorder(self, feed, clock) for feed in Feed}
        #: Finished segments and written bytes by feed.
        self.segments: Counter[Feed] = Counter()
        self.bytes: Counter[Feed] = Counter()
        #: Unix time of the newest record on the disk, by feed.
        self.written_to: dict[Feed, float] = {}

    @property
    def waiting(self) -> int:
        """The number of changes that wait for the thread."""
        return self._queued - self._taken

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Writes what waits, and ends the thread; gives up on a disk that hangs."""
        self._stopping = True
        self._wake.set()
        self._thread.join(STOP_SECONDS)

    def put(self, item: _Item, weight: int) -> bool:
        """Queues a message; returns False if the queue is full. An empty queue takes any message."""
        if self.waiting and self.waiting + weight > self._max_waiting:
            return False
        self._queued += weight
        self._queue.append((item, weight))
        return True

    def write_waiting(self) -> None:
        """Writes all queued messages, a block for each feed; the thread calls it once a second."""
        while self._queue:
            item, weight = self._queue.popleft()
            self._taken += weight
            self._attempt(item[0], self._write, *item)
        for feed in [*self._writers]:
            self._attempt(feed, self._flush, feed)

    def _run(self) -> None:
        while not self._stopping:
            self._wake.wait(FLUSH_SECONDS)
            self.write_waiting()
        self.write_waiting()
        for feed in [*self._writers]:
            self._attempt(feed, self._finish, feed)

    def _attempt(self, feed: FeedRecorder, step: Callable[..., None], *arguments: object) -> None:
        """Runs a step; after a failure the feed waits for its next keyframe, in a new segment."""
        try:
            step(*arguments)
        except Exception as error:  # noqa: BLE001 - whatever fails, the thread records on in a new segment
            feed.outage.log_failure("history is not recorded", feed=feed.feed, error=str(error))
            feed.failed = True
            if writer := self._writers.pop(feed, None):
                feed.unmarked += writer.lost_waiting
                feed.note_unwritten(writer.waiting)
                writer.abandon()
            # A keyframe alone may have failed: the state since then is unknown, too.
            feed.unmarked = max(1, feed.unmarked)

    def _write(self, feed: FeedRecorder, at: float, message: Batch | Beat | Snapshot, lost: int) -> None:
        writer = self._writers.get(feed)
        match message:
            case Snapshot():
                feed.unmarked += lost
                keyframe = encode(message)
                if writer is None or (writer.slot, writer.epoch) != (slot_of(at), message.epoch):
                    self._finish(feed)
                    folder = self._folder / feed.feed
                    writer = SegmentWriter(folder, feed.feed, at, message.epoch, self._token)
                    self._writers[feed] = writer
                self._flush(feed)
                # The writer has the number from here on: its flush of a large keyframe may fail.
                marked, feed.unmarked = feed.unmarked, 0
                writer.add_keyframe(at, keyframe, message.seq, lost=marked)
            case Batch() if writer:
                count = len(message.changes) + len(message.removed)
                writer.add_batch(at, encode(message), message.seq, count)
            case Batch():
                feed.note_unwritten(1)
            case Beat() if writer:
                writer.add_beat(at, encode(message))

    def _flush(self, feed: FeedRecorder) -> None:
        writer = self._writers[feed]
        before = writer.size
        writer.flush()
        if writer.size > before:
            feed.outage.log_end("history is recorded again", feed=feed.feed)
        self.bytes[feed.feed] += writer.size - before
        self.written_to[feed.feed] = writer.last

    def _finish(self, feed: FeedRecorder) -> None:
        if feed not in self._writers:
            return
        self._flush(feed)
        manifest = self._writers.pop(feed).finish()
        self.segments[feed.feed] += 1
        self._finished(manifest)
