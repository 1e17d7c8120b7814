"""The recorder never holds up quotes: what it cannot write it loses, counts, and marks."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from quotecast.bus.base import Snapshot
from quotecast.feed.past import mirror_at
from quotecast.history import recorder as recorders
from quotecast.history.bucket import delete_expired
from quotecast.history.folder import Folder
from quotecast.history.playback import NotRecorded, Playback
from quotecast.history.segments import SUFFIX, HistoryError
from quotecast.market.feeds import Feed
from support.made.history import BEGIN, Clock, RecordedLeader, all_played, batches
from support.made.market import stock


def prices_from(leader: RecordedLeader, first: int, count: int) -> None:
    for number in range(first, first + count):
        leader.clock.now += 1
        leader.publish([stock("AAPL", float(number))])


def played_seqs(folder: Path, at: float, now: float) -> list[int]:
    return [batch.seq for batch in batches(all_played(folder, Feed.STOCKS, at, now))]


def test_a_full_queue_loses_batches_and_goes_on_from_a_keyframe(tmp_path: Path) -> None:
    """The gap is marked: no moment in it has a state, and the state after it is whole."""
    leader = RecordedLeader(tmp_path, max_waiting=3)
    leader.begin("e0", [stock("AAPL", 1.0)])
    prices_from(leader, 2, 6)
    side = leader.recorder.feeds[Feed.STOCKS]
    assert side.lost == 4
    leader.write()
    leader.clock.now += recorders.RETRY_SECONDS
    prices_from(leader, 8, 2)
    leader.write()
    prices_from(leader, 10, 2)
    leader.stop()
    now = leader.clock.now
    assert side.lost == 5
    assert played_seqs(tmp_path, BEGIN, now) == [2, 3, 9, 10, 11]
    with pytest.raises(NotRecorded):
        Playback(Folder(tmp_path), Feed.STOCKS, BEGIN + 4, clock=leader.clock)
    after = all_played(tmp_path, Feed.STOCKS, now, now)
    assert isinstance(after[0], Snapshot)
    assert after[0].entries["AAPL"].quote == stock("AAPL", 8.0)


def test_a_full_disk_loses_batches_and_recording_goes_on_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a block is cut off, one warning says why, and all batches that are missing are counted."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    prices_from(leader, 2, 2)
    leader.write()
    (path,) = tmp_path.glob(f"stocks/*{SUFFIX}")
    size = path.stat().st_size

    def full(file: int, data: Any) -> int:
        if len(data) < 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data[:20])

    real = os.write
    monkeypatch.setattr(os, "write", full)
    with capture_logs() as logs:
        for number in range(5):
            prices_from(leader, 4 + number, 1)
            leader.write()
    assert path.stat().st_size == size
    assert [each["event"] for each in logs if each["log_level"] == "warning"] == ["history is not recorded"]
    monkeypatch.setattr(os, "write", real)
    leader.clock.now += recorders.RETRY_SECONDS
    prices_from(leader, 9, 1)
    leader.write()
    prices_from(leader, 10, 2)
    leader.stop()
    # The batch of the block that failed, those up to the next keyframe, and the one that the keyframe holds.
    assert leader.recorder.feeds[Feed.STOCKS].lost == 6
    played = played_seqs(tmp_path, BEGIN, leader.clock.now)
    assert (played, len(leader.published)) == ([2, 3, 10, 11], 11)


def test_two_ingests_never_write_one_file(tmp_path: Path) -> None:
    """Not even when both begin in the same millisecond."""
    clock = Clock()
    leaders = [RecordedLeader(tmp_path, clock=clock) for _ in range(2)]
    for number, leader in enumerate(leaders):
        leader.begin(f"e{number}", [stock("AAPL", 1.0 + number)])
        leader.stop()
    names = Folder(tmp_path).names(Feed.STOCKS)
    assert len(names) == len(set(names)) == 2


def test_an_ingest_that_leads_again_has_a_segment_of_its_own(tmp_path: Path) -> None:
    """So moments before, between and after have the state of whoever led then."""
    clock = Clock()
    first, second = (RecordedLeader(tmp_path, clock=clock) for _ in range(2))
    for number, leader in enumerate((first, second, first)):
        leader.begin(f"e{number}", [stock("AAPL", 10.0 * number + 1)])
        prices_from(leader, 10 * number + 2, 4)
        leader.write()
    for at, price in ((2.5, 3.0), (4.5, 11.0), (9.5, 22.0), (12.0, 25.0)):
        playback = Playback(Folder(tmp_path), Feed.STOCKS, BEGIN + at, clock=clock)
        mirror = mirror_at(playback, BEGIN + at)
        playback.close()
        assert mirror.quotes() == {"AAPL": stock("AAPL", price)}


def test_a_clock_that_goes_back_does_not_disorder_segments(tmp_path: Path) -> None:
    """Records keep the order in which they were published."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    leader.clock.now += 650
    prices_from(leader, 2, 2)
    leader.clock.now -= 100
    prices_from(leader, 4, 2)
    leader.begin("e1", [stock("AAPL", 7.0)])
    leader.stop()
    played = all_played(tmp_path, Feed.STOCKS, BEGIN, BEGIN + 1000)
    assert [batch.seq for batch in batches(played)] == [2, 3, 4, 5]
    assert isinstance(played[-1], Snapshot)
    assert played[-1].epoch == "e1"


