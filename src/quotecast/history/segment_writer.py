"""Writes one segment: blocks that are whole on the disk, or cut off again."""

import contextlib
import os
import time
from pathlib import Path
from typing import Final

import msgspec

from quotecast.history.blocks import GroupEncoder, Kind
from quotecast.history.segments import MANIFEST_SUFFIX, SUFFIX, Manifest, segment_name, slot_of
from quotecast.market.feeds import Feed

#: Seconds after which written blocks survive a loss of power. A kill loses only what waits for a block.
SYNC_SECONDS: Final = 10.0
#: A block is written before its records have more bytes than this.
MAX_WAITING_BYTES: Final = 8 << 20


class SegmentWriter:
    """The open segment of one feed and epoch. It begins with a keyframe; every method may raise OSError.

    Another epoch has a segment of its own: between the two another ingest may have led the feed.
    """

    def __init__(self, folder: Path, feed: Feed, first: float, epoch: str, token: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = segment_name(first, token)
        self.slot = slot_of(first)
        self.epoch = epoch
        #: Bytes written.
        self.size = 0
        #: Batches that wait for a block.
        self.waiting = 0
        self._feed = feed
        self._path = folder / f"{self.name}{SUFFIX}"
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._synced_at = time.monotonic()
        self._group = GroupEncoder()
        self._kind = Kind.KEYFRAME
        self._seqs = 0, 0
        #: Unix time of the newest record.
        self.last = first
        self._first = first
        self._keyframes = self._updates = self._lost = 0

    def add_keyframe(self, at: float, message: bytes, seq: int, *, lost: int) -> None:
        """Begins a group; `lost` counts the batches that are missing before it."""
        self.flush()
        self._group = GroupEncoder()
        self._kind = Kind.KEYFRAME_AFTER_LOSS if lost else Kind.KEYFRAME
        self._keyframes += 1
        self._lost += lost
        self._seqs = self._seqs[0] or seq, seq
        self._add(at, message, 0)

    def add_batch(self, at: float, message: bytes, seq: int, updates: int) -> None:
        """Adds a batch, with the number of its updates."""
        self._seqs = self._seqs[0] or seq, seq
        self.waiting += 1
        self._add(at, message, updates)

    def add_beat(self, at: float, message: bytes) -> None:
        """Adds a beat: it says that the feed was quiet, and how fresh."""
        self._add(at, message, 0)

    def flush(self) -> None:
        """Writes a block with all that was added, and syncs the file now and then."""
        if not self._group:
            return
        self._write(self._group.take_block(self._kind))
        self._kind = Kind.CHANGES
        self.waiting = 0
        if time.monotonic() - self._synced_at >= SYNC_SECONDS:
            os.fsync(self._file)
            self._synced_at = time.monotonic()

    def finish(self) -> Manifest:
        """Writes what waits and the manifest, and closes the file."""
        self.flush()
        os.fsync(self._file)
        os.close(self._file)
        manifest = Manifest(
            feed=self._feed,
            segment=self.name,
            first=self._first,
            last=self.last,
            epoch=self.epoch,
            first_seq=self._seqs[0],
            last_seq=self._seqs[1],
            keyframes=self._keyframes,
            updates=self._updates,
            size=self.size,
            lost=self._lost,
        )
        self._path.with_name(f"{self.name}{MANIFEST_SUFFIX}").write_bytes(msgspec.json.encode(manifest))
        return manifest

    def abandon(self) -> None:
        """Closes the file without what waits; removes it if it has no block."""
        with contextlib.suppress(OSError):
            os.close(self._file)
            if not self.size:
                self._path.unlink()

    def _add(self, at: float, message: bytes, updates: int) -> None:
        self.last = max(self.last, at)
        self._group.add(self.last, message, updates)
        self._updates += updates
        if self._group.raw_length > MAX_WAITING_BYTES:
            self.flush()

    def _write(self, data: bytes) -> None:
        """Appends a block; cuts off what a full disk took of it."""
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, memoryview(data)[written:])
        except OSError:
            os.ftruncate(self._file, self.size)
            raise
        self.size += len(data)
