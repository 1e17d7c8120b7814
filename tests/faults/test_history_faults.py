"""A recording ingest dies, or its disk is full: quotes go on, and what is on the disk is readable."""

import asyncio
import resource
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from quotecast.bus.base import Batch, Snapshot
from quotecast.bus.redis import RedisBus
from quotecast.history.blocks import Block, Kind
from quotecast.history.folder import Folder
from quotecast.history.playback import Playback, Played, blocks_in
from quotecast.market.feeds import Feed
from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.processes import Valkey
from support.servers.service import Service

PATIENCE_SECONDS = 60.0
FEED = Feed.STOCKS


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "history")


@pytest.fixture
def service(own_valkey: Valkey, tmp_path: Path) -> Iterator[Service]:
    """Gives a service whose ingests record; none runs yet."""
    settings = {
        "QUOTECAST_HISTORY": "1h",
        "QUOTECAST_HISTORY_STORE": str(tmp_path / "history"),
        "QUOTECAST_LOG_LEVEL": "error",
    }
    with Service(own_valkey, settings) as running:
        yield running


def blocks_of_all(folder: Folder) -> list[Block]:
    return [block for name in folder.names(FEED) for block in blocks_in(folder, FEED, name)]


def ingests_in(folder: Folder) -> int:
    """Returns how many ingests have written segments; one ingest writes several."""
    return len({name.rpartition("-")[2] for name in folder.names(FEED)})


def played(folder: Folder, name: str) -> list[Played]:
    """Returns the messages of one segment, and of those after it."""
    first = blocks_in(folder, FEED, name)[0].first
    with closing(Playback(folder, FEED, first)) as playback:
        found = []
        while messages := playback.read(float("inf")):
            found += [message for _, message in messages]
        return found


def seq_on_the_bus(service: Service) -> int:
    async def load() -> int:
        bus = RedisBus(service.redis.url, "quotecast")
        try:
            snapshot = await bus.load(FEED)
        finally:
            await bus.close()
        return snapshot.seq if snapshot else 0

    return asyncio.run(load())


def assert_contiguous(messages: list[Played]) -> None:
    """Every batch follows the one before it, or a keyframe."""
    place = ("", 0)
    for message in messages:
        if isinstance(message, Batch):
            assert (message.epoch, message.seq - 1) == place
        if isinstance(message, Batch | Snapshot):
            place = (message.epoch, message.seq)


def test_a_killed_ingest_leaves_what_it_wrote_and_the_next_one_continues(
    service: Service, folder: Folder
) -> None:
    """Each has segments of its own; all whole blocks of the first are readable."""
    ingest = service.start("ingest")
    wait_until(lambda: len(blocks_of_all(folder)) >= 3, "nothing is recorded")
    ingest.send_signal(signal.SIGKILL)
    ingest.wait()
    first = folder.names(FEED)[0]
    whole = blocks_of_all(folder)
    messages = played(folder, first)
    assert sum(len(each.changes) for each in messages if isinstance(each, Batch)) == sum(
        block.updates for block in whole
    )
    assert_contiguous(messages)
    service.start("ingest")
    wait_until(
        lambda: ingests_in(folder) == 2 and len(blocks_of_all(folder)) > len(whole) + 1,
        "nothing is recorded after the kill",
    )
    after = played(folder, first)
    assert_contiguous(after)
    assert len({each.epoch for each in after if isinstance(each, Snapshot)}) == 2


def test_a_full_disk_holds_up_no_quotes_and_recording_continues_with_a_keyframe(
    service: Service, folder: Folder
) -> None:
    """A limit on the size of files stands for the full disk: each write fails, at a byte of its own."""
    ingest = service.start("ingest")
    wait_until(lambda: len(blocks_of_all(folder)) >= 2, "nothing is recorded")
    first = folder.names(FEED)[0]
    _, hard = resource.prlimit(ingest.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(ingest.pid, resource.RLIMIT_FSIZE, (10, hard))
    before, size = seq_on_the_bus(service), len(blocks_of_all(folder))
    wait_until(lambda: seq_on_the_bus(service) > before + 50, "nothing is published")
    assert ingest.poll() is None
    resource.prlimit(ingest.pid, resource.RLIMIT_FSIZE, (hard, hard))
    wait_until(lambda: len(blocks_of_all(folder)) > size + 3, "nothing is recorded after the outage")
    _, *later = folder.names(FEED)
    kinds = {block.kind for name in later for block in blocks_in(folder, FEED, name)}
    assert Kind.KEYFRAME_AFTER_LOSS in kinds
    assert_contiguous(played(folder, first))
    ingest.send_signal(signal.SIGTERM)
    assert ingest.wait(scaled(PATIENCE_SECONDS)) == 0
    manifest = folder.manifest(FEED, folder.names(FEED)[-1])
    assert manifest is not None
    manifests = [folder.manifest(FEED, name) for name in later]
    assert any(each and each.lost > 0 for each in manifests)
    assert folder.path(FEED, manifest.segment, ".segment").stat().st_size == manifest.size
