"""The feed of one product, and its messages, written without a detour over dictionaries (hot path).

Source of the format: Coinbase Exchange documentation, "WebSocket channels".
"""

from typing import Final

import msgspec
from msgspec import Struct

from quotecast.simulation.vendors.coinbase.book import Book, best_size, book_of, changes
from quotecast.simulation.vendors.coinbase.rows import iso_time, maker_side, taker_side, trade_time
from quotecast.simulation.vendors.coinbase.source import MarketSource
from quotecast.simulation.vendors.market import Price

_TICKER: Final = (
    '{"type":"ticker","sequence":%%d,"product_id":"%s","price":"%%s","open_24h":"%%.%df",'
    '"volume_24h":"%%.8f","low_24h":"%%.%df","high_24h":"%%.%df","volume_30d":"%%.8f","best_bid":"%%.%df",'
    '"best_bid_size":"%%.8f","best_ask":"%%.%df","best_ask_size":"%%.8f","side":"%%s","time":"%%s",'
    '"trade_id":%%d,"last_size":"%%.8f"}'
)
_MATCH: Final = (
    '{"type":"%%s","trade_id":%%d,"maker_order_id":"%%s","taker_order_id":"%%s","side":"%%s",'
    '"size":"%%.8f","price":"%%s","product_id":"%s","sequence":%%d,"time":"%%s"}'
)
_HEARTBEAT: Final = '{"type":"heartbeat","last_trade_id":%%d,"product_id":"%s","sequence":%%d,"time":"%%s"}'


class Numbered(Struct, frozen=True, gc=False):
    """A price and its number in the feed of its product, without gaps."""

    sequence: int
    price: Price


class ProductWriter:
    """Writes the messages of one product."""

    def __init__(self, product: str, decimals: int) -> None:
        self.product = product
        self.decimals = decimals
        self._price = f"%.{decimals}f"
        self._ticker = _TICKER % (product, *([decimals] * 5))
        self._match = _MATCH % product
        self._heartbeat = _HEARTBEAT % product

    def ticker(self, newest: Numbered, month_volume: float) -> bytes:
        """Returns the state after a trade; `month_volume` is that of 30 days."""
        price = newest.price
        text = self._ticker % (
            newest.sequence,
            self._text(price.price),
            price.open,
            price.volume,
            price.low,
            price.high,
            month_volume,
            price.bid,
            best_size(price, price.bid, self.decimals),
            price.ask,
            best_size(price, price.ask, self.decimals),
            taker_side(price.number),
            trade_time(price),
            price.number,
            price.size,
        )
        return text.encode()

    def match(self, newest: Numbered, kind: str = "match") -> bytes:
        """Returns a trade; `kind` is `last_match` for the one before a subscription."""
        price = newest.price
        text = self._match % (
            kind,
            price.number,
            _order_id(price.number, 1),
            _order_id(price.number, 2),
            maker_side(price.number),
            price.size,
            self._text(price.price),
            newest.sequence,
            trade_time(price),
        )
        return text.encode()

    def heartbeat(self, newest: Numbered, moment: int) -> bytes:
        """Returns a sign of life."""
        return (self._heartbeat % (newest.price.number, newest.sequence, iso_time(moment))).encode()

    def snapshot(self, book: Book, moment: int) -> bytes:
        """Returns a whole book."""
        return msgspec.json.encode(
            {
                "type": "snapshot",
                "product_id": self.product,
                "asks": [*book.asks.items()],
                "bids": [*book.bids.items()],
                "time": iso_time(moment),
            }
        )

    def update(self, before: Book, after: Book, moment: int) -> bytes:
        """Returns the levels that differ between two books."""
        return msgspec.json.encode(
            {
                "type": "l2update",
                "product_id": self.product,
                "changes": changes(before, after),
                "time": iso_time(moment),
            }
        )

    def _text(self, price: float) -> str:
        # A bad tick has no number; JSON knows none such either.
        return self._price % price if price == price else "NaN"  # noqa: PLR0124


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


def _order_id(number: int, salt: int) -> str:
    """Returns a made-up id in the form of a UUID."""
    digits = f"{number * 0x9E3779B97F4A7C15F39CC0605CEDC835 * (2 * salt + 1) % (1 << 128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
