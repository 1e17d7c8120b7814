"""Binance spot's venues, its listing, its statistics of 24 hours and the messages of its streams.

Source of the format: Binance spot API documentation, "REST API" and "WebSocket streams". All structs ignore
unknown fields.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Raw, Struct, field

from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.numbers import Number, from_milliseconds, positive, signed_decimal
from quotecast.providers.crypto import DayChange, Figures, Venue, change_from
from quotecast.providers.validation.judgement import is_near

#: Milliseconds since 1970. The upstream may write 0 for an event without a time; such an event is malformed.
Milliseconds = Annotated[float, Meta(gt=0)]

#: Codes of unknown symbols: for invalid letters, and for one that the exchange does not have.
UNKNOWN_SYMBOL: Final = frozenset({-1100, -1121})


class BinanceVenue(Venue, frozen=True, kw_only=True):
    """An exchange with Binance's interface, and how that differs."""

    #: The parameters of `GET /api/v3/exchangeInfo`.
    listing: Mapping[str, str]
    #: A symbol with a ticker every second; None where only pings show that a connection lives.
    heartbeat: str | None


GLOBAL: Final = BinanceVenue(
    name="binance",
    exchange="Binance",
    # Without these parameters the answer is several times as long.
    listing={"permissions": "SPOT", "showPermissionSets": "false", "symbolStatus": "TRADING"},
    heartbeat="BTCUSDT",
)
#: Its documentation names fewer parameters, and minutes pass there without a trade of any pair.
US: Final = BinanceVenue(name="binance.us", exchange="Binance.US", listing={}, heartbeat=None)


def venue_of(url: str) -> BinanceVenue:
    """Returns the venue of a URL, by its host."""
    host = urlsplit(url).hostname or ""
    return US if f".{host}".endswith(".binance.us") else GLOBAL


class Symbol(Struct, frozen=True, rename="camel"):
    """A row of `GET /api/v3/exchangeInfo`."""

    symbol: str
    base_asset: str
    quote_asset: str
    status: str = ""
    is_spot_trading_allowed: bool = True

    @property
    def tradable(self) -> bool:
        """Returns whether the pair trades now."""
        return self.status == "TRADING" and self.is_spot_trading_allowed

    @property
    def pair(self) -> str | None:
        """Returns the key of the pair; None where a name has other characters than A-Z and digits."""
        return canonical_symbol(Feed.CRYPTO, f"{self.base_asset}/{self.quote_asset}")


class ExchangeInfo(Struct, frozen=True):
    """The answer of `GET /api/v3/exchangeInfo`; its rows are raw, so that a bad row spoils no other."""

    symbols: Sequence[Raw]


class PairStatistics(Figures, frozen=True, kw_only=True):
    """A pair's last price, best bid and ask, and the 24 hours before. Numbers come as decimal strings."""

    symbol: str
    change: Number = None
    change_percent: Number = None
    quote_volume: Number = None
    #: When the 24 hours end, and when the message was made, in milliseconds since 1970.
    close_time: Milliseconds | None = None
    event_time: Milliseconds | None = None

    def day_change(self, price: Decimal) -> DayChange:
        """See Figures; the change as Binance writes it, unless `open` contradicts it by a factor of ten."""
        change, percent = signed_decimal(self.change), signed_decimal(self.change_percent)
        opened = positive(self.open)
        if change is None or percent is None or change >= price or percent <= -100:
            return change_from(opened, price)
        if opened:
            before, now = float(opened), float(price)
            if not is_near(float(price - change), before) or not is_near(
                before * (1 + float(percent) / 100), now
            ):
                return change_from(opened, price)
        return DayChange(opened, change, float(percent))

    def made_at(self) -> datetime | None:
        """See Figures."""
        return from_milliseconds(self.close_time if self.event_time is None else self.event_time)


