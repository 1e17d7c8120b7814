"""Bars of Binance spot's pairs.

Source of the format: Binance spot API documentation, "REST API: kline data".
"""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Raw, Struct

from quotecast.errors import SymbolNotFound, UpstreamError, UpstreamRefused
from quotecast.market.bars import LENGTHS, Bar, Interval, opening_of_bar
from quotecast.market.calendars import UTC_DAYS
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.numbers import Number, from_milliseconds
from quotecast.providers.binance import wire
from quotecast.providers.binance.listing import symbol_of
from quotecast.providers.binance.rest import BinanceRest
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import believable_bars, to_bar
from quotecast.providers.validation.rows import decode_rows

ROWS_PER_CALL: Final = 1000
#: Ten thousand bars: a week of minutes, and more days than the exchange is old.
MAX_CALLS: Final = 10

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: The upstream's names of the intervals; `1m` is a minute, `1M` a month.
INTERVALS: Final[dict[Interval, str]] = {
    "1m": "1m",
    "5m": "5m",
    "15m": "15m",
    "30m": "30m",
    "1h": "1h",
    "4h": "4h",
    "D": "1d",
    "W": "1w",
    "M": "1M",
}


class Kline(Struct, frozen=True, array_like=True):
    """A row of `GET /api/v3/klines`, as far as needed; `open_time` is in milliseconds since 1970."""

    open_time: int
    open: Number
    high: Number
    low: Number
    close: Number
    volume: Number

    def to_bar(self) -> Bar | None:
        """Returns the bar; None for a row with an impossible time or invalid prices."""
        return to_bar(self, from_milliseconds(self.open_time))


class BinanceHistory:
    """Bars of Binance spot's pairs, the newest ten thousand at most.

    The upstream's own weeks begin on Monday, its days at 00:00 UTC.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] = time.time) -> None:
        self.name = wire.venue_of(url).name
        self._rest = BinanceRest(url, clock)
        self._clock = clock
        self._refused = RefusalCounter(self.name)

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """See HistoryProvider; without bars older than the limit."""
        pair = canonical_symbol(Feed.CRYPTO, symbol)
        if pair is None:
            raise SymbolNotFound
        end = min(end - timedelta(microseconds=1), datetime.fromtimestamp(self._clock(), UTC))
        if interval in LENGTHS:
            start = max(start, end - (MAX_CALLS * ROWS_PER_CALL - 1) * LENGTHS[interval])
        first, last = _opening_milliseconds(interval, start), _opening_milliseconds(interval, end)
        if first > last:
            return []
        candles = await self._candles(symbol_of(pair), INTERVALS[interval], first, last)
        return believable_bars((candle.to_bar() for candle in candles), self._refused)

    async def _candles(self, symbol: str, interval: str, first: int, last: int) -> list[Kline]:
        """Returns the candles that opened from `first` to `last`, both in milliseconds since 1970."""
        found: list[Kline] = []
        params = {"symbol": symbol, "interval": interval, "limit": str(ROWS_PER_CALL)}
        for _ in range(MAX_CALLS):
            span = {"startTime": str(first), "endTime": str(last)}
            try:
                rows = await self._rest.get("/api/v3/klines", list[Raw], params | span)
            except UpstreamRefused as error:
                if wire.unknown_symbol(error.excerpt):
                    raise SymbolNotFound from error
                raise
            found_rows = decode_rows(rows, Kline, self._refused)
            page = [row for row in found_rows if first <= row.open_time <= last]
            self._refused.count("misplaced", len(found_rows) - len(page))
            found += page
            newest = max((row.open_time for row in page), default=first)
            if len(rows) < ROWS_PER_CALL or newest == last:
                return found
            if not page:
                raise UpstreamError("Binance answers with other bars than asked for")
            first = newest + 1
        raise UpstreamError("Binance answers with more bars than there can be")


def _opening_milliseconds(interval: Interval, moment: datetime) -> int:
    """Returns the opening of the bar that holds a moment, in milliseconds since 1970."""
    opened = opening_of_bar(UTC_DAYS, interval, moment) or moment
    return (opened - _EPOCH) // timedelta(milliseconds=1)
