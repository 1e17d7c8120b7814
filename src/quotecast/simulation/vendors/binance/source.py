"""The source of a simulated Binance's rows: the market."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from quotecast.simulation.market.trades import PAUSE
from quotecast.simulation.vendors.binance import rows
from quotecast.simulation.vendors.binance.book import BOOK_MS, Book, book_of
from quotecast.simulation.vendors.binance.intervals import LENGTHS, PARTS, next_opening, opening
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Market, Price, merge


class MarketSource:
    """Rows of Binance's symbols at a moment in Unix milliseconds: all pairs but those in US dollars."""

    #: No candle is older: Binance opened on 2017-08-17.
    opened = 1_502_928_000_000

    def __init__(self, market: Market) -> None:
        self._market = market
        self._names: Mapping[str, str] = {
            f"{pair.base}{pair.quote}": name for name, pair in market.pairs.items() if pair.quote != "USD"
        }

    def name_of(self, symbol: str) -> str | None:
        """Returns the market's name of a symbol; None for an unknown one."""
        return self._names.get(symbol)

    def is_listed(self, symbol: str, moment: int) -> bool:
        """Returns whether Binance lists a symbol."""
        name = self._names.get(symbol)
        return name is not None and self._market.is_listed(name, moment)

    def listing(self, moment: int) -> Sequence[Row]:
        """Returns the rows of `exchangeInfo`; a halted pair has the status HALT."""
        listed = [name for name in self._names.values() if self._market.is_listed(name, moment)]
        return [
            rows.listing_row(
                *name.split("/"),
                decimals=self._market.decimals(name),
                status="HALT" if self._market.is_halted(name, moment) else "TRADING",
            )
            for name in listed
        ]

    def symbols(self, moment: int) -> Sequence[str]:
        """Returns the symbols that have statistics."""
        return [symbol for symbol, name in self._names.items() if self._market.is_listed(name, moment)]

    def day_row(self, symbol: str, moment: int) -> Row:
        """Returns the 24-hour statistics of a listed symbol."""
        return rows.day_row(symbol, self.price(symbol, moment))

    def klines(self, symbol: str, interval: str, opens: tuple[int, int], moment: int) -> list[list[Any]]:
        """Returns the candles that open between two times (both inclusive), ascending, as of a moment."""
        start, end = max(opens[0], self.opened), opens[1]
        until = min(moment, next_opening(interval, opening(interval, end)))
        candles = self._market.bars(self._names[symbol], PARTS[interval], opening(interval, start), until)
        return [
            rows.kline_row(each, interval)
            for each in merge(candles, partial(opening, interval))
            if start <= each.start <= end and each.start <= moment
        ]

    def trades(self, symbol: str, last: int, count: int) -> list[Price]:
        """Returns `count` trades up to the one with that number, ascending; fewer where the symbol rested."""
        first = max(last - count + 1, self.opened // PAUSE)
        found = [self.price(symbol, number * PAUSE) for number in range(first, last + 1)]
        return [*{price.number: price for price in found}.values()]

    def book(self, symbol: str, moment: int) -> Book:
        """Returns the order book, which changes every tenth of a second."""
        name = self._names[symbol]
        return book_of(self._market.price(name, moment - moment % BOOK_MS), self._market.decimals(name))

    def price(self, symbol: str, moment: int) -> Price:
        """Returns the newest trade of a symbol at a moment."""
        return self._market.price(self._names[symbol], moment)


def newest_start(interval: str, limit: int, end: int) -> int:
    """Returns where the newest `limit` candles up to `end` begin, or earlier."""
    return opening(interval, end) - (limit - 1) * LENGTHS[interval]
