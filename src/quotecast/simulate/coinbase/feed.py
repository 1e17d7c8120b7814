"""The numbers of each product's feed, and the books that clients know of it."""

from quotecast.simulate.coinbase.book import Book, book_of
from quotecast.simulate.coinbase.messages import Numbered, ProductWriter
from quotecast.simulate.coinbase.source import MarketSource
from quotecast.simulate.market import Price


class ProductFeed:
    """One product's feed: its newest numbered price, and the last book of each channel."""

    def __init__(self, source: MarketSource, product: str) -> None:
        self.product = product
        self.writer = ProductWriter(product, source.decimals(product))
        self.newest: Numbered | None = None
        #: Whether a batch has to tell a newer price.
        self.is_due = False
        self._source = source
        self._books: dict[str, Book] = {}

    def number(self, price: Price) -> Numbered:
        """Returns a new price with the next number; the first has that of its trade."""
        sequence = self.newest.sequence + 1 if self.newest else price.number
        self.newest = Numbered(sequence, price)
        self.is_due = True
        return self.newest

    def current(self, moment: int, *, is_followed: bool) -> Numbered:
        """Returns the newest price; without followers nobody has numbered that of the moment yet."""
        if self.newest is None or not is_followed:
            price = self._source.price(self.product, moment)
            if self.newest is None or price.number > self.newest.price.number:
                return self.number(price)
        return self.newest

    def ticker(self, newest: Numbered) -> bytes:
        """Returns the ticker of a price."""
        return self.writer.ticker(newest, self._source.month_volume(self.product))

    def first(self, channel: str, newest: Numbered, *, is_new: bool) -> bytes | None:
        """Returns what a subscription of a channel begins with; `is_new` says that it is the only one."""
        if channel in ("ticker", "ticker_batch"):
            return self.ticker(newest)
        if channel == "matches":
            return self.writer.match(newest, "last_match")
        if channel in ("level2", "level2_batch"):
            if is_new or channel not in self._books:
                self._books[channel] = book_of(newest.price, self.writer.decimals)
            # Later clients get the book that updates have reached.
            return self.writer.snapshot(self._books[channel], newest.price.time)
        return None

    def update(self, channel: str, newest: Numbered) -> bytes | None:
        """Returns what a price changes in the book that a channel's clients know; None for no change."""
        after = book_of(newest.price, self.writer.decimals)
        before = self._books.get(channel, after)
        self._books[channel] = after
        return None if before == after else self.writer.update(before, after, newest.price.time)
