"""Coinbase Exchange's messages and rows, and how a ticker becomes a quote.

Source of the format: Coinbase Exchange documentation, "WebSocket channels" and "REST: products, currencies".
Unknown fields are ignored everywhere, unknown message types by `decode`.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

import msgspec
from msgspec import Struct

from quotecast.market.quotes import CryptoQuote

Number = str | float | None

#: How far ahead of ours the upstream's clock may be.
MAX_SKEW: Final = timedelta(minutes=1)

_NUMBER: Final = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,3})?")
# No market trades beyond these, and within them no quotient overflows a float.
_LEAST: Final = Decimal("1e-18")
_MOST: Final = Decimal("1e18")


class Product(Struct, frozen=True):
    """A row of `GET /products`."""

    id: str
    status: str = "online"
    trading_disabled: bool = False

    @property
    def tradable(self) -> bool:
        """Whether the product trades now."""
        return self.status == "online" and not self.trading_disabled


class Currency(Struct, frozen=True):
    """A row of `GET /currencies`."""

    id: str
    name: str | None = None


class Channel(Struct, frozen=True):
    """One channel of a subscription, in both directions."""

    name: str
    product_ids: Sequence[str] = ()


class Subscribe(Struct, frozen=True, tag_field="type", tag="subscribe"):
    """Adds products to channels; the only message a client sends, within 5 s of connecting."""

    product_ids: Sequence[str]
    channels: Sequence[str] = ("ticker", "heartbeat")


class Subscriptions(Struct, frozen=True, tag_field="type", tag="subscriptions"):
    """The answer to a subscribe: the full set as it now stands."""

    channels: Sequence[Channel] = ()

    def products(self, channel: str) -> set[str]:
        """The products subscribed on `channel`."""
        return {product for entry in self.channels if entry.name == channel for product in entry.product_ids}


class Heartbeat(Struct, frozen=True, tag_field="type", tag="heartbeat"):
    """Once a second and product, trades or not."""

    product_id: str = ""


class Failure(Struct, frozen=True, tag_field="type", tag="error"):
    """The upstream's complaint; it closes the connection after most of them."""

    message: str = ""
    reason: str = ""


class Ticker(Struct, frozen=True, tag_field="type", tag="ticker"):
    """The state after a trade: last price, best bid and ask, and the 24 hours before.

    Numbers come as decimal strings. `sequence` grows with time within a product.
    """

    product_id: str
    price: Number = None
    sequence: int = 0
    time: str | None = None
    open_24h: Number = None
    low_24h: Number = None
    high_24h: Number = None
    volume_24h: Number = None
    best_bid: Number = None
    best_ask: Number = None

    def to_quote(self, pair: str, name: str, received: float) -> CryptoQuote | None:
        """The quote of `pair`, received at that Unix time; None without a price above zero.

        A field that is no finite number above zero (of the volume: not below) is None. A time that is
        missing, unreadable or more than a minute ahead of `received` is replaced by `received`; below that
        the two clocks merely differ, as they do by milliseconds in every recording.
        """
        price = _positive(self.price)
        if price is None:
            return None
        opened = _positive(self.open_24h)
        return CryptoQuote(
            provider="coinbase",
            exchange="Coinbase",
            ticker=pair,
            name=name,
            symbol=pair.partition("/")[0],
            price=float(price),
            bid=_float(_positive(self.best_bid)),
            ask=_float(_positive(self.best_ask)),
            # Subtracted as decimals: as floats, 0.1127 would read 0.11269999999999847.
            change=_float(None if opened is None else price - opened),
            change_percent=None if opened is None else round(float((price / opened - 1) * 100), 4),
            open=_float(opened),
            high=_float(_positive(self.high_24h)),
            low=_float(_positive(self.low_24h)),
            volume=_float(_number(self.volume_24h)),
            timestamp=_timestamp(self.time, received),
        )


class _Kind(Struct, frozen=True):
    type: str


Message = Ticker | Subscriptions | Heartbeat | Failure

_KNOWN: Final = frozenset({"ticker", "subscriptions", "heartbeat", "error"})
_message: Final[msgspec.json.Decoder[Message]] = msgspec.json.Decoder(Message)
_kind: Final = msgspec.json.Decoder(_Kind)


def decode(raw: bytes | str) -> Message | None:
    """One message; None for a type nobody here needs, such as `match`.

    Raises ValueError for what is no JSON, or no message of its type.
    """
    try:
        return _decode(raw)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _decode(raw: bytes | str) -> Message | None:
    try:
        return _message.decode(raw)
    except msgspec.ValidationError:
        if _kind.decode(raw).type in _KNOWN:
            raise
        return None


def subscribe(products: Sequence[str]) -> bytes:
    """The JSON that asks for the tickers and heartbeats of `products`."""
    return msgspec.json.encode(Subscribe(products))


def _number(value: Number) -> Decimal | None:
    """A decimal from zero to 10^18, exactly as written."""
    text = str(value)
    if not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    return number if number <= _MOST else None


def _positive(value: Number) -> Decimal | None:
    number = _number(value)
    return None if number is None or number < _LEAST else number


def _float(number: Decimal | None) -> float | None:
    return None if number is None else float(number)


def _timestamp(text: str | None, received: float) -> str:
    here = datetime.fromtimestamp(received, UTC)
    told = _instant(text)
    instant = here if told is None or told - here > MAX_SKEW else told
    return instant.isoformat().replace("+00:00", "Z")


def _instant(text: str | None) -> datetime | None:
    try:
        told = datetime.fromisoformat(text or "")
        return told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
