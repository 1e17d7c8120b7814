"""A disk that is full or fails: the log says so, gaps are marked, and readers get a reason."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from quotecast.history import recorder as recorders
from quotecast.history import segments
from quotecast.history.folder import Folder
from quotecast.history.playback import NotRecorded, Playback
from quotecast.history.segments import SUFFIX, HistoryError, SegmentWriter
from quotecast.ingest import recording
from quotecast.market.feeds import Feed
from quotecast.settings.model import Settings
from support.made.history import BEGIN, RecordedLeader
from support.made.market import stock


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Returns a function that lets calls of the operating system fail from now on, or work again."""
    real = {name: getattr(os, name) for name in ("write", "open", "unlink", "fsync")}

    def fail(*names: str) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        for name, call in real.items():
            monkeypatch.setattr(os, name, refuse if name in names else call)

    return fail


def publish(leader: RecordedLeader, *prices: float) -> None:
    for price in prices:
        leader.clock.now += 1
        leader.publish([stock("AAPL", price)])


def shown(logs: list[Any]) -> list[str]:
    return [each["event"] for each in logs if each["log_level"] != "debug"]


def test_history_is_recorded_again_once_a_block_is_on_the_disk(
    tmp_path: Path, disk: Callable[..., None]
) -> None:
    """The log says so then, not while batches are still being lost."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    leader.write()
    with capture_logs() as logs:
        disk("write")
        for price in (2.0, 3.0, 4.0):
            publish(leader, price)
            leader.write()
        assert shown(logs) == ["history is not recorded"]
        disk()
        leader.clock.now += recorders.RETRY_SECONDS
        publish(leader, 5.0)
        assert shown(logs) == ["history is not recorded"]
        leader.write()
    assert shown(logs)[1:] == ["history is recorded again"]


@pytest.mark.parametrize("most", [segments.MAX_WAITING_BYTES, 1])
def test_the_manifest_after_an_outage_has_every_lost_batch(
    tmp_path: Path, disk: Callable[..., None], monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Once: those that waited for the disk, and those of each try in vain, of a large keyframe too."""
    monkeypatch.setattr(segments, "MAX_WAITING_BYTES", most)
    manifests: list[Any] = []
    leader = RecordedLeader(tmp_path, finished=manifests.append)
    leader.begin("e0", [stock("AAPL", 1.0)])
    leader.write()
    disk("write")
    for number in range(12):
        publish(leader, 2.0 + number)
        leader.write()
    disk()
    leader.clock.now += recorders.RETRY_SECONDS
    publish(leader, 20.0)
    leader.stop()
    assert [each.lost for each in manifests] == [leader.recorder.feeds[Feed.STOCKS].lost] == [13]


def test_an_epoch_after_one_that_was_not_recorded_marks_the_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both began between two writes, and the disk took the second one."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    leader.write()
    for epoch in ("e1", "e2"):
        leader.clock.now += 2
        leader.begin(epoch, [stock("AAPL", 2.0)])
    working = os.open

    def fail_once(*_: object) -> int:
        monkeypatch.setattr(os, "open", working)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "open", fail_once)
    leader.write()
    with pytest.raises(NotRecorded):
        Playback(Folder(tmp_path), Feed.STOCKS, BEGIN + 3, clock=leader.clock)
    Playback(Folder(tmp_path), Feed.STOCKS, BEGIN + 4, clock=leader.clock).close()


def test_an_empty_segment_hides_no_gap(tmp_path: Path, disk: Callable[..., None]) -> None:
    """A disk that failed for good took no block of it, and did not delete it."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    leader.write()
    disk("write", "unlink")
    publish(leader, 2.0)
    leader.write()
    publish(leader, 3.0)
    leader.write()
    disk()
    leader.clock.now += recorders.RETRY_SECONDS
    publish(leader, 4.0)
    leader.write()
    sizes = [path.stat().st_size > 0 for path in sorted(tmp_path.glob(f"stocks/*{SUFFIX}"))]
    assert sizes == [True, False, True]
    with pytest.raises(NotRecorded):
        Playback(Folder(tmp_path), Feed.STOCKS, BEGIN + 1.5, clock=leader.clock)


def test_a_segment_that_is_not_synced_is_closed(
    tmp_path: Path, disk: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each such failure would cost the ingest a descriptor."""
    closed: list[int] = []
    close = os.close

    def note(file: int) -> None:
        closed.append(file)
        close(file)

    writer = SegmentWriter(tmp_path, Feed.STOCKS, BEGIN, "e0", "0" * 8)
    disk("fsync")
    monkeypatch.setattr(os, "close", note)
    with pytest.raises(OSError, match="No space"):
        writer.finish()
    assert len(closed) == 1


class Unreadable:
    """An open file on a disk that fails; `good` reads of it succeed first."""

    def __init__(self, file: Any, good: int) -> None:
        self._file = file
        self._good = good

    def read(self, *size: int) -> bytes:
        self._good -= 1
        if self._good < 0:
            raise OSError(errno.EIO, "Input/output error")
        data: bytes = self._file.read(*size)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@pytest.mark.parametrize("good", [0, 1, 2, 3])
def test_a_disk_that_does_not_read_is_an_error_of_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: int
) -> None:
    """Whoever replays gets a reason, at the beginning or in the middle."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    publish(leader, 2.0)
    leader.write()
    opened = Folder.open
    monkeypatch.setattr(Folder, "open", lambda *names: Unreadable(opened(*names), good))
    with pytest.raises(HistoryError, match="Input/output error"):
        Playback(Folder(tmp_path), Feed.STOCKS, BEGIN, clock=leader.clock).read(BEGIN + 10)


async def test_an_ingest_starts_without_its_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot list what is past its retention; quotes do not need that."""

    def fail(*_: object) -> None:
        raise HistoryError("the folder of segments cannot be read: Input/output error")

    monkeypatch.setattr(recording, "delete_expired", fail)
    settings = Settings(history="1h", history_store=str(tmp_path))
    with capture_logs() as logs:
        async with recording.recording(settings) as recorder:
            assert recorder is not None
    assert shown(logs) == ["expired segments are not deleted"]
