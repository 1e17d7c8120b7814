"""An invented order book: a hundred prices on each side, next to the best bid and ask.

The quantity at a price never changes, so the book is a pure function of bid and ask.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from quotecast.simulation.vendors.binance.rows import quantity
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Price

#: Milliseconds between two books.
BOOK_MS: Final = 100
#: Prices on each side.
DEPTH: Final = 100

Levels = list[tuple[str, str]]


class Book(Struct, frozen=True):
    """An order book; prices are in ticks, and `number` is that of the newest trade."""

    number: int
    time: int
    bid: int
    ask: int
    decimals: int

    def bids(self, depth: int = DEPTH) -> range:
        """Returns the prices of the bids, the best first."""
        return range(self.bid, max(self.bid - min(depth, DEPTH), 0), -1)

    def asks(self, depth: int = DEPTH) -> range:
        """Returns the prices of the asks, the best first."""
        return range(self.ask, self.ask + min(depth, DEPTH))

    def levels(self, prices: Iterable[int], *, gone: Iterable[int] = ()) -> Levels:
        """Returns prices with their quantities, and those that are gone with zero."""
        scale = 10**self.decimals
        return [
            *((f"{price / scale:.8f}", f"{quantity(price / scale):.8f}") for price in prices),
            *((f"{price / scale:.8f}", "0.00000000") for price in gone),
        ]


def book_of(price: Price, decimals: int) -> Book:
    """Returns the book around a price."""
    scale = 10**decimals
    return Book(price.number, price.time, round(price.bid * scale), round(price.ask * scale), decimals)


def snapshot(book: Book, depth: int) -> Row:
    """Returns the answer of `depth`, which is also the message of a partial depth stream."""
    return {
        "lastUpdateId": book.number,
        "bids": book.levels(book.bids(depth)),
        "asks": book.levels(book.asks(depth)),
    }


def difference(symbol: str, before: Sequence[Book], book: Book) -> Row:
    """Returns the event of `@depth` that leads to a book from any of those before it, the oldest first."""
    return {
        "e": "depthUpdate",
        "E": book.time,
        "s": symbol,
        "U": before[0].number + 1,
        "u": book.number,
        "b": _changes(book, [each.bids() for each in before], book.bids()),
        "a": _changes(book, [each.asks() for each in before], book.asks()),
    }


def _changes(book: Book, before: Sequence[range], now: range) -> Levels:
    gone = {price for prices in before for price in prices if price not in now}
    new = [price for price in now if not all(price in prices for prices in before)]
    return book.levels(new, gone=sorted(gone))
