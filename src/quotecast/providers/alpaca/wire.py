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
from quotecast.providers.alpaca.day import MINUTE, Day, Minute
from quotecast.providers.alpaca.known import Last
from quotecast.providers.validation.values import Number, instant, number, positive

#: Conditions of trades that do not set the last price. Of the tapes' tables ("updates last: no"): C cash,
#: N next day, R seller's option, H price variation, I odd lot, V contingent, W average price, 4 derivatively
#: priced, 7 qualified contingent, M and Q official close and open, which repeat a trade; and G, P, U, Z,
#: which report an earlier trade late. T, before and after hours, does set it: those sessions know no other.
SETTING_NO_PRICE: Final = frozenset("CNRHIVW47MQGPUZ")
#: On these tapes B is an average price; on that of NASDAQ it is a bunched trade, which sets the price.
AVERAGE_ON_TAPES: Final = frozenset("AB")

#: Reads a price; None when there is none to be believed.
Reader = Callable[[Number], Decimal | None]

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
    fate: str | None = field(default=None, name="u")

    @property
    def stands(self) -> bool:
        """Whether it was neither canceled nor found wrong."""
        return self.fate not in {"canceled", "incorrect"}

    @property
    def sets_price(self) -> bool:
        """Whether the trade's price is the last price."""
        conditions = {*(self.conditions or ())}
        average = "B" in conditions and self.tape in AVERAGE_ON_TAPES
        return self.stands and not average and not conditions & SETTING_NO_PRICE

    def to_last(self) -> Last | None:
        """Its price; None when that or its time cannot be read."""
        return _last(self.price, instant(self.time))


class Bar(Struct, frozen=True, tag_field="T", tag="b"):
    """A minute or a day, with its symbol when it is streamed; `time` is when it began."""

    symbol: str = field(default="", name="S")
    open: Number = field(default=None, name="o")
    high: Number = field(default=None, name="h")
    low: Number = field(default=None, name="l")
    close: Number = field(default=None, name="c")
    volume: Number = field(default=None, name="v")
    time: str | None = field(default=None, name="t")

    def to_minute(self, read: Reader) -> Minute | None:
        """The minute it tells of, its prices as `read` has them; None when its time cannot be read."""
        start = instant(self.time)
        if start is None:
            return None
        return Minute(start, read(self.high), read(self.low), read(self.close), number(self.volume))

    def to_day(self, read: Reader, minute: "Bar | None") -> Day | None:
        """The day it tells of, up to `minute`; prices and None as for `to_minute`."""
        if self.trading_date is None:
            return None
        return Day(
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

    def minute_close(self) -> Last | None:
        """A minute's last price, as of the minute's end."""
        start = instant(self.time)
        return _last(self.close, start + MINUTE if start else None)

    def day_close(self) -> Last | None:
        """A day's last price, as of the exchange's close."""
        hours = trading_day(self.trading_date) if self.trading_date else None
        return _last(self.close, hours.close if hours else None)


class Snapshot(Struct, frozen=True, rename="camel"):
    """What `GET /v2/stocks/snapshots` tells of one stock; any part may be missing."""

    latest_trade: Trade | None = None
    minute_bar: Bar | None = None
    daily_bar: Bar | None = None
    prev_daily_bar: Bar | None = None

    @property
    def hides_trade(self) -> bool:
        """Whether the latest trade cannot be read."""
        return self.latest_trade is not None and self.latest_trade.to_last() is None

    def to_last(self) -> Last | None:
        """The last price, from the newest part that has one; None when none has."""
        return next((last for last in self._lasts() if last), None)

    def _lasts(self) -> Iterator[Last | None]:
        if self.latest_trade and self.latest_trade.stands:
            yield self.latest_trade.to_last()
        if self.minute_bar:
            yield self.minute_bar.minute_close()
        if self.daily_bar:
            yield self.daily_bar.day_close()
        if self.prev_daily_bar:
            yield self.prev_daily_bar.day_close()


class Success(Struct, frozen=True, tag_field="T", tag="success"):
    """`connected`, then `authenticated`."""

    message: str = field(default="", name="msg")


class Failure(Struct, frozen=True, tag_field="T", tag="error"):
    """The upstream's complaint, by code."""

    code: int = 0


class Subscription(Struct, frozen=True, tag_field="T", tag="subscription"):
    """The answer to a subscribe: the full set as it now stands."""

    trades: Sequence[str] = ()
    bars: Sequence[str] = ()


class Subscribe(Struct, frozen=True, tag_field="action", tag="subscribe"):
    """Adds to what the connection is sent; `*` is every symbol."""

    trades: Sequence[str]
    bars: Sequence[str] = ("*",)


class _Kind(Struct, frozen=True):
    kind: str = field(default="", name="T")


#: What moves quotes, and what only the connection heeds.
Data = Trade | Bar
Message = Data | Success | Failure | Subscription

_KNOWN: Final = frozenset({"t", "b", "success", "error", "subscription"})
_frame: Final = msgspec.json.Decoder(list[Raw])
_rows: Final = msgspec.json.Decoder(dict[str, Raw])
_message: Final[msgspec.json.Decoder[Message]] = msgspec.json.Decoder(Message)
_kind: Final = msgspec.json.Decoder(_Kind)
_snapshot: Final[msgspec.json.Decoder[Snapshot | None]] = msgspec.json.Decoder(Snapshot | None)


def frame(raw: bytes) -> list[Raw]:
    """The messages of one frame of the stream, not yet read. Raises ValueError for what is no JSON array."""
    return _decode_each(_frame, raw)


def rows(raw: bytes) -> dict[str, Raw]:
    """An answer's snapshots by ticker, not yet read. Raises ValueError for what is no JSON object."""
    return _decode_each(_rows, raw)


def message(raw: Raw) -> Message | None:
    """One message; None for a type nobody here needs, such as a halt. Raises ValueError when unreadable."""
    try:
        return _message.decode(raw)
    except msgspec.ValidationError:
        if _kind.decode(raw).kind in _KNOWN:
            raise
        return None


def data(messages: Iterable[Message]) -> list[Data]:
    """Those that move quotes."""
    return [message for message in messages if isinstance(message, Trade | Bar)]


def snapshot(raw: Raw) -> Snapshot | None:
    """One row; None for a stock that the upstream does not know. Raises ValueError when unreadable."""
    return _snapshot.decode(raw)


def subscribe(symbols: Sequence[str]) -> bytes:
    """The JSON that asks for the trades of `symbols` and the minute bars of all stocks."""
    return msgspec.json.encode(Subscribe(symbols))


def invalid_symbol(excerpt: str) -> str | None:
    """The symbol that a refusal names as malformed; None when it names none."""
    named = _INVALID_SYMBOL.search(excerpt)
    return named and named[1]


def _last(price: Number, time: datetime | None) -> Last | None:
    read = positive(price)
    return None if read is None or time is None else Last(read, time)


def _decode_each(decoder: msgspec.json.Decoder[_T], raw: bytes) -> _T:
    try:
        return decoder.decode(raw)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
