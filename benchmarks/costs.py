"""The numbers that `benchmarks.day` calculates with: what things cost, and a day of an installation."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

MINUTES: Final = 60


class IngestCosts(Struct, frozen=True, forbid_unknown_fields=True):
    """Microseconds of ingest's core."""

    update_us: float
    batch_us: float


class RedisCosts(Struct, frozen=True, forbid_unknown_fields=True):
    """Microseconds of Redis's core."""

    update_us: float
    batch_us: float
    subscriber_us: float
    sent_update_us: float
    check_us: float


class WorkerCosts(Struct, frozen=True, forbid_unknown_fields=True):
    """Microseconds of a worker's core, and its memory in bytes."""

    base_bytes: float
    batch_us: float
    update_us: float
    read_us: float
    frame_us: float
    quote_us: float
    handshake_us: float
    request_us: float
    socket_bytes: float


class RelayCosts(Struct, frozen=True, forbid_unknown_fields=True):
    """Microseconds of the origin's core, and bytes on the line."""

    update_us: float
    region_us: float
    update_bytes: float


class Sizes(Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes."""

    update: float
    quote: float
    frame: float


class Costs(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of costs.toml."""

    ingest: IngestCosts
    redis: RedisCosts
    worker: WorkerCosts
    relay: RelayCosts
    bytes: Sizes


class Installation(Struct, frozen=True, forbid_unknown_fields=True):
    """The numbers of an installation; day.toml describes them."""

    clients: float
    regions: int
    symbols: float
    updates: float
    list: int
    interval_ms: float
    requests: float
    spacing_ms: float
    workers: int
    cores: int
    network_gbit: float
    redis_network_gbit: float
    utilization: float


class Moment(Struct, frozen=True, forbid_unknown_fields=True):
    """Shares of the installation's clients and updates at a time of the day, `HH:MM`."""

    time: str
    clients: float
    updates: float

    @property
    def minute(self) -> int:
        """The minute of the day."""
        hours, _, minutes = self.time.partition(":")
        return int(hours) * MINUTES + int(minutes)


class Day(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of day.toml."""

    installation: Installation
    moment: list[Moment]


def read(day: Path, costs: Path, changes: Mapping[str, Any]) -> tuple[Day, Costs]:
    """Returns the contents of both files, with some of the installation's numbers changed.

    Raises ValueError for a file that cannot be read.
    """
    given = tomllib.loads(day.read_text("utf-8"))
    if "installation" not in given:
        raise ValueError(f"{day} has no [installation]")
    given["installation"] |= {name: value for name, value in changes.items() if value is not None}
    found = msgspec.convert(given, Day), msgspec.convert(tomllib.loads(costs.read_text("utf-8")), Costs)
    minutes = [each.minute for each in found[0].moment]
    if len(minutes) < 2 or minutes != sorted(set(minutes)):
        raise ValueError("the day needs two moments or more, in order of time")
    return found