#: The names of the fields in a row of `GET /api/v3/ticker/24hr`.
_ROW: Final = {
    "symbol": "symbol",
    "price": "lastPrice",
    "change": "priceChange",
    "change_percent": "priceChangePercent",
    "bid": "bidPrice",
    "ask": "askPrice",
    "open": "openPrice",
    "high": "highPrice",
    "low": "lowPrice",
    "volume": "volume",
    "quote_volume": "quoteVolume",
    "close_time": "closeTime",
}
#: The names of the fields in an event of a `@ticker` stream.
_EVENT: Final = {
    "symbol": "s",
    "price": "c",
    "change": "p",
    "change_percent": "P",
    "bid": "b",
    "ask": "a",
    "open": "o",
    "high": "h",
    "low": "l",
    "volume": "v",
    "quote_volume": "q",
    "close_time": "C",
    "event_time": "E",
}


class StreamedKline(Struct, frozen=True):
    """The candle of a `KlineEvent`; a `closed` one does not change any more."""

    open_time: int = field(name="t")
    open: Number = field(name="o")
    high: Number = field(name="h")
    low: Number = field(name="l")
    close: Number = field(name="c")
    volume: Number = field(name="v")
    closed: bool = field(name="x")


class KlineEvent(Struct, frozen=True):
    """An event of a `@kline_1m` stream."""

    symbol: str = field(name="s")
    kline: StreamedKline = field(name="k")


class Acknowledged(Struct, frozen=True):
    """The answer to a successful request."""


class BinanceFailure(Struct, frozen=True):
    """The answer to a failed request."""

    code: int
    text: str


class Shutdown(Struct, frozen=True):
    """The upstream is about to end the connection."""


Message = PairStatistics | KlineEvent | Acknowledged | BinanceFailure | Shutdown


class _Complaint(Struct, frozen=True):
    """An error of a request, by REST or over a stream."""

    code: int = 0
    msg: str = ""


class _StreamFrame(Struct, frozen=True):
    """Any message: an event wrapped with the name of its stream, a bare event, or an answer."""

    data: Raw = Raw()
    e: str | None = None
    id: Raw = Raw()
    error: _Complaint | None = None
    code: int | None = None
    msg: str = ""


class _Event(Struct, frozen=True):
    # Not every event has a type.
    e: str | None = None


_object: Final = msgspec.json.Decoder(dict[str, Any])
_complaint: Final = msgspec.json.Decoder(_Complaint)
_frame: Final = msgspec.json.Decoder(_StreamFrame)
_event: Final = msgspec.json.Decoder(_Event)
_kline: Final = msgspec.json.Decoder(KlineEvent)
#: Decodes a symbol of the listing.
symbol: Final = msgspec.json.Decoder(Symbol).decode


def row(raw: bytes | Raw) -> PairStatistics:
    """Returns the statistics of a row of `GET /api/v3/ticker/24hr`. Raises ValueError for a malformed row."""
    return _statistics(raw, _ROW)


def event(raw: bytes | Raw) -> PairStatistics:
    """Returns the statistics of an event of a `@ticker` stream. Raises ValueError for a malformed one."""
    return _statistics(raw, _EVENT)


def decode(raw: bytes) -> Message | None:
    """Returns one message; None for one without use here, such as a `trade`.

    Raises ValueError or RecursionError for malformed JSON, and for a message without the fields of its type.
    """
    frame = _frame.decode(raw)
    if frame.error is not None:
        return BinanceFailure(frame.error.code, frame.error.msg)
    if frame.code is not None:
        return BinanceFailure(frame.code, frame.msg)
    body = bytes(frame.data)
    match _event.decode(body).e if body else frame.e:
        case "24hrTicker":
            return event(body or raw)
        case "kline":
            return _kline.decode(body or raw)
        case "serverShutdown":
            return Shutdown()
    return Acknowledged() if bytes(frame.id) and not body else None


def subscribe(streams: Sequence[str], number: int) -> bytes:
    """Returns the request for streams, as JSON; the answer has the same number."""
    return msgspec.json.encode({"method": "SUBSCRIBE", "params": streams, "id": number})


def unknown_symbol(body: str) -> bool:
    """Returns whether the body of an HTTP error says that the symbol is unknown."""
    try:
        return _complaint.decode(body).code in UNKNOWN_SYMBOL
    except ValueError:
        return False


def _statistics(raw: bytes | Raw, keys: Mapping[str, str]) -> PairStatistics:
    fields = _object.decode(raw)
    return msgspec.convert({name: fields[key] for name, key in keys.items() if key in fields}, PairStatistics)
