"""Tables of bars, and their partitions by time: a day, a month or a year in UTC."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple

from quotecast.market.own_bars import LiveInterval

Span = Literal["day", "month", "year"]

TABLES: Final[dict[LiveInterval, str]] = {
    "1m": "bars_1m",
    "5m": "bars_5m",
    "15m": "bars_15m",
    "1h": "bars_1h",
    "D": "bars_d",
}
_SPANS: Final[dict[LiveInterval, Span]] = {
    "1m": "day",
    "5m": "month",
    "15m": "month",
    "1h": "year",
    "D": "year",
}
_SUFFIXES: Final[dict[Span, str]] = {"day": "%Y%m%d", "month": "%Y%m", "year": "%Y"}
_INTERVALS: Final = {table: interval for interval, table in TABLES.items()}
_NAME: Final = re.compile(r"(?P<table>bars_[a-z0-9]+)_(?P<suffix>[0-9]{4,8})")


class Partition(NamedTuple):
    """A partition of an interval's table; it holds the bars that open from `begin` to before `end`."""

    interval: LiveInterval
    begin: datetime
    end: datetime

    @property
    def name(self) -> str:
        """Returns the name of the partition's own table."""
        return f"{TABLES[self.interval]}_{self.begin.strftime(_SUFFIXES[_SPANS[self.interval]])}"


def partition_of(interval: LiveInterval, opened: datetime) -> Partition:
    """Returns the partition of a bar that opens at an aware moment."""
    midnight = opened.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    match _SPANS[interval]:
        case "day":
            return Partition(interval, midnight, midnight + timedelta(days=1))
        case "month":
            first = midnight.replace(day=1)
            return Partition(interval, first, (first + timedelta(days=31)).replace(day=1))
        case _:
            first = midnight.replace(month=1, day=1)
            return Partition(interval, first, first.replace(year=first.year + 1))


def partition_named(name: str) -> Partition | None:
    """Returns the partition of that name; None for a name that this module does not give."""
    found = _NAME.fullmatch(name)
    interval = _INTERVALS.get(found["table"]) if found else None
    if found is None or interval is None:
        return None
    try:
        begin = datetime.strptime(found["suffix"], _SUFFIXES[_SPANS[interval]]).replace(tzinfo=UTC)
    except ValueError:
        return None
    partition = partition_of(interval, begin)
    # strptime reads `2026113` as a date, too.
    return partition if partition.name == name else None


def expired(names: Iterable[str], days: Mapping[LiveInterval, int], now: datetime) -> Iterator[Partition]:
    """Yields the partitions whose bars are all older than the `days` of their interval."""
    for name in names:
        partition = partition_named(name)
        if partition is not None and now - partition.end >= timedelta(days=days[partition.interval]):
            yield partition
