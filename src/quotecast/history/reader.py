"""Reads a feed's final bars from PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime

from quotecast.database.database import Database
from quotecast.history.partitions import TABLES
from quotecast.market.own_bars import LiveInterval, OwnBar


class StoredBars:
    """The bars of all feeds in PostgreSQL, by `series_name`.

    An hour or a day in progress has no bar here yet.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(
        self, series: str, symbols: Sequence[str], interval: LiveInterval, start: datetime, end: datetime
    ) -> dict[str, list[OwnBar]]:
        """Returns the bars of a series by symbol: those that open in [start, end), ascending.

        Raises DatabaseAway.
        """
        bars: dict[str, list[OwnBar]] = {symbol: [] for symbol in symbols}
        if not bars:
            return bars
        query = _query(interval)
        rows = await self._database.session(lambda link: link.fetch(query, series, list(bars), start, end))
        for symbol, *values in rows:
            bars[symbol].append(OwnBar(*values))
        return bars


def _query(interval: LiveInterval) -> str:
    """Returns a query that reads each symbol by the primary key, and only the partitions of the span."""
    return (
        "SELECT wanted.symbol, extract(epoch FROM opened)::bigint, open, high, low, close, volume, updates"  # noqa: S608 - names of ours  # nosec B608
        " FROM unnest($2::text[]) AS wanted (symbol) CROSS JOIN LATERAL"
        f" (SELECT * FROM {TABLES[interval]} WHERE feed = $1 AND symbol = wanted.symbol"
        f" AND opened >= $3 AND opened < $4 ORDER BY opened) AS found"
        " ORDER BY wanted.symbol, opened"
    )
