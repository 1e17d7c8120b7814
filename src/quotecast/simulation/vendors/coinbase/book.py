"""A made-up order book around the price: its sizes depend on the seconds and the levels alone."""

from typing import Final, NamedTuple

from quotecast.simulation.vendors.market import Price

#: Price levels of each side.
LEVELS: Final = 20

#: Sizes by price, the best first.
Levels = dict[str, str]


class Book(NamedTuple):
    """Both sides of a book."""

    bids: Levels
    asks: Levels


def book_of(price: Price, decimals: int) -> Book:
    """Returns the book at a price."""
    return Book(_levels(price, price.bid, -1, decimals), _levels(price, price.ask, 1, decimals))


def best_size(price: Price, best: float, decimals: int) -> float:
    """Returns the size of the best bid or ask."""
    return _size(round(best * 10**decimals), price.time // 1000)


def orders(level: str) -> int:
    """Returns a made-up number of orders of a level."""
    return sum(map(ord, level)) % 5 + 1


def changes(before: Book, after: Book) -> list[tuple[str, str, str]]:
    """Returns side, price and new size of each level that differs; a level that is gone has size 0."""
    return [
        *_changes("buy", before.bids, after.bids),
        *_changes("sell", before.asks, after.asks),
    ]


def _levels(price: Price, best: float, step: int, decimals: int) -> Levels:
    scale, second = 10**decimals, price.time // 1000
    first = round(best * scale)
    ticks = (first + step * level for level in range(LEVELS))
    return {f"{tick / scale:.{decimals}f}": f"{_size(tick, second):.8f}" for tick in ticks if tick > 0}


def _size(tick: int, second: int) -> float:
    return ((tick * 2_654_435_761 + second * 40_503 >> 8) % 500 + 1) / 100


def _changes(side: str, before: Levels, after: Levels) -> list[tuple[str, str, str]]:
    gone = [(side, level, "0.00000000") for level in before if level not in after]
    return gone + [(side, level, size) for level, size in after.items() if before.get(level) != size]
