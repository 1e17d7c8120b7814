"""Segments: files with at most ten minutes of one feed and epoch, and what their names and manifests say.

`<feed>/20261120T143000.012Z-1f0c9ae2.segment` begins with a keyframe at that time. The token belongs to one
ingest, so two of them never write one file. A finished segment has a manifest beside it. A block is whole on
the disk, or cut off again.
"""

import contextlib
import os
import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import msgspec
from msgspec import Struct

from quotecast.errors import QuotecastError
from quotecast.history.blocks import GroupEncoder, Kind
from quotecast.market.feeds import Feed

SEGMENT_SECONDS: Final = 600
SUFFIX: Final = ".segment"
MANIFEST_SUFFIX: Final = ".json"
_NAME: Final = re.compile(r"\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{8}")
_TIME: Final = "%Y%m%dT%H%M%S.%f"
#: Seconds after which written blocks survive a loss of power. A kill loses only what waits for a block.
SYNC_SECONDS: Final = 10.0
#: A block is written before its records have more bytes than this.
MAX_WAITING_BYTES: Final = 8 << 20


class HistoryError(QuotecastError):
    """The recorded past cannot be read or written."""

    status = 503
    code = "history"
    cause = "the recorded past cannot be read now"
    remedy = "try again later"


class Manifest(Struct, frozen=True, kw_only=True):
    """The contents of a finished segment."""

    feed: Feed
    segment: str
    #: Unix times of the first and the last record.
    first: float
    last: float
    epoch: str
    first_seq: int
    last_seq: int
    keyframes: int
    updates: int
    size: int
    #: Batches that the recorder lost just before a keyframe of this segment.
    lost: int = 0


class Store(Protocol):
    """Segments in a folder, or in a bucket too. Reading raises HistoryError."""

    def names(self, feed: Feed) -> list[str]:
        """Returns the names of a feed's segments, in the order of time."""
        ...

    def open(self, feed: Feed, name: str) -> BinaryIO:
        """Opens a segment."""
        ...

    def manifest(self, feed: Feed, name: str) -> Manifest | None:
        """Returns the manifest of a finished segment; None without one."""
        ...


_decoder: Final = msgspec.json.Decoder(Manifest)


def segment_name(first: float, token: str) -> str:
    """Returns the name of a segment, without suffix: names sort by time."""
    return f"{datetime.fromtimestamp(first, UTC):{_TIME}}"[:-3] + f"Z-{token}"


def names_among(files: Iterable[str]) -> list[str]:
    """Returns the names of segments among names of files, in the order of time."""
    names = (file.removesuffix(SUFFIX) for file in files if file.endswith(SUFFIX))
    return sorted(name for name in names if _NAME.fullmatch(name))


def path_of(feed: Feed, name: str, suffix: str) -> str:
    """Returns the path of a file of a segment in its store. Raises HistoryError for another name."""
    if not _NAME.fullmatch(name):
        raise HistoryError("not a segment name")
    return f"{feed}/{name}{suffix}"


def begin_of(name: str) -> float:
    """Returns the Unix time at which a segment begins, in whole milliseconds."""
    return datetime.strptime(name.partition("Z")[0], _TIME).replace(tzinfo=UTC).timestamp()


def slot_of(time: float) -> int:
    """Returns the number of the ten minutes that a time belongs to; a segment has records of one."""
    return int(time // SEGMENT_SECONDS)


def decode_manifest(data: bytes) -> Manifest | None:
    """Returns a manifest; None for data that no known version wrote."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None


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
        #: Lost batches that the waiting keyframe reports.
        self.lost_waiting = 0
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
        self.lost_waiting = lost
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
        data, written = self._group.take_block(self._kind), 0
        try:
            while written < len(data):
                written += os.write(self._file, memoryview(data)[written:])
        except OSError:
            # A full disk took a part of the block.
            os.ftruncate(self._file, self.size)
            raise
        self.size += len(data)
        self._kind = Kind.CHANGES
        self.waiting = self.lost_waiting = 0
        if time.monotonic() - self._synced_at >= SYNC_SECONDS:
            os.fsync(self._file)
            self._synced_at = time.monotonic()

    def finish(self) -> Manifest:
        """Writes what waits and the manifest, and closes the file."""
        self.flush()
        try:
            os.fsync(self._file)
        finally:
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
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _add(self, at: float, message: bytes, updates: int) -> None:
        self.last = max(self.last, at)
        self._group.add(self.last, message, updates)
        self._updates += updates
        if self._group.raw_length > MAX_WAITING_BYTES:
            self.flush()
