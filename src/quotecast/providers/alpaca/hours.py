"""Whether the US stock exchanges are open, as Alpaca says: closings that no calendar foresees are in it."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Final

from msgspec import Raw

from quotecast.market.sessions import TradingDay
from quotecast.providers.alpaca.rest import Rest
from quotecast.providers.alpaca.rest_wire import CalendarRow, Clock
from quotecast.providers.base import Admission, unlimited
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows

#: How long an answer of the clock is believed.
BELIEVED_SECONDS: Final = 60.0


class AlpacaClock:
    """Alpaca's clock and calendar; `clock` is ours, in Unix time."""

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
        self._refused = RefusalCounter("alpaca")
        self._told: Clock | None = None
        self._told_at = 0.0

    def statistics(self) -> Mapping[str, int]:
        """How many days of the calendar were refused since the start, by reason."""
        return self._refused.by_reason()

    async def answer(self) -> Clock:
        """Returns whether the exchange is open, asked for at most once a minute. Raises UpstreamError."""
        now = self._clock()
        if self._told is None or not 0 <= now - self._told_at < BELIEVED_SECONDS:
            self._told = await self._rest.get_once("/v2/clock", Clock)
            self._told_at = now
        return self._told

    async def calendar(self, first: date, last: date) -> Sequence[TradingDay]:
        """The trading days from `first` to `last`, both included, ascending. Raises UpstreamError."""
        params = {"start": first.isoformat(), "end": last.isoformat()}
        rows = decode_rows(
            await self._rest.get_once("/v2/calendar", list[Raw], params), CalendarRow, self._refused
        )
        days = [row.to_day() for row in rows]
        self._refused.count("unreadable", days.count(None))
        found = {day.date: day for day in days if day and first <= day.date <= last}
        return [found[each] for each in sorted(found)]
