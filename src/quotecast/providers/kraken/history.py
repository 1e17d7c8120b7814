"""Bars of Kraken's pairs, by REST.

Source of the format: Kraken documentation, "REST API: Get OHLC Data".
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Raw, Struct

from quotecast.errors import SymbolNotFound, UpstreamError
from quotecast.market.aggregate import aggregated
from quotecast.market.bars import Bar, Interval, opening, stamp
from quotecast.market.calendars import UTC_DAYS
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.transport.fetch import get_json, open_client
from quotecast.providers.validation.candles import believable_bars, to_bar
from quotecast.providers.validation.rows import decode_rows
from quotecast.providers.validation.values import Number, from_milliseconds

#: The minutes of the upstream's rows that each interval is made of; its own weeks begin on Thursday.
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
#: What this interface calls the assets whose names differ from everyone's.
_NAMES: Final = {"BTC": "XBT", "DOGE": "XDG"}
#: What the upstream tells at most, however long the time asked for.
MOST_ROWS: Final = 720
#: How long to stay away after too many calls; the upstream does not say.
AWAY_SECONDS: Final = 15.0
#: How long a lockout lasts, which each further call makes longer.
LOCKOUT_SECONDS: Final = 900.0

#: How long to stay away, by words of the complaint.
_PAUSES: Final = {
    "Rate limit": AWAY_SECONDS,
    "Too many requests": AWAY_SECONDS,
    "Temporary lockout": LOCKOUT_SECONDS,
}


class _OhlcAnswer(Struct, frozen=True):
    error: Sequence[str] = ()
    #: Rows by the pair's name, and the time of the last one; of an error the upstream may write null.
    result: Mapping[str, list[Raw] | int] | None = None


class OhlcRow(Struct, frozen=True, array_like=True):
    """A row of `OHLC`, as far as it is of use; `time`, when it opened, in seconds since 1970."""

    time: int
    open: Number
    high: Number
    low: Number
    close: Number
    average: Number
    volume: Number

    def to_bar(self) -> Bar | None:
        """The bar; None for a time that cannot be, and as `candles.to_bar` says."""
        moment = from_milliseconds(self.time * 1000)
        return None if moment is None else to_bar(self, moment)


class KrakenHistory:
    """Bars of Kraken's pairs, as far back as the rows reach that the upstream tells of each length.

    It calls nothing while the upstream wants to be left alone. `clock` counts seconds from anywhere.
    """

    name = "kraken"

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._calm_from = clock()
        self._refused = RefusalCounter(self.name)

    def statistics(self) -> Mapping[str, int]:
        """How many rows were refused since the start, by reason."""
        return self._refused.by_reason()

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """See HistoryProvider; older bars are left out."""
        pair = canonical(Feed.CRYPTO, symbol)
        if pair is None:
            raise SymbolNotFound
        first = opening(UTC_DAYS, interval, start) or start
        rows = decode_rows(await self._rows(pair, _MINUTES[interval]), OhlcRow, self._refused)
        wanted = (row for row in rows if first.timestamp() <= row.time < end.timestamp())
        bars = believable_bars((row.to_bar() for row in wanted), self._refused)
        whole = _whole_from(rows)
        return [bar for bar in aggregated(bars, interval, UTC_DAYS) if bar.time >= whole]

    async def _rows(self, pair: str, minutes: int) -> list[Raw]:
        wait = self._calm_from - self._clock()
        if wait > 0:
            raise UpstreamError("Kraken wants to be left alone", retry_after=wait)
        params = {"pair": _pair_name(pair), "interval": str(minutes)}
        async with open_client(self._url) as client:
            answer = await get_json(client, "/0/public/OHLC", _OhlcAnswer, params=params)
        if answer.error:
            raise self._complaint("; ".join(answer.error))
        found = [rows for rows in (answer.result or {}).values() if isinstance(rows, list)]
        if answer.result and not found:
            raise UpstreamError("Kraken: unreadable: no rows")
        return found[0] if found else []

    def _complaint(self, text: str) -> SymbolNotFound | UpstreamError:
        if "Unknown asset pair" in text:
            return SymbolNotFound()
        away = next((seconds for words, seconds in _PAUSES.items() if words in text), None)
        self._calm_from = max(self._calm_from, self._clock() + (away or 0.0))
        return UpstreamError(f"Kraken: {text[:200]}", retry_after=away)


def _whole_from(rows: Sequence[OhlcRow]) -> str:
    """Since when longer bars made of these rows are whole: the oldest row of many may not be the first."""
    if len(rows) < MOST_ROWS:
        return ""
    oldest = from_milliseconds(min(row.time for row in rows) * 1000)
    return stamp(oldest) if oldest else ""


def _pair_name(pair: str) -> str:
    """What this interface calls a pair, such as `XBTUSD`."""
    return "".join(_NAMES.get(asset, asset) for asset in pair.split("/"))
