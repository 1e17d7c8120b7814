"""Products, currencies and candles of the simulated market, for the protocol."""

from collections.abc import Iterator, Sequence
from typing import Final

from quotecast.market.bars import Interval
from quotecast.market.reference import asset_name
from quotecast.simulation.market.scenarios.base import Listed
from quotecast.simulation.market.trades import PAUSE
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.coinbase.rows import (
    CandleRow,
    Status,
    candle_row,
    currency_row,
    merge_rows,
    product_row,
    symbol_of,
)
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import DAY, Market, Price

#: The market's candles behind each granularity in seconds.
GRANULARITIES: Final[dict[int, Interval]] = {
    60: "1m",
    300: "5m",
    900: "15m",
    3600: "1h",
    21600: "1h",
    86400: "D",
}
_FIAT: Final = {"USD": "United States Dollar", "EUR": "Euro", "GBP": "British Pound", "TRY": "Turkish Lira"}
_MONTH_DAYS: Final = 30


class MarketSource:
    """The pairs of a market as Coinbase's products, at the time of a clock."""

    def __init__(self, market: Market, clock: MarketClock) -> None:
        self.market = market
        self.clock = clock
        #: Volumes of 30 days: the day that each was computed for, and the volume.
        self._months: dict[str, tuple[int, float]] = {}

    def products(self) -> Sequence[Row]:
        """Returns the rows of all products, delisted ones included."""
        return [row for symbol in self.market.pairs if (row := self._row(symbol))]

    def currencies(self) -> Sequence[Row]:
        """Returns the rows of all currencies."""
        pairs = self.market.pairs.values()
        codes = sorted({pair.base for pair in pairs} | {pair.quote for pair in pairs})
        return [
            currency_row(code, _FIAT.get(code) or asset_name(code) or code, is_fiat=code in _FIAT)
            for code in codes
        ]

    def product(self, product: str) -> Row | None:
        """Returns the row of a product; None for an unknown one."""
        return next((row for row in self.products() if row["id"] == product), None)

    def price(self, product: str, moment: int | None = None) -> Price:
        """Returns a product's newest trade at a moment, now by default."""
        return self.market.price(symbol_of(product), self.clock.moment() if moment is None else moment)

    def decimals(self, product: str) -> int:
        """Returns the number of decimals of a product's prices."""
        return self.market.decimals(symbol_of(product))

    def month_volume(self, product: str) -> float:
        """Returns the volume of the 30 days (UTC) before today."""
        today = self.clock.moment() // DAY
        known = self._months.get(product)
        if known is None or known[0] != today:
            start, end = (today - _MONTH_DAYS) * DAY, today * DAY - 1
            candles = self.market.bars(symbol_of(product), "D", start, end)
            known = self._months[product] = (today, sum(candle.volume for candle in candles))
        return known[1]

    def trades(self, product: str, before: int | None, after: int) -> Iterator[Price]:
        """Yields trades from the newest down: those with an id below `before` and above `after`."""
        symbol = symbol_of(product)
        moment = self.clock.moment()
        if before is not None:
            moment = min(moment, before * PAUSE - 1)
        while self.market.is_listed(symbol, moment):
            price = self.market.price(symbol, moment)
            if price.number <= after:
                return
            yield price
            moment = price.time - 1

    def candles(self, product: str, granularity: int, start: int, end: int) -> Sequence[CandleRow]:
        """Returns the candles that open between two Unix seconds, both included; newest first."""
        first = -(-start // granularity) * granularity
        last = min((end + granularity) * 1000, self.clock.moment())
        if first * 1000 > last:
            return []
        interval = GRANULARITIES[granularity]
        candles = self.market.bars(symbol_of(product), interval, first * 1000, last)
        rows = [candle_row(candle) for candle in candles]
        merged = merge_rows(rows, granularity)
        return [row for row in reversed(merged) if first <= row[0] <= end]

    def _row(self, symbol: str) -> Row | None:
        market, moment = self.market, self.clock.moment()
        status: Status = "online"
        if not market.is_listed(symbol, moment):
            changes = market.schedule.alterations(symbol)
            ends = [each.end for each in changes if isinstance(each, Listed) and each.end is not None]
            # A pair that is not listed yet has not ended.
            if not any(end <= moment for end in ends):
                return None
            status = "delisted"
        elif market.schedule.refusal(moment) == "maintenance":
            status = "offline"
        return product_row(
            market.pairs[symbol],
            market.decimals(symbol),
            status,
            is_disabled=status != "online" or market.is_halted(symbol, moment),
            message="Service is under maintenance" if status == "offline" else "",
        )
