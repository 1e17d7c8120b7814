"""Daily bars as they were known: PostgreSQL has what an upstream corrects beside what it said before."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import astuple

from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed

_KNOWN: Final = (
    "SELECT bars, known_at FROM known_bars"
    " WHERE provider = $1 AND feed = $2 AND symbol = $3 AND ($4::timestamptz IS NULL OR known_at <= $4)"
    " ORDER BY known_at"
)
_INSERT: Final = (
    "INSERT INTO known_bars (provider, feed, symbol, known_at, bars) VALUES ($1, $2, $3, $4, $5)"
    " ON CONFLICT DO NOTHING"
)
#: Readings of which a worker remembers that they are stored.
_MAX_WRITTEN: Final = 4096

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[tuple[str, float, float, float, float, float]]).decode


class Series(NamedTuple):
    """Whose bars: those of one instrument by one provider."""

    provider: str
    feed: Feed
    symbol: str


class KnownBars:
    """What each provider said about the days of each instrument, and when."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._written: dict[tuple[Series, str], int] = {}

    async def record(self, series: Series, bars: Sequence[Bar], now: datetime) -> None:
        """Stores bars of ended days that a provider said at a moment, unless a later reading is stored.

        While PostgreSQL is away that is left to the next reading.
        """
        key, digest = (series, bars[0].time), hash(tuple(bars))
        if self._written.get(key) == digest:
            return
        # Whole milliseconds, as answers show times: a client may ask for this very moment.
        at = now.replace(microsecond=now.microsecond // 1000 * 1000)

        async def write(connection: Any) -> None:
            rows = await connection.fetch(_KNOWN, *series, None)
            if rows and rows[-1]["known_at"] >= at:
                return
            known = await asyncio.to_thread(_folded, rows)
            new = [astuple(bar) for bar in bars if known.get(bar.time) != bar]
            if new:
                await connection.execute(_INSERT, *series, at, _encode(new))

        with suppress(DatabaseAway):
            await self._database.session(write)
            if len(self._written) >= _MAX_WRITTEN:
                del self._written[next(iter(self._written))]
            self._written[key] = digest

    async def read(self, series: Series, at: datetime) -> list[Bar] | None:
        """Returns the bars as they were known at a moment, ascending; None if there were none by then.

        Raises DatabaseAway.
        """

        async def fetch(connection: Any) -> list[Any]:
            rows: list[Any] = await connection.fetch(_KNOWN, *series, at)
            return rows

        rows = await self._database.session(fetch)
        known = await asyncio.to_thread(_folded, rows)
        return [known[time] for time in sorted(known)] or None


def _folded(rows: Iterable[Any]) -> Mapping[str, Bar]:
    """Returns the last of the bars of each day."""
    return {time: Bar(time, *values) for row in rows for time, *values in _decode(row["bars"])}
