"""Alpaca's snapshots and stream messages of US stocks, and their conversion to prices and bars.

Source of the format: Alpaca's OpenAPI document of market data, `/v2/stocks/snapshots`, and its documentation
"Real-time stock data". Decoders ignore unknown fields, and `decode_message` ignores unknown message types.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final

import msgspec
from msgspec import Raw, Struct, field

from quotecast.market.numbers import Number, instant, number, positive
from quotecast.market.sessions import NEW_YORK, trading_day
from quotecast.providers.alpaca.day_bar import TO_CLOSE, DayBar, MinuteBar
from quotecast.providers.alpaca.stock_state import LastPrice

#: Trade conditions that do not update the last price, from the tapes' condition tables ("updates last: no"):
#: C cash, N next day, R seller's option, H price variation, I odd lot, V contingent, W average price, 4
#: derivatively priced, 7 qualified contingent. M and Q, official close and open, repeat a trade. G, P, U and
#: Z report an earlier trade late. T, extended hours, does update the price here: extended hours have no other
#: trades.
CONDITIONS_WITHOUT_LAST_PRICE: Final = frozenset("CNRHIVW47MQGPUZ")
#: Condition B is an average price on tapes A and B. On tape C (NASDAQ) it is a bunched trade, which updates
#: the last price.
TAPES_WITH_AVERAGE_B: Final = frozenset("AB")

#: Converts a raw price; None for a missing or implausible one.
PriceReader = Callable[[Number], Decimal | None]

_INVALID_SYMBOL: Final = re.compile(r"invalid symbols?: *([^\s\"',]+)")


class Trade(Struct, frozen=True, tag_field="T", tag="t"):
    """A trade; `symbol` is present in stream messages only."""

    symbol: str = field(default="", name="S")
    price: Number = field(default=None, name="p")
    time: str | None = field(default=None, name="t")
    conditions: Sequence[str] | None = field(default=None, name="c")
    tape: str | None = field(default=None, name="z")
    #: Status after a correction: `canceled`, `incorrect` or `corrected`.
    update: str | None = field(default=None, name="u")

    @property
    def is_valid(self) -> bool:
        """Returns whether the trade is neither canceled nor marked incorrect."""
        return self.update not in {"canceled", "incorrect"}

    @property
    def sets_price(self) -> bool:
        """Returns whether the trade updates the last price."""
        conditions = {*(self.conditions or ())}
        average = "B" in conditions and self.tape in TAPES_WITH_AVERAGE_B
        return self.is_valid and not average and not conditions & CONDITIONS_WITHOUT_LAST_PRICE

    def to_last_price(self) -> LastPrice | None:
        """Returns the trade's price; None when its price or its time is unreadable."""
        return _last_price(self.price, instant(self.time))


class AlpacaBar(Struct, frozen=True, tag_field="T", tag="b"):
    """A minute bar or a daily bar; `time` is its start, and `symbol` is present in stream messages only."""

    symbol: str = field(default="", name="S")
    open: Number = field(default=None, name="o")
    high: Number = field(default=None, name="h")
    low: Number = field(default=None, name="l")
    close: Number = field(default=None, name="c")
    volume: Number = field(default=None, name="v")
    time: str | None = field(default=None, name="t")

    def to_minute_bar(self, read: PriceReader) -> MinuteBar | None:
        """Returns the minute bar; None when its time is unreadable.

        `read` converts its high, low and close.
        """
        start = instant(self.time)
        if start is None:
            return None
        return MinuteBar(start, read(self.high), read(self.low), read(self.close), number(self.volume))

    def to_day_bar(self, read: PriceReader, minute: "AlpacaBar | None") -> DayBar | None:
        """Returns the daily bar, whose volume includes `minute`; None when its time is unreadable.

        `minute` is the latest minute bar of the same snapshot. `read` converts open, high, low and close.
        """
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
        """Returns the New York date of the bar's start; None when its time is unreadable."""
        start = instant(self.time)
        return start.astimezone(NEW_YORK).date() if start else None

    def minute_close(self) -> LastPrice | None:
        """Returns a minute bar's close, dated at the last millisecond of the minute."""
        start = instant(self.time)
        return _last_price(self.close, start + TO_CLOSE if start else None)

    def day_close(self) -> LastPrice | None:
        """Returns a daily bar's close, dated at the close of the regular session."""
        hours = trading_day(self.trading_date) if self.trading_date else None
        return _last_price(self.close, hours.close if hours else None)


class StockSnapshot(Struct, frozen=True, rename="camel"):
    """One stock's snapshot from `GET /v2/stocks/snapshots`; any part may be missing."""

    latest_trade: Trade | None = None
    minute_bar: AlpacaBar | None = None
    daily_bar: AlpacaBar | None = None
    prev_daily_bar: AlpacaBar | None = None

    @property
    def has_unreadable_trade(self) -> bool:
        """Returns whether the snapshot has a latest trade without a readable price and time."""
        return self.latest_trade is not None and self.latest_trade.to_last_price() is None

    def to_last_price(self) -> LastPrice | None:
        """Returns the last price from the newest part that has one; None without any."""
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
    """A success message: `connected`, then `authenticated`."""

    message: str = field(default="", name="msg")


class StreamError(Struct, frozen=True, tag_field="T", tag="error"):
    """An error message; `code` is one of those in Alpaca's streaming documentation."""

    code: int = 0


class Subscription(Struct, frozen=True, tag_field="T", tag="subscription"):
    """The response to a subscribe request."""


class _MessageType(Struct, frozen=True):
    kind: str = field(default="", name="T")


#: Messages that update quotes, and messages that control the connection.
MarketData = Trade | AlpacaBar
Message = MarketData | Success | StreamError | Subscription

_MESSAGE_TYPES: Final = frozenset({"t", "b", "success", "error", "subscription"})
_message: Final[msgspec.json.Decoder[Message]] = msgspec.json.Decoder(Message)
_message_type: Final = msgspec.json.Decoder(_MessageType)

#: Decode the messages of a stream frame, still encoded, and a snapshot.
#: Both raise ValueError or RecursionError for malformed input.
decode_frame: Final = msgspec.json.Decoder(list[Raw]).decode
decode_snapshot: Final = msgspec.json.Decoder(StockSnapshot).decode


def decode_message(raw: Raw) -> Message | None:
    """Returns a decoded message; None for an unused type, such as a trading status (halt).

    Raises ValueError when a message of a used type is malformed.
    """
    try:
        return _message.decode(raw)
    except msgspec.ValidationError:
        if _message_type.decode(raw).kind in _MESSAGE_TYPES:
            raise
        return None


def market_data(messages: Iterable[Message]) -> list[MarketData]:
    """Returns the trades and the minute bars."""
    return [message for message in messages if isinstance(message, Trade | AlpacaBar)]


def encode_subscribe(symbols: Sequence[str]) -> bytes:
    """Returns the JSON request for the trades of `symbols` and the minute bars of all stocks."""
    return msgspec.json.encode({"action": "subscribe", "trades": symbols, "bars": ["*"]})


def invalid_symbol(excerpt: str) -> str | None:
    """Returns the symbol that an error response names as malformed; None when it names none."""
    named = _INVALID_SYMBOL.search(excerpt)
    return named and named[1]


def _last_price(price: Number, time: datetime | None) -> LastPrice | None:
    read = positive(price)
    return None if read is None or time is None else LastPrice(read, time)
