"""Kraken's messages.

Source of the format: Kraken documentation, "WebSockets API v2: ticker, heartbeat, status". Unknown fields
and channels are ignored everywhere.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final

import msgspec
from msgspec import Raw, Struct, field

from quotecast.providers.crypto import DayChange, Figures, Venue, change_from
from quotecast.providers.validation.values import Number, instant, signed_decimal

KRAKEN: Final = Venue(name="kraken", exchange="Kraken")


class Message(Struct, frozen=True):
    """Any message: an answer has a `method`, everything else a `channel`."""

    method: str | None = None
    channel: str | None = None
    #: Of an answer: whether what was asked for is granted, and why not.
    success: bool = False
    error: str = ""
    #: Of a refusal: the symbol that was asked for.
    symbol: str | None = None
    #: Rows are read one by one, so that a bad one costs itself.
    data: Sequence[Raw] = ()
    result: "Subscribed | None" = None


class Subscribed(Struct, frozen=True):
    """What an answer grants."""

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

    def made_at(self) -> datetime | None:
        """See Figures."""
        return instant(self.timestamp)


class _Parameters(Struct, frozen=True):
    symbol: Sequence[str]
    channel: str = "ticker"
    #: With every trade, as the other venues do: the best bid and ask alone move ten times as often.
    event_trigger: str = "trades"
    snapshot: bool = True


class _SubscribeRequest(Struct, frozen=True):
    params: _Parameters
    req_id: int
    method: str = "subscribe"


_message: Final = msgspec.json.Decoder(Message)
_status: Final = msgspec.json.Decoder(Status)
_ticker: Final = msgspec.json.Decoder(KrakenTicker)


def subscribe(symbols: Sequence[str], number: int) -> bytes:
    """The request for tickers; each symbol is answered by itself."""
    return msgspec.json.encode(_SubscribeRequest(_Parameters(symbols), number))


def decode(raw: bytes) -> Message:
    """One message. Raises ValueError for what is none."""
    try:
        return _message.decode(raw)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def ticker(row: Raw) -> KrakenTicker:
    """A row of the channel `ticker`. Raises ValueError for what is none."""
    return _ticker.decode(row)


def status(row: Raw) -> Status:
    """A row of the channel `status`. Raises ValueError for what is none."""
    return _status.decode(row)
