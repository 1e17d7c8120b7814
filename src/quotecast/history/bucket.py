"""The segments in an S3-compatible bucket: finished ones, each an object beside its manifest.

A thread of its own uploads them, so recording does not wait. The client is `obstore`, an extra. Its
credentials, region and endpoint are the usual variables `AWS_*`.
"""

import contextlib
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Final

from quotecast.history.folder import Folder
from quotecast.history.segments import (
    MANIFEST_SUFFIX,
    SEGMENT_SECONDS,
    SUFFIX,
    HistoryError,
    Manifest,
    Store,
    begin_of,
    decode_manifest,
    names_among,
    path_of,
)
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog

SCHEME: Final = "s3://"
EXTRA: Final = "history-s3"
#: Seconds for one request, and for one with all its retries.
REQUEST_SECONDS: Final = 10
RETRY_SECONDS: Final = 20
#: Seconds for which a list of names holds.
NAMES_SECONDS: Final = 10.0
#: Downloaded segments that stay on the disk.
CACHED_SEGMENTS: Final = 16
#: Seconds between two looks for finished segments.
LOOK_SECONDS: Final = 10.0
#: Seconds after its upload for which a segment stays in the folder: readers' lists of the bucket may be old.
GRACE_SECONDS: Final = 120.0
STOP_SECONDS: Final = 10.0


class Bucket:
    """Reads, uploads and deletes segments below `s3://bucket/prefix`.

    It downloads a segment at its first use. Every method may raise HistoryError.
    """

    def __init__(self, url: str) -> None:
        try:
            from obstore.store import S3Store  # noqa: PLC0415 - an extra
        except ImportError:
            raise HistoryError(f"{SCHEME} needs the extra: pip install 'quotecast[{EXTRA}]'") from None
        with _explained("cannot be used"):
            self._store = S3Store.from_url(
                url,
                # Plain HTTP only where the operator's AWS_ENDPOINT says so.
                client_options={"timeout": timedelta(seconds=REQUEST_SECONDS), "allow_http": True},
                retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
            )
        self._names: dict[Feed, tuple[float, list[str]]] = {}
        self._cache = Path(tempfile.mkdtemp(prefix="quotecast-segments-"))
        weakref.finalize(self, shutil.rmtree, self._cache, ignore_errors=True)
        self._downloads = threading.Lock()

    def names(self, feed: Feed) -> list[str]:
        """Returns the names of a feed's segments, in the order of time; at most ten seconds old."""
        listed_at, names = self._names.get(feed, (float("-inf"), []))
        if time.monotonic() - listed_at > NAMES_SECONDS:
            with _explained("cannot be listed"):
                keys = [Path(each["path"]).name for page in self._store.list(f"{feed}/") for each in page]
            names = names_among(keys)
            self._names[feed] = time.monotonic(), names
        return names

    def open(self, feed: Feed, name: str) -> BinaryIO:
        """Opens a segment, downloaded at most once while it is among the last ones used."""
        path = self._cache / f"{feed}-{name}"
        with self._downloads:
            if not path.exists():
                part = path.with_suffix(".part")
                with _explained("cannot be read"), part.open("wb") as file:
                    for chunk in self._store.get(path_of(feed, name, SUFFIX)).stream():
                        file.write(chunk)
                part.rename(path)
                used = sorted(self._cache.iterdir(), key=lambda old: old.stat().st_mtime)
                for old in used[:-CACHED_SEGMENTS]:
                    old.unlink()
            os.utime(path)
            return path.open("rb")

    def manifest(self, feed: Feed, name: str) -> Manifest | None:
        """Returns the manifest of a segment; None without one."""
        try:
            with _explained("cannot be read"):
                return decode_manifest(bytes(self._store.get(path_of(feed, name, MANIFEST_SUFFIX)).bytes()))
        except HistoryError:
            return None

    def upload(self, feed: Feed, name: str, folder: Folder) -> None:
        """Uploads a segment, and its manifest last."""
        for suffix in (SUFFIX, MANIFEST_SUFFIX):
            path = folder.path(feed, name, suffix)
            if path.exists():
                with _explained("cannot be written"):
                    self._store.put(path_of(feed, name, suffix), path)

    def delete(self, feed: Feed, name: str) -> None:
        """Deletes a segment and its manifest."""
        with _explained("cannot be written"):
            self._store.delete([path_of(feed, name, MANIFEST_SUFFIX), path_of(feed, name, SUFFIX)])
        self._names.pop(feed, None)


