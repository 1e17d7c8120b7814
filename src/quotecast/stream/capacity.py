"""The capacity of a worker in connections: computed at the start from its open files and its memory."""

import os
import resource
import sys
from pathlib import Path
from typing import Final

from msgspec import Struct

from quotecast.errors import ServerFailedError

#: Open files beside clients' and PostgreSQL's: Redis, upstreams, logs, and health checks at the limit.
OWN_FILES: Final = 120
#: HTTP connections beyond the limit, for health checks alone.
SPARE_CONNECTIONS: Final = 8
#: A feed's own memory is 6 to 9 KB; the rest is for bytes that wait in the kernel's and our buffers.
FEED_BYTES: Final = 32 * 1024
#: Feeds get half of the memory, and three quarters of the files.
FEED_SHARE_OF_MEMORY: Final = 2
#: Open files of an HTTP connection that the front forwards: the client's, and two for the one to granian.
FILES_FORWARDED: Final = 3
MIN_FILES: Final = 64
#: Linux's default maximum; "unlimited" counts as this.
MAX_FILES: Final = 1 << 20
#: HTTP connections; more of them cost more than they are worth.
MAX_CONNECTIONS: Final = 65_536


class Capacity(Struct, frozen=True, kw_only=True):
    """Upper bounds of a worker's feeds, its HTTP connections, and the open files of all connections.

    `reason` says in words what bounds the feeds.
    """

    feeds: int = sys.maxsize
    http: int = sys.maxsize
    files: int = sys.maxsize
    reason: str = "no limit"


def capacity(*, files: int, memory: int, own: int = OWN_FILES, requested: int = 0, split: bool) -> Capacity:
    """Divides open files and bytes of memory between feeds and HTTP.

    `requested` is a fixed number of feeds; 0 means as many as files and memory allow. `split`: feeds and
    HTTP have a port each. Raises ServerFailedError if there are too few files to work.
    """
    available = files - own
    if available < MIN_FILES:
        raise ServerFailedError(f"this process may open {files} files; a worker needs {own + MIN_FILES}")
    bounds = [(available * 3 // 4, f"{files:,} open files")]
    if requested:
        bounds.append((requested, "as set"))
    else:
        bounds.append((memory // FEED_SHARE_OF_MEMORY // FEED_BYTES, f"{memory >> 20:,} MB of memory"))
    feeds, reason = min(bounds)
    # Each HTTP connection needs room for one more that is still silent.
    http = min(MAX_CONNECTIONS, (available - feeds) // (1 + (1 if split else FILES_FORWARDED)))
    return Capacity(feeds=feeds, http=http, files=available - http if split else available, reason=reason)


def open_files() -> int:
    """Raises the soft limit of open files to the hard one, as far as allowed; returns the new limit."""
    soft, hard = (MAX_FILES if each == resource.RLIM_INFINITY else each for each in _limits())
    if soft < hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, MAX_FILES), _limits()[1]))
        except (OSError, ValueError):
            return soft
    return min(hard, MAX_FILES)


def memory(own: Path = Path("/proc/self/cgroup"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Returns the bytes that this process may use.

    This is the least `memory.max` of its cgroup (v2) and of the cgroups above, or the machine's memory.
    """
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    # The line of the process's cgroup (v2), in the format of Linux's cgroups(7).
    lines = own.read_text().splitlines() if own.is_file() else []
    group = groups / next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    for each in (group, *group.parents):
        limit = each / "memory.max"
        if each.is_relative_to(groups) and limit.is_file():
            text = limit.read_text().strip()
            found += [int(text)] if text.isdigit() else []  # "max" means no limit
    return min(found)


def _limits() -> tuple[int, int]:
    return resource.getrlimit(resource.RLIMIT_NOFILE)
