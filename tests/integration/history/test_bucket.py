"""Segments in an S3-compatible bucket, over a real socket."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.s3 import FakeBucket, running_bucket
from quotecast.errors import SettingsError
from quotecast.history import bucket as buckets
from quotecast.history.bucket import GRACE_SECONDS, Bucket, Joined, Uploader
from quotecast.history.folder import Folder
from quotecast.history.playback import Playback
from quotecast.history.segments import HistoryError
from quotecast.market.feeds import Feed
from quotecast.settings import loading
from support.made.history import BEGIN, Clock, RecordedLeader, batches
from support.made.market import stock

pytest.importorskip("obstore")


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBucket]:
    """Serves a bucket, and sets the variables that name it."""
    with running_bucket() as served:
        for name, value in {
            "AWS_ENDPOINT": served.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }.items():
            monkeypatch.setenv(name, value)
        yield served


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Records half an hour in four segments, the last of which a crash ended."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    for number in range(31):
        leader.clock.now += 60
        leader.publish([stock("AAPL", 2.0 + number)])
        leader.beat()
        leader.write()
    return Folder(tmp_path)


def prices(store: Folder | Joined, now: float) -> int:
    playback = Playback(store, Feed.STOCKS, BEGIN + 1, clock=lambda: now)
    count = 0
    while messages := playback.read(float("inf")):
        count += len(batches(message for _, message in messages))
    playback.close()
    return count


def test_finished_segments_move_to_the_bucket_and_play_from_there(s3: FakeBucket, folder: Folder) -> None:
    """The folder has the open one; readers see all of them at any time."""
    names, clock = folder.names(Feed.STOCKS), Clock(BEGIN + 1860)
    bucket = Bucket("s3://kept/past")
    joined = Joined(folder, bucket)
    uploader = Uploader(folder, bucket, 86_400, clock=clock)
    uploader.look()
    assert [key for key in sorted(s3.objects) if key.endswith(".segment")] == [
        f"past/stocks/{name}.segment" for name in names[:3]
    ]
    assert joined.names(Feed.STOCKS) == names
    clock.now += GRACE_SECONDS + 1
    uploader.look()
    assert folder.names(Feed.STOCKS) == names[3:]
    assert Joined(folder, Bucket("s3://kept/past")).names(Feed.STOCKS) == names
    assert prices(joined, clock.now) == 31
    manifest = joined.manifest(Feed.STOCKS, names[0])
    assert manifest is not None
    assert manifest.segment == names[0]


def test_a_segment_that_a_crash_ended_is_uploaded_once_nobody_can_write_it(
    s3: FakeBucket, folder: Folder
) -> None:
    """Without a manifest."""
    uploader = Uploader(folder, Bucket("s3://kept"), 86_400, clock=Clock(BEGIN + 4000))
    uploader.look()
    assert len([key for key in s3.objects if key.endswith(".segment")]) == 4
    assert len([key for key in s3.objects if key.endswith(".json")]) == 3


def test_a_bucket_that_is_away_loses_nothing(s3: FakeBucket, folder: Folder) -> None:
    """Segments stay in the folder until they are uploaded; the error names no secret."""
    s3.away = True
    uploader = Uploader(folder, Bucket("s3://kept"), 86_400, clock=Clock(BEGIN + 1860))
    with pytest.raises(HistoryError) as failure:
        uploader.look()
    assert "127.0.0.1" not in str(failure.value)
    assert len(folder.names(Feed.STOCKS)) == 4
    s3.away = False
    uploader.look()
    assert len([key for key in s3.objects if key.endswith(".segment")]) == 3


def test_expired_segments_leave_the_bucket(s3: FakeBucket, folder: Folder) -> None:
    """As they leave a folder."""
    clock = Clock(BEGIN + 1860)
    uploader = Uploader(folder, Bucket("s3://kept"), 1000, clock=clock)
    uploader.look()
    clock.now += buckets.NAMES_SECONDS + 1
    assert len([key for key in s3.objects if key.endswith(".segment")]) == 2


def test_a_segment_is_downloaded_once_and_few_stay(
    s3: FakeBucket, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk of a worker holds those that were used last."""
    monkeypatch.setattr(buckets, "CACHED_SEGMENTS", 2)
    bucket = Bucket("s3://kept")
    Uploader(folder, bucket, 86_400, clock=Clock(BEGIN + 1860)).look()
    names = bucket.names(Feed.STOCKS)
    for name in (*names, names[-1]):
        bucket.open(Feed.STOCKS, name).close()
    assert [request for request in s3.requests if request.startswith("GET stocks")] == [
        f"GET stocks/{name}.segment" for name in names
    ]
    assert len(list(bucket._cache.iterdir())) == 2


def test_names_that_are_no_segments_are_not_asked_for(s3: FakeBucket) -> None:
    """Nor listed."""
    s3.objects["stocks/secret.segment"] = b"x"
    bucket = Bucket("s3://kept")
    assert bucket.names(Feed.STOCKS) == []
    with pytest.raises(HistoryError):
        bucket.open(Feed.STOCKS, "../secret")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the start, not at the first upload."""
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(HistoryError, match="history-s3"):
        Bucket("s3://kept")


@pytest.mark.parametrize("location", ["s3:kept", "s3://", "s3://Kept/x", "s3://kept/a b"])
def test_a_location_that_is_no_bucket_stops_the_start(location: str) -> None:
    """The error says how one is written."""
    with pytest.raises(
        SettingsError, match="QUOTECAST_HISTORY_STORE: must be a folder or s3://bucket/prefix"
    ):
        loading.load({"QUOTECAST_HISTORY_STORE": location})