def test_a_failure_of_any_kind_does_not_end_the_recorder(tmp_path: Path) -> None:
    """Such as one of the retention."""

    def fail(_: object) -> None:
        raise HistoryError("the folder cannot be read")

    leader = RecordedLeader(tmp_path, finished=fail)
    leader.begin("e0", [stock("AAPL", 1.0)])
    leader.clock.now += 600
    prices_from(leader, 2, 1)
    leader.write()
    leader.clock.now += recorders.RETRY_SECONDS
    prices_from(leader, 3, 1)
    leader.write()
    prices_from(leader, 4, 1)
    leader.write()
    assert played_seqs(tmp_path, leader.clock.now, leader.clock.now) == [4]


def test_a_segment_holds_ten_minutes_even_of_a_quiet_feed(tmp_path: Path) -> None:
    """Beats say that the feed was alive: a moment of the night has the state of the evening."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    for _ in range(1300):
        leader.clock.now += 1
        leader.beat()
        leader.write()
    leader.stop()
    assert len(Folder(tmp_path).names(Feed.STOCKS)) == 3
    at = BEGIN + 1234.5
    first = all_played(tmp_path, Feed.STOCKS, at, leader.clock.now)[0]
    assert isinstance(first, Snapshot)
    assert first.entries["AAPL"].quote == stock("AAPL", 1.0)


def test_a_group_ends_after_a_number_of_updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It bounds what a reader decodes to open a moment."""
    monkeypatch.setattr(recorders, "GROUP_UPDATES", 10)
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    prices_from(leader, 2, 35)
    leader.stop()
    played = all_played(tmp_path, Feed.STOCKS, BEGIN, leader.clock.now)
    seqs = [each.seq for each in played if isinstance(each, Snapshot)]
    assert seqs == [1, 11, 21, 31]


def test_retention_leaves_what_moments_within_it_need(tmp_path: Path) -> None:
    """A segment goes once the one after it is past the retention, too; the newest stays."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    for number in range(4):
        leader.clock.now += 600
        leader.publish([stock("AAPL", 2.0 + number)])
    leader.stop()
    store = Folder(tmp_path)
    names = store.names(Feed.STOCKS)
    delete_expired(store, BEGIN + 600 + 599)
    assert store.names(Feed.STOCKS) == names[1:]
    delete_expired(store, BEGIN + 1e9)
    assert store.names(Feed.STOCKS) == names[-1:]
    assert sorted(path.name.split(".")[-1] for path in (tmp_path / "stocks").iterdir()) == ["json", "segment"]


def test_what_waits_is_written_at_the_end(tmp_path: Path) -> None:
    """The thread ends with a finished segment, and tells of its manifest."""
    manifests: list[Any] = []
    leader = RecordedLeader(tmp_path, finished=manifests.append)
    leader.begin("e0", [stock("AAPL", 1.0)])
    prices_from(leader, 2, 3)
    leader.stop()
    assert played_seqs(tmp_path, BEGIN, leader.clock.now) == [2, 3, 4]
    assert [each.updates for each in manifests] == [3]
    assert leader.recorder.waiting == 0
