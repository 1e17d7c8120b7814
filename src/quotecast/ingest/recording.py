"""The recorder of this ingest, made from the settings, and its metrics."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator, Mapping

from prometheus_client import Metric

from quotecast.history.bucket import Bucket, Uploader, delete_expired
from quotecast.history.folder import Folder
from quotecast.history.recorder import SegmentRecorder
from quotecast.history.segments import HistoryError
from quotecast.market.feeds import Feed
from quotecast.observe.metrics import counter, gauge
from quotecast.observe.outages import OutageLog
from quotecast.settings.model import Settings, history_bucket, history_folder, history_seconds


@contextlib.asynccontextmanager
async def recording(settings: Settings) -> AsyncIterator[SegmentRecorder | None]:
    """Gives a running recorder that deletes what is past its retention; None if history is off."""
    seconds, path = history_seconds(settings), history_folder(settings)
    if not seconds:
        yield None
        return

    outage = OutageLog()

    def expire(_: object = None) -> None:
        # Quotes do not need the disk, and a recorder that cannot delete still records.
        try:
            delete_expired(Folder(path), time.time() - seconds)
        except HistoryError as error:
            outage.log_failure("expired segments are not deleted", error=str(error))
        else:
            outage.log_end("expired segments are deleted again")

    await asyncio.to_thread(expire)
    recorder = SegmentRecorder(path, finished=expire)
    bucket = history_bucket(settings)
    threads: list[SegmentRecorder | Uploader] = [recorder]
    if bucket:
        threads.append(Uploader(Folder(path), Bucket(bucket), seconds))
    for thread in threads:
        thread.start()
    try:
        yield recorder
    finally:
        for thread in threads:
            await asyncio.to_thread(thread.stop)


def families(recorder: SegmentRecorder | None) -> Iterator[Metric]:
    """Yields the metrics of a recorder; none without one."""
    if recorder is None:
        return
    used = [feed for feed in Feed if feed in recorder.written_to]
    lost = {(feed,): recorder.feeds[feed].lost for feed in Feed}
    lags = {(feed,): max(0.0, time.time() - recorder.written_to[feed]) for feed in used}
    yield counter("history_segments", "Segments finished.", _by_feed(recorder.segments), ["feed"])
    yield counter("history_bytes", "Bytes written to segments.", _by_feed(recorder.bytes), ["feed"])
    yield counter("history_lost_batches", "Batches published and not recorded.", lost, ["feed"])
    yield gauge("history_lag_seconds", "Age of the newest record on the disk.", lags, ["feed"])
    yield gauge("history_waiting", "Changes that wait for the recorder.", recorder.waiting)


def _by_feed(counts: Mapping[Feed, int]) -> dict[tuple[str], int]:
    return {(feed,): counts.get(feed, 0) for feed in Feed}
