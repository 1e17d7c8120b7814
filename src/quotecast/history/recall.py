"""Continues coarser bars from the one-minute bars in PostgreSQL, where Redis and its leader died together."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final, NamedTuple

from quotecast.history import storage
from quotecast.history.partitions import TABLES
from quotecast.market.bar_making import slot_of
from quotecast.market.calendars import Calendar
from quotecast.market.own_bars import MINUTE, Closing, OwnBar, Parts, close_parts

#: A feed that was away for longer begins its bars from scratch, and so does a recording that starts over.
LONGEST_SECONDS: Final = 86_400
#: Seconds of one-minute bars that one query reads.
_SPAN: Final = 3600
_MINUTES: Final = (
    "SELECT symbol, extract(epoch FROM opened)::bigint, open, high, low, close, volume, updates"  # noqa: S608 - a name of ours
    f" FROM {TABLES['1m']} WHERE feed = $1 AND opened >= $2 AND opened < $3 ORDER BY opened"
)


class Recalled(NamedTuple):
    """What is final of coarser bars in progress, by symbol, and the Unix time up to which bars are final."""

    parts: Mapping[str, Parts]
    through: int


async def recall(connection: Any, *, series: str, calendar: Calendar, now: float) -> Recalled | None:
    """Returns the bars in progress of a feed as PostgreSQL has them; None without any of the last day."""
    through = await storage.written_through(connection, series)
    if not now - LONGEST_SECONDS <= through <= now:
        return None
    slot = slot_of(calendar, through - MINUTE)
    parts: dict[str, Parts] = {}
    if slot is not None:
        began = slot["D"][0]
        for start in range(began, through, _SPAN):
            end = min(start + _SPAN, through)
            span = (datetime.fromtimestamp(each, UTC) for each in (start, end))
            for closing in _closings(await connection.fetch(_MINUTES, series, *span), calendar):
                close_parts(parts, closing)
    return Recalled({key: _unfinished(own, through) for key, own in parts.items()}, through)


def _closings(rows: list[Any], calendar: Calendar) -> Iterator[Closing]:
    for opened, minute in groupby(rows, key=lambda row: int(row[1])):
        bars = {symbol: OwnBar(*values) for symbol, *values in minute}
        yield Closing(opened + MINUTE, {"1m": bars}, dict(slot_of(calendar, opened) or {}))


def _unfinished(own: Parts, through: int) -> Parts:
    return {interval: part for interval, part in own.items() if part.ends > through}