class Joined:
    """The segments of a folder, which has the newest ones, and of a bucket."""

    def __init__(self, folder: Folder, bucket: Bucket) -> None:
        self._folder = folder
        self._bucket = bucket

    def names(self, feed: Feed) -> list[str]:
        """Returns the names of a feed's segments in either, in the order of time."""
        return sorted({*self._folder.names(feed), *self._bucket.names(feed)})

    def open(self, feed: Feed, name: str) -> BinaryIO:
        """Opens a segment."""
        try:
            return self._folder.open(feed, name)
        except HistoryError:
            return self._bucket.open(feed, name)

    def manifest(self, feed: Feed, name: str) -> Manifest | None:
        """Returns the manifest of a finished segment."""
        return self._folder.manifest(feed, name) or self._bucket.manifest(feed, name)


@contextlib.contextmanager
def _explained(problem: str) -> Iterator[None]:
    """Turns failures of the client to HistoryError, without the address, which may hold a secret."""
    try:
        yield
    except HistoryError:
        raise
    except Exception as error:
        raise HistoryError(f"the bucket of segments {problem}: {type(error).__name__}") from error


class Uploader:
    """Moves finished segments from the folder to the bucket, and deletes expired ones there.

    A segment that a crash ended has no manifest; it is uploaded when no writer can have it open any more.
    """

    def __init__(
        self, folder: Folder, bucket: Bucket, keep_seconds: float, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder = folder
        self._bucket = bucket
        self._keep_seconds = keep_seconds
        self._clock = clock
        #: The times of uploads, of segments that are in both.
        self._uploaded: dict[tuple[Feed, str], float] = {}
        self._stop = threading.Event()
        self._outage = OutageLog()
        self._thread = threading.Thread(target=self._run, name="uploader", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread after a last look, for which it has ten seconds."""
        self._stop.set()
        self._thread.join(STOP_SECONDS)

    def look(self) -> None:
        """Uploads what is finished, and deletes what is expired. Raises HistoryError."""
        for feed in Feed:
            for name in self._folder.names(feed):
                if (feed, name) in self._uploaded:
                    if self._clock() - self._uploaded[feed, name] > GRACE_SECONDS:
                        self._folder.delete(feed, name)
                        del self._uploaded[feed, name]
                elif self._is_finished(feed, name):
                    self._bucket.upload(feed, name, self._folder)
                    self._uploaded[feed, name] = self._clock()
        delete_expired(self._bucket, self._clock() - self._keep_seconds)

    def _run(self) -> None:
        while True:
            stopping = self._stop.wait(LOOK_SECONDS)
            try:
                self.look()
                self._outage.log_end("segments are uploaded again")
            except HistoryError as error:
                self._outage.log_failure("segments are not uploaded", error=str(error))
            if stopping:
                return

    def _is_finished(self, feed: Feed, name: str) -> bool:
        abandoned = begin_of(name) + 2 * SEGMENT_SECONDS < self._clock()
        return abandoned or self._folder.manifest(feed, name) is not None


def open_store(location: str, folder: Path) -> Store:
    """Returns the segments at a location, a folder or `s3://bucket/prefix`; `folder` has the newest ones.

    Raises HistoryError if a bucket's client is not installed.
    """
    return Joined(Folder(folder), Bucket(location)) if location.startswith(SCHEME) else Folder(folder)


def delete_expired(store: Folder | Bucket, before: float) -> None:
    """Deletes segments that another one follows before that Unix time."""
    expired = [
        (feed, name)
        for feed in Feed
        for name, following in pairwise(store.names(feed))
        if begin_of(following) <= before
    ]
    for feed, name in expired:
        store.delete(feed, name)
