"""Whether the US stock exchanges are open, as Alpaca says: closings that no calendar foresees are in it."""

import time
from collections.abc import Callable
from typing import Final

from quotecast.providers.alpaca.rest import Rest
from quotecast.providers.alpaca.rest_wire import Clock
from quotecast.providers.base import Admission, unlimited

#: How long an answer of the clock is believed.
BELIEVED_SECONDS: Final = 60.0


class AlpacaClock:
    """Alpaca's clock; `clock` is ours, in Unix time."""

    def __init__(
        self,
        trading_url: str,
        key: str,
        secret: str,
        *,
        admitted: Admission = unlimited,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rest = Rest(trading_url, key, secret, admitted, clock)
        self._clock = clock
        self._told: Clock | None = None
        self._told_at = 0.0

    async def answer(self) -> Clock:
        """Returns whether the exchange is open, asked for at most once a minute. Raises UpstreamError."""
        now = self._clock()
        if self._told is None or not 0 <= now - self._told_at < BELIEVED_SECONDS:
            self._told = await self._rest.get_once("/v2/clock", Clock)
            self._told_at = now
        return self._told
