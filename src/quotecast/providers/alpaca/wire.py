"""Alpaca's snapshots and stream messages of US stocks, and what of them we keep.

Source of the format: Alpaca's OpenAPI document of market data, `/v2/stocks/snapshots`, and its
documentation "Real-time stock data". Unknown fields are ignored everywhere, unknown messages by `message`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from quotecast.market.sessions import NEW_YORK, trading_day
from quotecast.providers.alpaca.day_bar import MINUTE, DayBar, MinuteBar
from quotecast.providers.alpaca.stock_state import LastPrice
from quotecast.providers.validation.values import Number, instant, number, positive

#: Conditions of trades that do not set the last price. Of the tapes' tables ("updates last: no"): C cash,
#: N next day, R seller's option, H price variation, I odd lot, V contingent, W average price, 4 derivatively
#: priced, 7 qualified contingent, M and Q official close and open, which repeat a trade; and G, P, U, Z,
#: which report an earlier trade late. T, before and after hours, does set it: those sessions know no other.
CONDITIONS_WITHOUT_LAST_PRICE: Final = frozenset("CNRHIVW47MQGPUZ")
#: On these tapes B is an average price; on that of NASDAQ it is a bunched trade, which sets the price.
TAPES_WITH_AVERAGE_B: Final = frozenset("AB")

#: Reads a price; None when there is none to be believed.
PriceReader = Callable[[Number], Decimal | None]

_T = TypeVar("_T")

_INVALID_SYMBOL: Final = re.compile(r"invalid symbols?: *([^\s\"',]+)")


class Trade(Struct, frozen=True, tag_field="T", tag="t"):
    """A trade, with its symbol when it is streamed."""

    symbol: str = field(default="", name="S")
    price: Number = field(default=None, name="p")
    time: str | None = field(default=None, name="t")
    conditions: Sequence[str] | None = field(default=None, name="c")
    tape: str | None = field(default=None, name="z")
    #: What became of it: `canceled`, `incorrect` or `corrected`.
    update: str | None = field(default=None, name="u")

    @property
    def is_valid(self) -> bool:
        """Whether it was neither canceled nor found wrong."""
        return self.update not in {"canceled", "incorrect"}

    @property
    def sets_price(self) -> bool:
        """Whether the trade's price is the last price."""
        conditions = {*(self.conditions or ())}
        average = "B" in conditions and self.tape in TAPES_WITH_AVERAGE_B
        return self.is_valid and not average and not conditions & CONDITIONS_WITHOUT_LAST_PRICE

    def to_last_price(self) -> LastPrice | None:
        """Its price; None when that or its time cannot be read."""
        return _last_price(self.price, instant(self.time))


class AlpacaBar(Struct, frozen=True, tag_field="T", tag="b"):
    """A minute or a day, with its symbol when it is streamed; `time` is when it began."""

    symbol: str = field(default="", name="S")
    open: Number = field(default=None, name="o")
    high: Number = field(default=None, name="h")
    low: Number = field(default=None, name="l")
    close: Number = field(default=None, name="c")
    volume: Number = field(default=None, name="v")
    time: str | None = field(default=None, name="t")

    def to_minute_bar(self, read: PriceReader) -> MinuteBar | None:
        """The minute it tells of, its prices as `read` has them; None when its time cannot be read."""
        start = instant(self.time)
        if start is None:
            return None
        return MinuteBar(start, read(self.high), read(self.low), read(self.close), number(self.volume))

    def to_day_bar(self, read: PriceReader, minute: "AlpacaBar | None") -> DayBar | None:
        """The day it tells of, up to `minute`; prices and None as for `to_minute_bar`."""
        if self.trading_date is None:
            return None
        return DayBar(
            date=self.trading_date,
            open=read(self.open),
            high=read(self.high),
            low=read(self.low),
            close=read(self.close),
            volume=number(self.volume),
            minute_start=instant(minute.time) if minute else None,
            minute_volume=number(minute.volume) if minute else None,
        )

    @property
    def trading_date(self) -> date | None:
        """The date in New York on which it began; None when its time cannot be read."""
        start = instant(self.time)
        return start.astimezone(NEW_YORK).date() if start else None

    def minute_close(self) -> LastPrice | None:
        """A minute's last price, as of the minute's end."""
        start = instant(self.time)
        return _last_price(self.close, start + MINUTE if start else None)

    def day_close(self) -> LastPrice | None:
        """A day's last price, as of the exchange's close."""
        hours = trading_day(self.trading_date) if self.trading_date else None
        return _last_price(self.close, hours.close if hours else None)


