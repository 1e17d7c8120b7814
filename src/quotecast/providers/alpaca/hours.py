"""Alpaca's clock of the US stock exchanges, which includes unscheduled closures."""

import time
from collections.abc import Callable
from typing import Final

from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.alpaca.rest_wire import MarketClock
from quotecast.providers.base import Admission, unlimited

#: Seconds for which a response of the clock is reused.
CACHE_SECONDS: Final = 60.0


class AlpacaClock:
    """Alpaca's market clock; `clock` returns our Unix time."""

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
        self._cached: MarketClock | None = None
        self._cached_at = 0.0

    async def market_clock(self) -> MarketClock:
        """Returns the exchange's clock, requested at most once a minute. Raises UpstreamError."""
        now = self._clock()
        if self._cached is None or not 0 <= now - self._cached_at < CACHE_SECONDS:
            self._cached = await self._rest.get_once("/v2/clock", MarketClock)
            self._cached_at = now
        return self._cached
