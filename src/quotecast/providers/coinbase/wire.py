"""Coinbase Exchange's messages and rows.

Source of the format: Coinbase Exchange documentation, "WebSocket channels" and "REST: products, candles,
currencies". All structs ignore unknown fields, and `decode` ignores unknown
types of messages.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct, field

from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.numbers import Number, from_milliseconds, instant
from quotecast.providers.crypto import Figures, Venue
from quotecast.providers.validation.candles import to_bar

COINBASE: Final = Venue(name="coinbase", exchange="Coinbase")


class Product(Struct, frozen=True):
    """A row of `GET /products`."""

    id: str
    status: str = "online"
    trading_disabled: bool = False

    @property
    def tradable(self) -> bool:
        """Returns whether the product trades now."""
        return self.status == "online" and not self.trading_disabled


class Currency(Struct, frozen=True):
    """A row of `GET /currencies`."""

    id: str
    name: str | None = None


class CoinbaseCandle(Struct, frozen=True, array_like=True):
    """A row of `GET /products/{id}/candles`; `time` is its opening in seconds since 1970."""

    time: int
    low: Number
    high: Number
    open: Number
    close: Number
    volume: Number

    def to_bar(self) -> Bar | None:
        """Returns the bar; None for a row with an impossible time or invalid prices."""
        return to_bar(self, from_milliseconds(self.time * 1000))


class Subscriptions(Struct, frozen=True, tag_field="type", tag="subscriptions"):
    """The answer to a subscription."""


class Heartbeat(Struct, frozen=True, tag_field="type", tag="heartbeat"):
    """A sign of life, once a second and product, with or without trades."""


class CoinbaseFailure(Struct, frozen=True, tag_field="type", tag="error"):
    """An error message; the upstream closes the connection after most of them."""

    message: str = ""
    reason: str = ""


class CoinbaseTicker(Figures, frozen=True, kw_only=True, tag_field="type", tag="ticker"):
    """The state after a trade: last price, best bid and ask, and the 24 hours before.

    Numbers come as decimal strings. `sequence` grows with time within a product.
    """

    product_id: str
    sequence: int = 0
    time: str | None = None
    bid: Number = field(name="best_bid", default=None)
    ask: Number = field(name="best_ask", default=None)
    open: Number = field(name="open_24h", default=None)
    high: Number = field(name="high_24h", default=None)
    low: Number = field(name="low_24h", default=None)
    volume: Number = field(name="volume_24h", default=None)

    def made_at(self) -> datetime | None:
        """See Figures."""
        return instant(self.time)


class CoinbaseMatch(Struct, frozen=True, tag_field="type", tag="match"):
    """A trade. Numbers come as decimal strings."""

    product_id: str
    price: Number = None
    size: Number = None
    time: str | None = None


class _TypedMessage(Struct, frozen=True):
    type: str


Message = CoinbaseTicker | CoinbaseMatch | Subscriptions | Heartbeat | CoinbaseFailure

_KNOWN: Final = frozenset({"ticker", "match", "subscriptions", "heartbeat", "error"})
_message: Final[msgspec.json.Decoder[Message]] = msgspec.json.Decoder(Message)
_kind: Final = msgspec.json.Decoder(_TypedMessage)


def decode(raw: bytes | str) -> Message | None:
    """Returns one message; None for a type without use here, such as `last_match`.

    Raises ValueError or RecursionError for malformed JSON, and for a message without the fields of its type.
    """
    try:
        return _message.decode(raw)
    except msgspec.ValidationError:
        if _kind.decode(raw).type in _KNOWN:
            raise
        return None


def subscribe(products: Sequence[str]) -> bytes:
    """Returns the request for the tickers, trades and heartbeats of `products`, as JSON.

    It is the only message of a client, due within 5 s of connecting.
    """
    channels = "ticker", "matches", "heartbeat"
    return msgspec.json.encode({"type": "subscribe", "product_ids": products, "channels": channels})


def product_id(text: str) -> str:
    """Returns the product id of a pair in any spelling; other text unchanged."""
    pair = canonical_symbol(Feed.CRYPTO, text)
    return pair.replace("/", "-") if pair else text