class StockSnapshot(Struct, frozen=True, rename="camel"):
    """What `GET /v2/stocks/snapshots` tells of one stock; any part may be missing."""

    latest_trade: Trade | None = None
    minute_bar: AlpacaBar | None = None
    daily_bar: AlpacaBar | None = None
    prev_daily_bar: AlpacaBar | None = None

    @property
    def has_unreadable_trade(self) -> bool:
        """Whether the latest trade cannot be read."""
        return self.latest_trade is not None and self.latest_trade.to_last_price() is None

    def to_last_price(self) -> LastPrice | None:
        """The last price, from the newest part that has one; None when none has."""
        return next((last for last in self._last_prices() if last), None)

    def _last_prices(self) -> Iterator[LastPrice | None]:
        if self.latest_trade and self.latest_trade.is_valid:
            yield self.latest_trade.to_last_price()
        if self.minute_bar:
            yield self.minute_bar.minute_close()
        if self.daily_bar:
            yield self.daily_bar.day_close()
        if self.prev_daily_bar:
            yield self.prev_daily_bar.day_close()


class Success(Struct, frozen=True, tag_field="T", tag="success"):
    """`connected`, then `authenticated`."""

    message: str = field(default="", name="msg")


class StreamError(Struct, frozen=True, tag_field="T", tag="error"):
    """The upstream's complaint, by code."""

    code: int = 0


class Subscription(Struct, frozen=True, tag_field="T", tag="subscription"):
    """The answer to a subscribe: the full set as it now is."""

    trades: Sequence[str] = ()
    bars: Sequence[str] = ()


class AlpacaSubscribe(Struct, frozen=True, tag_field="action", tag="subscribe"):
    """Adds to what the connection is sent; `*` is every symbol."""

    trades: Sequence[str]
    bars: Sequence[str] = ("*",)


class _MessageType(Struct, frozen=True):
    kind: str = field(default="", name="T")


#: What moves quotes, and what only the connection heeds.
MarketData = Trade | AlpacaBar
Message = MarketData | Success | StreamError | Subscription

_MESSAGE_TYPES: Final = frozenset({"t", "b", "success", "error", "subscription"})
_frame: Final = msgspec.json.Decoder(list[Raw])
_rows: Final = msgspec.json.Decoder(dict[str, Raw])
_message: Final[msgspec.json.Decoder[Message]] = msgspec.json.Decoder(Message)
_message_type: Final = msgspec.json.Decoder(_MessageType)
_snapshot: Final[msgspec.json.Decoder[StockSnapshot | None]] = msgspec.json.Decoder(StockSnapshot | None)


def decode_frame(raw: bytes) -> list[Raw]:
    """The messages of one frame of the stream, not yet read. Raises ValueError for what is no JSON array."""
    return _decode(_frame, raw)


def decode_snapshots(raw: bytes) -> dict[str, Raw]:
    """An answer's snapshots by ticker, not yet read. Raises ValueError for what is no JSON object."""
    return _decode(_rows, raw)


def decode_message(raw: Raw) -> Message | None:
    """One message; None for a type nobody here needs, such as a halt. Raises ValueError when unreadable."""
    try:
        return _message.decode(raw)
    except msgspec.ValidationError:
        if _message_type.decode(raw).kind in _MESSAGE_TYPES:
            raise
        return None


def market_data(messages: Iterable[Message]) -> list[MarketData]:
    """Those that move quotes."""
    return [message for message in messages if isinstance(message, Trade | AlpacaBar)]


def decode_snapshot(raw: Raw) -> StockSnapshot | None:
    """One row; None for a stock that the upstream does not know. Raises ValueError when unreadable."""
    return _snapshot.decode(raw)


def encode_subscribe(symbols: Sequence[str]) -> bytes:
    """The JSON that asks for the trades of `symbols` and the minute bars of all stocks."""
    return msgspec.json.encode(AlpacaSubscribe(symbols))


def invalid_symbol(excerpt: str) -> str | None:
    """The symbol that a refusal names as malformed; None when it names none."""
    named = _INVALID_SYMBOL.search(excerpt)
    return named and named[1]


def _last_price(price: Number, time: datetime | None) -> LastPrice | None:
    read = positive(price)
    return None if read is None or time is None else LastPrice(read, time)


def _decode(decoder: msgspec.json.Decoder[_T], raw: bytes) -> _T:
    try:
        return decoder.decode(raw)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
