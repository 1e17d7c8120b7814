"""The figures of feeds' days in PostgreSQL: a row for each feed, day and ingest."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from quotecast.database.database import Database
from quotecast.history.partitions import TABLES
from quotecast.market.codec import encode_json
from quotecast.market.feed_days import DayFigures, total_of

#: Days for which rows stay.
KEEP_DAYS: Final = 366
#: Symbols of an answer about a whole feed.
MOST_SYMBOLS: Final = 20

#: An ingest writes its own sums so far: a repeated write changes nothing, and no other ingest's row.
_WRITE: Final = (
    "INSERT INTO feed_days (feed, day, process, figures, written_at) VALUES ($1, $2, $3, $4, now())"
    " ON CONFLICT (feed, day, process) DO UPDATE SET figures = EXCLUDED.figures, written_at = now()"
    " WHERE feed_days.figures <> EXCLUDED.figures"
)
_READ: Final = (
    "SELECT feed, day, figures, written_at FROM feed_days"
    " WHERE feed = ANY($1::text[]) AND day BETWEEN $2 AND $3"
)
#: Dates of venues are up to a day from the server's; a fast simulation counts days to come.
_DELETE: Final = "DELETE FROM feed_days WHERE day < current_date - $1::integer - 1 OR day > current_date + 1"
_COUNT: Final = (
    "WITH counted AS (SELECT symbol, count(*) AS minutes"  # noqa: S608 - a name of ours  # nosec B608
    f" FROM {TABLES['1m']} WHERE feed = $1 AND opened >= $2 AND opened < $3"
    " AND ($4::text[] IS NULL OR symbol = ANY($4)) GROUP BY symbol)"
    " SELECT symbol, minutes, (SELECT count(*) FROM counted),"
    " (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY minutes) FROM counted)"
    " FROM counted ORDER BY minutes, symbol LIMIT $5"
)

_decode: Final = msgspec.json.Decoder(DayFigures).decode


class StoredDay(NamedTuple):
    """The figures of a feed's day, and when the last of them were written."""

    figures: DayFigures
    written_at: datetime


class FeedMinutes(Struct, frozen=True, rename="camel"):
    """The minutes that have a bar over all symbols with any, and the symbols with the fewest."""

    symbols: int
    median_covered: int
    fewest_covered: dict[str, int]


class FeedDays:
    """Reads the figures of days; one-minute bars stay for `minute_days`."""

    def __init__(self, database: Database, minute_days: int) -> None:
        self.minute_days = minute_days
        self._database = database
        #: A count may take a connection for the whole deadline; others need the rest of the pool.
        self._counting = asyncio.Lock()

    async def read(
        self, series: Sequence[str], first: date, last: date
    ) -> Mapping[tuple[str, date], StoredDay]:
        """Returns the figures of each series and day that has any. Raises DatabaseAway."""
        days: dict[tuple[str, date], list[StoredDay]] = {}
        for row in await self._database.session(lambda link: link.fetch(_READ, [*series], first, last)):
            stored = StoredDay(_decode(row["figures"]), row["written_at"])
            days.setdefault((row["feed"], row["day"]), []).append(stored)
        return {
            key: StoredDay(total_of(each.figures for each in parts), max(each.written_at for each in parts))
            for key, parts in days.items()
        }

    async def count_minutes(
        self, series: str, start: datetime, end: datetime, symbols: Sequence[str] | None
    ) -> FeedMinutes:
        """Returns the counts of bars that open in [start, end), one call at a time; None for all symbols.

        Raises DatabaseAway.
        """
        values = series, start, end, symbols, MOST_SYMBOLS
        async with self._counting:
            rows = await self._database.session(lambda link: link.fetch(_COUNT, *values))
        number, median = rows[0][2:] if rows else (0, 0)
        return FeedMinutes(number, median, {row["symbol"]: row["minutes"] for row in rows})


async def write(connection: Any, series: str, process: str, days: Mapping[date, DayFigures]) -> None:
    """Writes what one ingest has counted of some days so far."""
    for day, figures in days.items():
        await connection.execute(_WRITE, series, day, process, encode_json(figures).decode())


async def delete_expired(connection: Any) -> None:
    """Deletes the rows past their days."""
    await connection.execute(_DELETE, KEEP_DAYS)
