"""Messages of the feed of one product, written without a detour over dictionaries (hot path).

Source of the format: Coinbase Exchange documentation, "WebSocket channels".
"""

from typing import Final

import msgspec
from msgspec import Struct

from quotecast.simulation.vendors.coinbase.book import Book, best_size, changes
from quotecast.simulation.vendors.coinbase.rows import iso_time, maker_side, taker_side, trade_time
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


def _order_id(number: int, salt: int) -> str:
    """Returns a made-up id in the form of a UUID."""
    digits = f"{number * 0x9E3779B97F4A7C15F39CC0605CEDC835 * (2 * salt + 1) % (1 << 128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
