"""Continues coarser bars from those in PostgreSQL, where Redis and the feed's leader lost them together."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

from quotecast.database.database import Database
from quotecast.history import storage
from quotecast.history.partitions import TABLES
from quotecast.history.reader import StoredBars
from quotecast.market.bar_making import slot_of
from quotecast.market.calendars import Calendar
from quotecast.market.own_bars import LIVE_INTERVALS, MINUTE, Part, Parts, Slot, extend

#: A feed that was away for longer begins its bars from scratch, and so does a recording that starts over.
LONGEST_SECONDS: Final = 86_400
_SYMBOLS: Final = (
    f"SELECT DISTINCT symbol FROM {TABLES['1m']}"  # noqa: S608 - a name of ours  # nosec B608
    " WHERE feed = $1 AND opened >= $2 AND opened < $3"
)


class Recalled(NamedTuple):
    """The final part of coarser bars in progress, by symbol, and the Unix time up to which bars are final."""

    parts: Mapping[str, Parts]
    through: int


async def recall(database: Database, *, series: str, calendar: Calendar, now: float) -> Recalled | None:
    """Returns the bars in progress of a feed as PostgreSQL has them; None without any of the last day.

    Raises DatabaseAway.
    """
    through = await database.session(partial(storage.written_through, series=series))
    if not now - LONGEST_SECONDS <= through <= now:
        return None
    slot = slot_of(calendar, through - MINUTE)
    return Recalled(await _parts(database, series, slot, through) if slot is not None else {}, through)


async def _parts(database: Database, series: str, slot: Slot, through: int) -> dict[str, Parts]:
    """Folds each interval from the final bars of the next finer one, and what is final of its last bar."""
    span = _moment(slot["D"][0]), _moment(through)
    rows = await database.session(lambda link: link.fetch(_SYMBOLS, series, *span))
    symbols = [row["symbol"] for row in rows]
    parts: dict[str, Parts] = {symbol: {} for symbol in symbols}
    stored, ended = StoredBars(database), through
    for finer, interval in pairwise(LIVE_INTERVALS):
        opened, ends = slot[interval]
        final = await stored.read(series, symbols, finer, _moment(opened), _moment(ended))
        for symbol, bars in final.items():
            last = parts[symbol].get(finer)
            bar = None
            for piece in [*bars, last.bar] if last is not None else bars:
                bar = extend(bar, piece, opened)
            if bar is not None and ends > through:
                parts[symbol][interval] = Part(bar, ends)
        ended = opened if ends > through else through
    return parts


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
