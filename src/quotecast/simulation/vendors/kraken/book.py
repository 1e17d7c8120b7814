"""A made-up order book around the market's bid and ask, and Kraken's checksum of it.

Quantities depend on the price level alone, so that few levels change when the price moves.

Source: Kraken documentation, "Spot WebSockets: Book Checksum".
"""

from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import Final
from zlib import crc32

from msgspec import Struct

from quotecast.simulation.vendors.kraken.rows import LOT_DECIMALS, text
from quotecast.simulation.vendors.market import Price

#: Levels that the checksum covers on each side.
_CHECKED: Final = 10
#: Levels between two prices that differ by one part in that number.
_LEVELS: Final = 20_000

#: Quantity by price in ticks.
Side = Mapping[int, float]


class Book(Struct, frozen=True):
    """Levels of bids and asks, the best first; `decimals` are those of the prices."""

    decimals: int
    bids: Side
    asks: Side

    def price(self, tick: int) -> float:
        """Returns the price of a level."""
        return tick / float(10**self.decimals)

    def checksum(self) -> int:
        """Returns the CRC32 of the ten best asks and bids."""
        best = chain([*self.asks.items()][:_CHECKED], [*self.bids.items()][:_CHECKED])
        digits = (f"{tick}{text(size, LOT_DECIMALS).replace('.', '').lstrip('0')}" for tick, size in best)
        return crc32("".join(digits).encode())


def book_of(price: Price, decimals: int, depth: int) -> Book:
    """Returns the book at a price."""
    bid, ask = round(price.bid * 10**decimals), round(price.ask * 10**decimals)
    # A step of a hundredth of a thousandth part of the price, in a power of ten: it rarely changes.
    step = 10 ** max(0, len(str(bid)) - len(str(_LEVELS)))
    below = range((bid - 1) // step * step, 0, -step)
    above = range((ask // step + 1) * step, (ask // step + 1 + depth) * step, step)
    return Book(decimals, _side(bid, below, depth), _side(ask, above, depth))


def changes(before: Side, after: Side) -> Side:
    """Returns the levels that differ; quantity 0 removes a level."""
    removed = dict.fromkeys(before.keys() - after.keys(), 0.0)
    changed = {tick: quantity for tick, quantity in after.items() if before.get(tick) != quantity}
    return removed | changed


def _side(best: int, others: Iterable[int], depth: int) -> Side:
    levels = chain([best], islice(others, depth - 1))
    return {tick: ((tick * 2_654_435_761 >> 13) % 997 + 3) / 100 for tick in levels}
