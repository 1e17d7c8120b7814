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


class _Tickers(Struct, frozen=True):
    symbol: Sequence[str]
    channel: str = "ticker"
    #: With every trade, as on the other venues: the best bid and ask alone change ten times as often.
    event_trigger: str = "trades"
    snapshot: bool = True


class _Candles(Struct, frozen=True):
    symbol: Sequence[str]
    channel: str = "ohlc"
    #: In minutes.
    interval: int = 1
    #: Without the hours before.
    snapshot: bool = False


class _SubscribeRequest(Struct, frozen=True):
    params: _Tickers | _Candles
    req_id: int
    method: str = "subscribe"


_message: Final = msgspec.json.Decoder(Message)
_status: Final = msgspec.json.Decoder(Status)
_ticker: Final = msgspec.json.Decoder(KrakenTicker)
_candle: Final = msgspec.json.Decoder(KrakenStreamedCandle)


def subscribe(symbols: Sequence[str], number: int) -> bytes:
    """Returns the request for tickers, as JSON; each symbol has its own answer."""
    return msgspec.json.encode(_SubscribeRequest(_Tickers(symbols), number))


def subscribe_candles(symbols: Sequence[str], number: int) -> bytes:
    """Returns the request for minutes, as JSON; each symbol has its own answer."""
    return msgspec.json.encode(_SubscribeRequest(_Candles(symbols), number))


def decode(raw: bytes) -> Message:
    """Returns one message. Raises ValueError for a malformed one."""
    try:
        return _message.decode(raw)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def ticker(row: Raw) -> KrakenTicker:
    """Returns a row of the channel `ticker`. Raises ValueError for a malformed row."""
    return _ticker.decode(row)


def candle(row: Raw) -> KrakenStreamedCandle:
    """Returns a row of the channel `ohlc`. Raises ValueError for a malformed row."""
    return _candle.decode(row)


def status(row: Raw) -> Status:
    """Returns a row of the channel `status`. Raises ValueError for a malformed row."""
    return _status.decode(row)
