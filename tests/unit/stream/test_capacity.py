"""Capacity of a worker: how it divides open files and memory among its connections."""

import asyncio
import resource
from pathlib import Path
from unittest.mock import Mock

import pytest

from quotecast.errors import ServerFailedError
from quotecast.stream.capacity import FILES_FORWARDED, OWN_FILES, capacity, memory, open_files
from quotecast.stream.occupancy import Occupancy

GIGABYTE = 1 << 30


def test_open_files_bound_feeds_where_memory_is_plenty() -> None:
    """The reason in the start line names open files."""
    found = capacity(files=65_536, memory=64 * GIGABYTE, split=False)
    assert (found.feeds, found.reason) == (49_062, "65,536 open files")


def test_memory_bounds_feeds_where_open_files_are_plenty() -> None:
    """Feeds get half of the memory, at 32 KB each."""
    found = capacity(files=1_048_576, memory=GIGABYTE, split=False)
    assert (found.feeds, found.reason) == (16_384, "1,024 MB of memory")


@pytest.mark.parametrize(
    ("asked", "feeds", "reason"), [(50_000, 50_000, "as set"), (200, 102, "256 open files")]
)
def test_a_setting_overrides_memory_but_not_open_files(asked: int, feeds: int, reason: str) -> None:
    """A worker must not accept more connections than it may open files."""
    files = 1_048_576 if asked > 1000 else 256
    found = capacity(files=files, memory=GIGABYTE, requested=asked, split=False)
    assert (found.feeds, found.reason) == (feeds, reason)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("files", [OWN_FILES + 64, 256, 1024, 65_536, 1 << 20])
@pytest.mark.parametrize("asked", [0, 1, 100_000])
def test_connections_never_need_more_files_than_there_are(files: int, asked: int, *, split: bool) -> None:
    """With all feeds and all HTTP connections open, files remain for new connections."""
    found = capacity(files=files, memory=GIGABYTE, requested=asked, split=split)
    needed = found.feeds + (0 if split else found.http * FILES_FORWARDED)
    assert min(found.feeds, found.http) >= 1
    assert needed < found.files
    assert found.files + (found.http if split else 0) <= files - OWN_FILES


def test_too_few_open_files_are_an_error_at_the_start() -> None:
    """The error names the actual and the required number."""
    with pytest.raises(ServerFailedError, match="may open 100 files; a worker needs 184"):
        capacity(files=100, memory=GIGABYTE, split=False)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"a/b": "1000000", "a": "max"}, 1_000_000),
        ({"a/b": "max", "a": "2000000"}, 2_000_000),
        ({"": "3000000"}, 3_000_000),
    ],
    ids=["own", "of the group above", "of a container, which sees itself as the root"],
)
def test_the_least_limit_of_the_cgroups_counts(limits: dict[str, str], expected: int, tmp_path: Path) -> None:
    groups, own = tmp_path / "groups", tmp_path / "cgroup"
    (groups / "a" / "b").mkdir(parents=True)
    for group, limit in limits.items():
        (groups / group / "memory.max").write_text(f"{limit}\n")
    own.write_text("0::/a/b\n" if "" not in limits else "0::/\n")
    assert memory(own, groups) == expected


@pytest.mark.parametrize("text", ["0::/a\n", "4:memory:/a\n", None], ids=["max", "cgroup v1", "no cgroup"])
def test_without_a_limit_the_machines_memory_counts(text: str | None, tmp_path: Path) -> None:
    groups, own = tmp_path / "groups", tmp_path / "cgroup"
    (groups / "a").mkdir(parents=True)
    (groups / "a" / "memory.max").write_text("max\n")
    if text is not None:
        own.write_text(text)
    found = memory(own, groups)
    assert found == memory(tmp_path / "absent", tmp_path / "absent")
    assert found > 1 << 28


def test_the_soft_limit_of_open_files_is_raised() -> None:
    """The worker raises it to the hard limit."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before[1] - 1, before[1]))
        assert open_files() == min(before[1], 1 << 20)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(before[1], 1 << 20)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def occupancy(files: int = 256) -> Occupancy:
    return Occupancy(capacity(files=files, memory=GIGABYTE, split=False))


def test_the_oldest_silent_connection_leaves_when_files_run_short() -> None:
    """The occupancy closes no connection before that, and none that has sent its first bytes."""
    full = occupancy()
    transports = [Mock(spec=asyncio.Transport) for _ in range(full.capacity.files + 2)]
    for each in transports[:-2]:
        full.wait(each)
    assert full.take_feed(transports[0])
    assert not any(each.abort.called for each in transports)
    for each in transports[-2:]:
        full.wait(each)
    assert [each for each in transports if each.abort.called] == transports[1:3]
    assert full.silent == full.capacity.files - 1


def test_health_checks_find_room_where_others_do_not() -> None:
    """Their reserve is bounded, so that false health checks cannot exhaust the worker."""
    full = occupancy()
    while full.take_http(health=False):
        pass
    assert full.http == full.capacity.http
    assert full.take_http(health=True)
    while full.take_http(health=True):
        pass
    assert full.http * FILES_FORWARDED < full.capacity.files
