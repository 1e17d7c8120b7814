"""Daily bars as they were known: PostgreSQL keeps what an upstream said before beside its corrections."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import astuple

from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.market.bars import Bar

#: Readings of one series are stored one after the other.
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
_STORED: Final = (
    "SELECT bars, known_at, replaces FROM known_bars WHERE feed = $1 AND symbol = $2 AND provider = $3"
    " ORDER BY known_at"
)
#: The rows of the provider that was read last by a moment.
_AT: Final = (
    "SELECT provider, bars, known_at, replaces FROM known_bars"
    " WHERE feed = $1 AND symbol = $2 AND known_at <= $3 AND provider = (SELECT provider FROM known_bars"
    " WHERE feed = $1 AND symbol = $2 AND known_at <= $3 ORDER BY known_at DESC, provider LIMIT 1)"
    " ORDER BY known_at"
)
_INSERT: Final = (
    "INSERT INTO known_bars (feed, symbol, provider, known_at, replaces, bars)"
    " VALUES ($1, $2, $3, $4, $5, $6)"
)
#: By so much a split changes each close; corrections leave most days as they are.
_REBASED: Final = 0.005
#: A worker remembers so many readings for so many seconds: to store them again would change nothing.
_MAX_WRITTEN: Final = 4096
_WRITTEN_SECONDS: Final = 600.0
_MILLISECOND: Final = timedelta(milliseconds=1)

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[tuple[str, float, float, float, float, float]]).decode


class Series(NamedTuple):
    """The days of one instrument by one provider; the feed of a simulated market has a name of its own."""

    feed: str
    symbol: str
    provider: str


class KnownDays(NamedTuple):
    """Days as they were known at a moment, ascending, in the shares of the day when they were last read."""

    bars: Sequence[Bar]
    provider: str
    read_at: datetime


class KnownBars:
    """Stores what providers say about days, with the time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._written: dict[tuple[Series, str], tuple[int, float]] = {}

    async def record(self, series: Series, bars: Sequence[Bar], now: datetime) -> None:
        """Stores those bars of ended days that differ from what the provider had said before.

        While PostgreSQL is away that is left to the next reading.
        """
        key, digest = (series, bars[0].time), hash(tuple(bars))
        known, until = self._written.get(key, (None, 0.0))
        if known == digest and time.monotonic() < until:
            return

        async def write(connection: Any) -> None:
            await connection.execute(_LOCK, "/".join(series))
            rows = await connection.fetch(_STORED, *series)
            new, replaces = await asyncio.to_thread(_difference, rows, bars)
            if new:
                # Whole milliseconds, as answers show times: a client may ask for this very moment.
                at = datetime.fromtimestamp(int(now.timestamp() * 1000) / 1000, UTC)
                # Another worker's clock may be ahead.
                at = max(at, rows[-1]["known_at"] + _MILLISECOND) if rows else at
                await connection.execute(_INSERT, *series, at, replaces, _encode([*map(astuple, new)]))

        with suppress(DatabaseAway):
            await self._database.session(write)
            if len(self._written) >= _MAX_WRITTEN:
                del self._written[next(iter(self._written))]
            self._written[key] = digest, time.monotonic() + _WRITTEN_SECONDS

    async def read(self, feed: str, symbol: str, at: datetime) -> KnownDays | None:
        """Returns the days of an instrument as they were known at a moment; None if there were none by then.

        They are of the provider that was read last. Raises DatabaseAway.
        """

        async def fetch(connection: Any) -> list[Any]:
            rows: list[Any] = await connection.fetch(_AT, feed, symbol, at)
            return rows

        rows = await self._database.session(fetch)
        if not rows:
            return None
        known = await asyncio.to_thread(_folded, rows)
        return KnownDays([known[each] for each in sorted(known)], rows[0]["provider"], rows[-1]["known_at"])


def _folded(rows: Iterable[Any]) -> Mapping[str, Bar]:
    """Returns the last of the bars of each day; a row that replaces all before it has none of theirs."""
    known: dict[str, Bar] = {}
    for row in rows:
        if row["replaces"]:
            known.clear()
        known |= {time: Bar(time, *prices) for time, *prices in _decode(row["bars"])}
    return known


def _difference(rows: Iterable[Any], bars: Sequence[Bar]) -> tuple[Sequence[Bar], bool]:
    """Returns the bars that differ from the stored ones, and whether they replace all of those.

    After a split an upstream answers all days in other shares. Days that it was not asked for are in the
    former ones: nothing of them is known any more.
    """
    known = _folded(rows)
    new = [bar for bar in bars if known.get(bar.time) != bar]
    again = [(known[bar.time].close, bar.close) for bar in bars if bar.time in known]
    replaces = bool(again) and all(abs(close / before - 1) > _REBASED for before, close in again)
    return (bars, True) if replaces else (new, False)
