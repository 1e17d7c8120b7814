"""Kraken's messages.

Source of the format: Kraken documentation, "WebSockets API v2: ticker, ohlc, heartbeat, status". All structs
ignore unknown fields, and readers ignore unknown channels.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final

import msgspec
from msgspec import Raw, Struct, field

from quotecast.market.numbers import Number, instant, signed_decimal
from quotecast.providers.crypto import DayChange, Figures, Venue, change_from

KRAKEN: Final = Venue(name="kraken", exchange="Kraken")


class Message(Struct, frozen=True):
    """Any message: an answer has a `method`, everything else a `channel`."""

    method: str | None = None
    channel: str | None = None
    #: Of an answer: whether the request succeeded, and why not.
    success: bool = False
    error: str = ""
    #: Of a failed request: its symbol.
    symbol: str | None = None
    #: Raw rows, so that a bad row spoils no other.
    data: Sequence[Raw] = ()
    result: "Subscribed | None" = None


class Subscribed(Struct, frozen=True):
    """The result of a successful request."""

    symbol: str


class Status(Struct, frozen=True):
    """A row of the channel `status`: `online`, `cancel_only`, `post_only` or `maintenance`."""

    system: str = ""


class KrakenTicker(Figures, frozen=True, kw_only=True):
    """A row of the channel `ticker`: last price, best bid and ask, and the 24 hours before, as numbers."""

    expected: ClassVar = ("bid", "ask", "high", "low", "volume")

    symbol: str
    price: Number = field(name="last", default=None)
    change: Number = None
    timestamp: str | None = None

    def day_change(self, price: Decimal) -> DayChange:
        """See Figures; the upstream counts its change from the price of 24 hours ago, which it leaves out."""
        change = signed_decimal(self.change)
        return DayChange() if change is None or change >= price else change_from(price - change, price)

    def unreadable(self) -> list[str]:
        """See Figures; without a change from a price above zero there is no `open`."""
        change, price = signed_decimal(self.change), signed_decimal(self.price)
        is_readable = change is not None and price is not None and change < price
        return super().unreadable() if is_readable else [*super().unreadable(), "open"]

    def made_at(self) -> datetime | None:
        """See Figures."""
        return instant(self.timestamp)


class KrakenStreamedCandle(Struct, frozen=True):
    """A row of the channel `ohlc`: a minute as far as it goes, after each trade; numbers."""

    symbol: str
    interval_begin: str
    open: Number = None
    high: Number = None
    low: Number = None
    close: Number = None
    volume: Number = None


#: Decode a message, and rows of its channel; all raise ValueError or RecursionError for malformed input.
decode: Final = msgspec.json.Decoder(Message).decode
status: Final = msgspec.json.Decoder(Status).decode
ticker: Final = msgspec.json.Decoder(KrakenTicker).decode
candle: Final = msgspec.json.Decoder(KrakenStreamedCandle).decode


def subscribe(symbols: Sequence[str], number: int) -> bytes:
    """Returns the request for tickers, as JSON; each symbol has its own answer."""
    # With every trade, as on the other venues: the best bid and ask alone change ten times as often.
    return _subscribe(number, symbol=symbols, channel="ticker", event_trigger="trades", snapshot=True)


def subscribe_candles(symbols: Sequence[str], number: int) -> bytes:
    """Returns the request for minutes, without the hours before, as JSON; each symbol has its own answer."""
    return _subscribe(number, symbol=symbols, channel="ohlc", interval=1, snapshot=False)


def _subscribe(number: int, **params: Sequence[str] | str | int) -> bytes:
    return msgspec.json.encode({"params": params, "req_id": number, "method": "subscribe"})
