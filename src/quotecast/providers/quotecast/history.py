"""Bars of an origin, by REST: those of its upstreams, or those that it made of its own quotes."""

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil, isfinite
from typing import Final

from msgspec import Struct

from quotecast.errors import UpstreamError
from quotecast.market.aggregate import aggregate_bars
from quotecast.market.bars import Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import Calendar
from quotecast.market.feeds import Feed, calendar_of
from quotecast.providers.quotecast.rest import OriginRest
from quotecast.providers.transport.fetch import segment

#: The origin's largest page, and more pages than its longest history of one call has.
PAGE_BARS: Final = 1000
MAX_PAGES: Final = 24

#: The group of routes of each feed, and their parameter of the interval.
_ROUTES: Final = {
    Feed.STOCKS: ("market", "interval"),
    Feed.CRYPTO: ("crypto", "timeframe"),
    Feed.DOVIZ: ("doviz", "timeframe"),
}


class _Row(Struct, frozen=True):
    """A bar; the volume of currencies is null."""

    time: str
    open: float
    high: float
    low: float
    close: float
    volume: float | None = None

    def to_bar(self) -> Bar:
        return Bar(self.time, self.open, self.high, self.low, self.close, self.volume or 0.0)

    def is_sound(self) -> bool:
        prices = self.open, self.high, self.low, self.close
        return all(isfinite(price) and price > 0 for price in prices) and self.low <= self.high


class OriginHistory:
    """Bars of one feed's instruments at the origin."""

    name = "quotecast"

    def __init__(self, rest: OriginRest, feed: Feed) -> None:
        self._rest = rest
        self._feed = feed
        # With the hours of a venue that never closes: no bar of the exchange opens in the hours between.
        self._calendar: Calendar = calendar_of(feed, always_open=True, unscheduled=None)

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """See HistoryProvider."""
        first = opening_of_bar(self._calendar, interval, start) or start
        # The routes of stocks have no bars of half an hour, which begin with those of a quarter.
        halved = self._feed is Feed.STOCKS and interval == "30m"
        bars = await self._read(symbol, "15m" if halved else interval, first, end)
        return aggregate_bars(bars, interval, self._calendar) if halved else bars

    async def _read(self, symbol: str, interval: Interval, first: datetime, end: datetime) -> list[Bar]:
        group, parameter = _ROUTES[self._feed]
        path = f"/api/{group}/bars/{segment(symbol)}"
        params = {
            parameter: interval,
            "start": str(max(0, ceil(first.timestamp()))),
            "end": str(ceil(end.timestamp())),
            "limit": str(PAGE_BARS),
        }
        limit, bars = bar_time(end.astimezone(UTC)), list[Bar]()
        async with self._rest.open() as client:
            for _ in range(MAX_PAGES):
                rows, headers = await self._rest.read_page(client, path, list[_Row], params)
                for row in rows:
                    if not row.is_sound() or (bars and row.time <= bars[-1].time):
                        raise UpstreamError(f"origin{path}: unsound bars")
                    # A second that has begun is asked for as a whole.
                    if row.time <= limit:
                        bars.append(row.to_bar())
                if "x-next-page" not in headers:
                    return bars
                params["page"] = headers["x-next-page"]
        raise UpstreamError(f"origin{path}: more than {MAX_PAGES} pages")
