"""Bars of Kraken's pairs, by REST.

Source of the format: Kraken documentation, "REST API: Get OHLC Data".
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Raw, Struct

from quotecast.errors import SymbolNotFound, UpstreamError
from quotecast.market.aggregate import aggregate_bars
from quotecast.market.bars import Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import UTC_DAYS
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.numbers import Number, from_milliseconds
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.transport.fetch import get_json, open_client
from quotecast.providers.validation.candles import believable_bars, to_bar
from quotecast.providers.validation.rows import decode_rows

#: Minutes of the upstream's rows behind each interval; its own weeks begin on Thursday.
_MINUTES: Final[Mapping[Interval, int]] = {
    "1m": 1,
    "5m": 5,
    "15m": 15,
    "30m": 30,
    "1h": 60,
    "4h": 240,
    "D": 1440,
    "W": 1440,
    "M": 1440,
}
#: Names of assets in this interface, where they differ from the usual ones; a pair is `XBTUSD`.
_NAMES: Final = {"BTC": "XBT", "DOGE": "XDG"}
#: Most rows of an answer, for any length of time.
MOST_ROWS: Final = 720
#: Seconds without calls after too many; the upstream does not name any.
AWAY_SECONDS: Final = 15.0
#: Seconds of a lockout, which each further call prolongs.
LOCKOUT_SECONDS: Final = 900.0

#: Seconds without calls, by words of the error.
_PAUSES: Final = {
    "Rate limit": AWAY_SECONDS,
    "Too many requests": AWAY_SECONDS,
    "Temporary lockout": LOCKOUT_SECONDS,
}


class _OhlcAnswer(Struct, frozen=True):
    error: Sequence[str] = ()
    #: Rows by the pair's name, and the time of the last one; may be null in an error.
    result: Mapping[str, list[Raw] | int] | None = None


class OhlcRow(Struct, frozen=True, array_like=True):
    """A row of `OHLC`, as far as needed; `time` is its opening in seconds since 1970."""

    time: int
    open: Number
    high: Number
    low: Number
    close: Number
    average: Number
    volume: Number

    def to_bar(self) -> Bar | None:
        """Returns the bar; None for a row with an impossible time or invalid prices."""
        return to_bar(self, from_milliseconds(self.time * 1000))


class KrakenHistory:
    """Bars of Kraken's pairs, made of the upstream's 720 newest rows of each length.

    It makes no call during a pause that the upstream asked for. `clock` counts seconds from any moment.
    """

    name = "kraken"

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._calm_from = clock()
        self._refused = RefusalCounter(self.name)

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """See HistoryProvider; without bars older than the limit."""
        pair = canonical_symbol(Feed.CRYPTO, symbol)
        if pair is None:
            raise SymbolNotFound
        first = opening_of_bar(UTC_DAYS, interval, start) or start
        rows = decode_rows(await self._rows(pair, _MINUTES[interval]), OhlcRow, self._refused)
        wanted = (row for row in rows if first.timestamp() <= row.time < end.timestamp())
        bars = believable_bars((row.to_bar() for row in wanted), self._refused)
        whole = _whole_from(rows)
        return [bar for bar in aggregate_bars(bars, interval, UTC_DAYS) if bar.time >= whole]

    async def _rows(self, pair: str, minutes: int) -> list[Raw]:
        wait = self._calm_from - self._clock()
        if wait > 0:
            raise UpstreamError("Kraken asked for a pause", retry_after=wait)
        name = "".join(_NAMES.get(asset, asset) for asset in pair.split("/"))
        params = {"pair": name, "interval": str(minutes)}
        async with open_client(self._url) as client:
            answer = await get_json(client, "/0/public/OHLC", _OhlcAnswer, params=params)
        if answer.error:
            text = "; ".join(answer.error)
            if "Unknown asset pair" in text:
                raise SymbolNotFound
            away = next((seconds for words, seconds in _PAUSES.items() if words in text), None)
            self._calm_from = max(self._calm_from, self._clock() + (away or 0.0))
            raise UpstreamError(f"Kraken: {text[:200]}", retry_after=away)
        found = [rows for rows in (answer.result or {}).values() if isinstance(rows, list)]
        if answer.result and not found:
            raise UpstreamError("Kraken: unreadable: no rows")
        return found[0] if found else []


def _whole_from(rows: Sequence[OhlcRow]) -> str:
    """Returns the time from which longer bars of these rows are whole; the oldest row may be a later part."""
    if len(rows) < MOST_ROWS:
        return ""
    oldest = from_milliseconds(min(row.time for row in rows) * 1000)
    return bar_time(oldest) if oldest else ""
