"""Bars of Coinbase Exchange, by REST."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Final

import httpx
from msgspec import Raw

from quotecast.errors import SymbolNotFound, UpstreamRefused
from quotecast.market.aggregate import aggregate_bars
from quotecast.market.bars import Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import UTC_DAYS
from quotecast.providers.coinbase import wire
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.transport.fetch import get_json, open_client, segment
from quotecast.providers.transport.pace import Pace
from quotecast.providers.validation.candles import believable_bars
from quotecast.providers.validation.rows import decode_rows

ROWS_PER_CALL: Final = 300
#: Most rows of one history: sixteen years of days, and more than a thousand of any shorter bars.
MAX_ROWS: Final = 6000

_DAY: Final = 86_400
#: Seconds of the upstream's rows behind each interval; it has no rows of four hours, nor of weeks.
_GRANULARITIES: Final[dict[Interval, int]] = {
    "1m": 60,
    "5m": 300,
    "15m": 900,
    "30m": 900,
    "1h": 3600,
    "4h": 3600,
    "D": _DAY,
    "W": _DAY,
    "M": _DAY,
}


class CoinbaseHistory:
    """Bars of the products of Coinbase Exchange, of at most six thousand of its rows."""

    name = "coinbase"

    def __init__(self, url: str, pace: Pace | None = None) -> None:
        self._url = url
        self._pace = pace or Pace()
        self._refused = RefusalCounter(self.name)

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """See HistoryProvider; without bars older than the limit."""
        granularity = _GRANULARITIES[interval]
        start = max(start, end - timedelta(seconds=granularity * MAX_ROWS))
        first = opening_of_bar(UTC_DAYS, interval, start) or start
        path = f"/products/{segment(wire.product_id(symbol))}/candles"
        rows = await self._rows(path, granularity, int(first.timestamp()), ceil(end.timestamp()))
        bars = believable_bars((row.to_bar() for row in rows.values()), self._refused)
        return aggregate_bars(bars, interval, UTC_DAYS)

    async def _rows(
        self, path: str, granularity: int, first: int, end: int
    ) -> dict[int, wire.CoinbaseCandle]:
        """Returns the rows that open from `first` to before `end`, by the second of their opening."""
        rows: dict[int, wire.CoinbaseCandle] = {}
        newest = (end - 1) // granularity * granularity
        async with open_client(self._url) as client:
            # The newest page comes first.
            while newest >= first:
                oldest = max(first, newest - (ROWS_PER_CALL - 1) * granularity)
                await self._pace.turn()
                span = {"start": _iso_time(oldest), "end": _iso_time(newest)}
                try:
                    page = await get_json(
                        client, path, list[Raw], params={"granularity": str(granularity), **span}
                    )
                except UpstreamRefused as error:
                    if error.upstream_status == httpx.codes.NOT_FOUND:
                        raise SymbolNotFound from error
                    raise
                # The upstream may send rows outside the request.
                candles = decode_rows(page, wire.CoinbaseCandle, self._refused)
                rows |= {row.time: row for row in candles if first <= row.time < end}
                newest = oldest - granularity
        return rows


def _iso_time(seconds: int) -> str:
    return bar_time(datetime.fromtimestamp(seconds, UTC))
