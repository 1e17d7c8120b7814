"""Alpaca's clock and calendar of the US stock exchanges, which include unscheduled closures."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Final

from msgspec import Raw

from quotecast.market.sessions import TradingDay
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.alpaca.rest_wire import CalendarRow, MarketClock
from quotecast.providers.base import Admission, unlimited
from quotecast.providers.validation.rows import readable

#: Seconds for which a response of the clock is reused.
CACHE_SECONDS: Final = 60.0


class AlpacaClock:
    """Alpaca's market clock and trading calendar; `clock` returns our Unix time."""

    def __init__(
        self,
        trading_url: str,
        key: str,
        secret: str,
        *,
        admitted: Admission = unlimited,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rest = AlpacaRest(trading_url, key, secret, admitted, clock)
        self._clock = clock
        self._refused: Counter[str] = Counter()
        self._cached: MarketClock | None = None
        self._cached_at = 0.0

    def statistics(self) -> Mapping[str, int]:
        """How many days of the calendar were refused since the start, by reason."""
        return dict(+self._refused)

    async def market_clock(self) -> MarketClock:
        """Returns the exchange's clock, requested at most once a minute. Raises UpstreamError."""
        now = self._clock()
        if self._cached is None or not 0 <= now - self._cached_at < CACHE_SECONDS:
            self._cached = await self._rest.get_once("/v2/clock", MarketClock)
            self._cached_at = now
        return self._cached

    async def calendar(self, first: date, last: date) -> Sequence[TradingDay]:
        """Returns the trading days from `first` to `last`, both inclusive, ascending.

        Raises UpstreamError.
        """
        params = {"start": first.isoformat(), "end": last.isoformat()}
        rows = readable(
            await self._rest.get_once("/v2/calendar", list[Raw], params), CalendarRow, self._refused
        )
        days = [row.to_day() for row in rows]
        self._refused["unreadable"] += days.count(None)
        by_date = {day.date: day for day in days if day and first <= day.date <= last}
        return [by_date[each] for each in sorted(by_date)]
