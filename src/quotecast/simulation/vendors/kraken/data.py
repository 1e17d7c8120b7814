"""The data behind Kraken's rows: the simulated market, or the rows that a test gives."""

from collections.abc import Collection, Mapping
from typing import Final

from quotecast.market.bars import Interval
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.kraken.rows import ticker_row
from quotecast.simulation.vendors.market import DAY, Candle, Market, Price, merge

#: Most rows of an answer of `OHLC`.
MOST_CANDLES: Final = 720
MINUTE: Final = 60_000
#: Minutes of each interval; the last two are a week that begins on Thursday, and 15 days.
INTERVALS: Final[Mapping[int, Interval]] = {
    1: "1m",
    5: "5m",
    15: "15m",
    30: "30m",
    60: "1h",
    240: "4h",
    1440: "D",
    10_080: "D",
    21_600: "D",
}


class KrakenData:
    """The pairs of the simulated market at the time of its clock; times are in Unix milliseconds."""

    def __init__(self, market: Market, clock: MarketClock) -> None:
        self.market = market
        self.clock = clock

    def symbols(self) -> Collection[str]:
        """Returns the pairs that trade, such as `BTC/USD`."""
        moment = self.clock.moment()
        return [symbol for symbol in self.market.pairs if self.market.is_listed(symbol, moment)]

    def has(self, symbol: str) -> bool:
        """Returns whether a pair trades."""
        return symbol in self.market.pairs and self.market.is_listed(symbol, self.clock.moment())

    def status(self, symbol: str) -> str:
        """Returns the state of a pair: `online`, `cancel_only` in a halt, or `delisted`."""
        if not self.has(symbol):
            return "delisted"
        return "cancel_only" if self.market.is_halted(symbol, self.clock.moment()) else "online"

    def decimals(self, symbol: str) -> int:
        """Returns the decimals of a pair's prices."""
        return self.market.decimals(symbol)

    def price(self, symbol: str, moment: int) -> Price:
        """Returns a pair's newest trade at a moment."""
        return self.market.price(symbol, moment)

    def ticker(self, symbol: str) -> Row:
        """Returns the row of the channel `ticker`."""
        return ticker_row(self.market.price(symbol, self.clock.moment()))

    def candles(self, symbol: str, minutes: int, count: int = MOST_CANDLES) -> list[Candle]:
        """Returns the newest candles of an interval, the one in progress last."""
        length, now = minutes * MINUTE, self.clock.moment()
        start = now // length * length - (count - 1) * length
        found = self.market.bars(symbol, INTERVALS[minutes], start, now)
        return merge(found, lambda moment: moment // length * length) if length > DAY else found

    def trades(self, symbol: str, count: int, since: int | None = None) -> list[Price]:
        """Returns at most `count` trades, one for each second: the newest, or the first after `since`."""
        now = self.clock.moment()
        last = now // 1000 * 1000
        first = last - (count - 1) * 1000 if since is None else since // 1000 * 1000 + 1000
        moments = range(first, min(last, first + (count - 1) * 1000) + 1, 1000)
        return [self.market.price(symbol, moment) for moment in moments]
