"""The rows of the table: the last quote of each symbol, and when and where its price moved."""

from collections.abc import Iterable
from dataclasses import dataclass

from quotecast.commands.watching.names import Found, Quote
from quotecast_client import Feed, QuoteChange


@dataclass
class BoardRow:
    """One symbol.

    `direction` is 1 after a rise of the price, -1 after a fall; `moved_at` is the monotonic time of that.
    """

    feed: Feed
    symbol: str
    quote: Quote
    direction: int = 0
    moved_at: float = float("-inf")


class PriceBoard:
    """Rows in the order of the command line; symbols that join a group later follow."""

    def __init__(self, found: Iterable[Found]) -> None:
        self._rows = {(each.feed, each.symbol): BoardRow(*each) for each in found}

    @property
    def rows(self) -> list[BoardRow]:
        """The rows, from the top; the copy lets another thread change the board meanwhile."""
        return list(self._rows.values())

    def take(self, change: QuoteChange, now: float) -> bool:
        """Stores a change; returns whether the quote differs from the one before."""
        place = change.feed, change.symbol
        if change.removed:
            return self._rows.pop(place, None) is not None
        quote: Quote = {**change.quote}
        row = self._rows.setdefault(place, BoardRow(change.feed, change.symbol, {}))
        if quote == row.quote:
            return False
        before, price = row.quote.get("price"), quote["price"]
        if before is not None and price != before:
            row.direction = 1 if price > before else -1
            row.moved_at = now
        row.quote = quote
        return True
