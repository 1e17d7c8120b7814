"""Uploads finished segments to a bucket, in a thread of its own: recording does not wait for it."""

import threading
import time
from collections.abc import Callable
from typing import Final

from quotecast.history.bucket import Bucket
from quotecast.history.folder import Folder
from quotecast.history.retention import delete_expired
from quotecast.history.segments import SEGMENT_SECONDS, HistoryError, begin_of
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog

#: Seconds between two looks for finished segments.
LOOK_SECONDS: Final = 10.0
#: Seconds after its upload for which a segment stays in the folder: readers' lists of the bucket may be old.
GRACE_SECONDS: Final = 120.0
STOP_SECONDS: Final = 10.0


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
