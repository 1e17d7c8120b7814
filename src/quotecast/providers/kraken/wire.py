"""Kraken's messages, and how a ticker becomes a quote.

Source of the format: Kraken documentation, "WebSockets API v2: ticker, heartbeat, status". Unknown fields
and channels are ignored everywhere.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from quotecast.market.quotes import CryptoQuote
from quotecast.providers.validation.values import (
    Number,
    instant,
    number,
    percent_change,
    positive,
    signed,
    stamped,
    to_float,
)


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


class Ticker(Struct, frozen=True):
    """A row of the channel `ticker`: last price, best bid and ask, and the 24 hours before, as numbers."""

    symbol: str
    last: Number = None
    bid: Number = None
    ask: Number = None
    change: Number = None
    high: Number = None
    low: Number = None
    volume: Number = None
    timestamp: str | None = None

    def unreadable(self) -> list[str]:
        """The fields, by their names in a quote, whose value is no number or below zero."""
        fields = ("bid", "ask", "high", "low", "volume")
        return [name for name in fields if number(getattr(self, name)) is None]

    def to_quote(self, pair: str, name: str, received: float) -> CryptoQuote | None:
        """The quote of `pair`, received at that Unix time; None without a price above zero.

        `open` is the price of 24 hours ago, from which the upstream counts its change. A field that is no
        finite number above zero (of the volume: not below) is None. A time that is missing or in the future
        is replaced by `received`.
        """
        price, change = positive(self.last), signed(self.change)
        if price is None:
            return None
        opened = price - change if change is not None and change < price else None
        return CryptoQuote(
            provider="kraken",
            exchange="Kraken",
            ticker=pair,
            name=name,
            symbol=pair.partition("/")[0],
            price=float(price),
            bid=to_float(positive(self.bid)),
            ask=to_float(positive(self.ask)),
            change=None if opened is None else to_float(change),
            change_percent=None if opened is None else percent_change(price, opened),
            open=to_float(opened),
            high=to_float(positive(self.high)),
            low=to_float(positive(self.low)),
            volume=to_float(number(self.volume)),
            timestamp=stamped(instant(self.timestamp), received),
        )


class _Parameters(Struct, frozen=True):
    symbol: Sequence[str]
    channel: str = "ticker"
    #: With every trade, as the other venues do: the best bid and ask alone move ten times as often.
    event_trigger: str = "trades"
    snapshot: bool = True


class _Subscribe(Struct, frozen=True):
    params: _Parameters
    req_id: int
    method: str = "subscribe"


_message: Final = msgspec.json.Decoder(Message)
_status: Final = msgspec.json.Decoder(Status)
_ticker: Final = msgspec.json.Decoder(Ticker)


def subscribe(symbols: Sequence[str], number: int) -> bytes:
    """The request for tickers; each symbol is answered by itself."""
    return msgspec.json.encode(_Subscribe(_Parameters(symbols), number))


def decode(raw: bytes) -> Message:
    """One message. Raises ValueError for what is none."""
    try:
        return _message.decode(raw)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def ticker(row: Raw) -> Ticker:
    """A row of the channel `ticker`. Raises ValueError for what is none."""
    return _ticker.decode(row)


def status(row: Raw) -> Status:
    """A row of the channel `status`. Raises ValueError for what is none."""
    return _status.decode(row)
