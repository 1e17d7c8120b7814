"""Daily bars as they were known: PostgreSQL keeps what an upstream said before beside its corrections."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import astuple

from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.market.bars import Bar

#: Readings of one instrument are stored one after the other.
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
_STORED: Final = (
    "SELECT provider, bars, known_at FROM known_bars WHERE feed = $1 AND symbol = $2"
    " AND ($3::timestamptz IS NULL OR known_at <= $3) ORDER BY known_at"
)
_INSERT: Final = "INSERT INTO known_bars (feed, symbol, provider, known_at, bars) VALUES ($1, $2, $3, $4, $5)"
#: A worker remembers so many readings for so many seconds: to store them again would change nothing.
_MAX_WRITTEN: Final = 4096
WRITTEN_SECONDS: Final = 600.0
_MILLISECOND: Final = timedelta(milliseconds=1)

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[tuple[str, float, float, float, float, float]]).decode


class Series(NamedTuple):
    """The days of one instrument by one provider; the feed of a simulated market has a name of its own."""

    feed: str
    symbol: str
    provider: str


class KnownDay(NamedTuple):
    """A bar, and when a provider first said it so: it is in the shares of that time."""

    bar: Bar
    known_at: datetime


class KnownDays(NamedTuple):
    """Days as they were known at a moment, ascending, of the provider that was read last."""

    provider: str
    days: Sequence[KnownDay]


class KnownBars:
    """Stores what providers say about days, with the time; `clock` gives monotonic seconds."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._written: dict[tuple[str, str, str], tuple[str, int, float]] = {}

    async def record(self, series: Series, bars: Sequence[Bar], now: datetime) -> None:
        """Stores those bars of ended days that differ from what the provider had said before.

        While PostgreSQL is away that is left to the next reading.
        """
        feed, symbol, provider = series
        key, digest = (feed, symbol, bars[0].time), hash(tuple(bars))
        *known, until = self._written.get(key, ("", 0, 0.0))
        if known == [provider, digest] and self._clock() < until:
            return

        async def write(connection: Any) -> None:
            await connection.execute(_LOCK, f"{feed}/{symbol}")
            rows = await connection.fetch(_STORED, feed, symbol, None)
            new = await asyncio.to_thread(_new_bars, rows, provider, bars)
            # A row without bars says that the provider was read again.
            if new or rows[-1]["provider"] != provider:
                # Whole milliseconds, as answers show times: a client may ask for this very moment.
                at = datetime.fromtimestamp(int(now.timestamp() * 1000) / 1000, UTC)
                # Another worker's clock may be ahead.
                at = max(at, rows[-1]["known_at"] + _MILLISECOND) if rows else at
                await connection.execute(_INSERT, *series, at, _encode([*map(astuple, new)]))

        with suppress(DatabaseAway):
            await self._database.session(write)
            if len(self._written) >= _MAX_WRITTEN:
                del self._written[next(iter(self._written))]
            self._written[key] = provider, digest, self._clock() + WRITTEN_SECONDS

    async def read(self, feed: str, symbol: str, at: datetime) -> KnownDays | None:
        """Returns the days of an instrument as they were known at a moment; None if there were none by then.

        Raises DatabaseAway.
        """
        rows = await self._database.session(lambda link: link.fetch(_STORED, feed, symbol, at))
        if not rows:
            return None
        provider = rows[-1]["provider"]
        known = await asyncio.to_thread(_folded, rows, provider)
        return KnownDays(provider, [known[each] for each in sorted(known)])


def _folded(rows: Iterable[Any], provider: str) -> Mapping[str, KnownDay]:
    """Returns the last bar of each day."""
    return {
        time: KnownDay(Bar(time, *prices), row["known_at"])
        for row in rows
        if row["provider"] == provider
        for time, *prices in _decode(row["bars"])
    }


def _new_bars(rows: Iterable[Any], provider: str, bars: Sequence[Bar]) -> list[Bar]:
    known = _folded(rows, provider)
    return [bar for bar in bars if bar.time not in known or known[bar.time].bar != bar]
