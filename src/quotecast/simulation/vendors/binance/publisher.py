"""The names of Binance's streams, and their messages from prices of the market."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from quotecast.simulation.market.trades import PAUSE
from quotecast.simulation.vendors.binance import events
from quotecast.simulation.vendors.binance.book import BOOK_MS, difference, snapshot
from quotecast.simulation.vendors.binance.intervals import LENGTHS, opening
from quotecast.simulation.vendors.binance.source import MarketSource
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Price

_NAME: Final = re.compile(
    r"([^@]+)@(?:(ticker|miniTicker|bookTicker|trade|aggTrade)|(kline)_(\w+)"
    r"|(depth)(5|10|20)?(?:@(100|1000)ms)?)"
)
#: Streams of all symbols, and the kind of their elements.
ARRAYS: Final[dict[str, str]] = {"!ticker@arr": "ticker", "!miniTicker@arr": "miniTicker"}
#: Sends an event of a stream, which a price has caused.
Deliver = Callable[[str, Price, Any], None]
#: Streams with a message for each price.
_AT_ONCE: Final[Mapping[str, Callable[[str, Price], Row]]] = {
    "ticker": events.ticker,
    "miniTicker": events.mini_ticker,
    "bookTicker": events.book_ticker,
    "trade": events.trade,
    "aggTrade": events.aggregate_trade,
}
#: Milliseconds between two messages of a stream of all symbols.
_ARRAY_PAUSE: Final = 1000
#: A difference covers at most so many books; after a longer silence it leaves some out.
_MAX_BOOKS: Final = 600


class Stream(Struct, frozen=True):
    """A stream of one symbol; `option` is the interval of candles or the number of levels."""

    name: str
    symbol: str
    kind: str
    option: str = ""
    #: Milliseconds between two messages; 0 for one with each price.
    pause: int = 0


def stream_of(name: str) -> Stream | None:
    """Returns the stream of a name; None for a name that no stream has."""
    found = _NAME.fullmatch(name)
    if not found or found[1] != found[1].lower():
        return None
    symbol = found[1].upper()
    if found[3]:
        return Stream(name, symbol, "kline", found[4], 1000) if found[4] in LENGTHS else None
    if found[5]:
        return Stream(name, symbol, "depth", found[6] or "", int(found[7] or 1000))
    return Stream(name, symbol, found[2])


class _Active(Struct):
    """A stream that clients follow: when its next message is due, and what the last one was about."""

    stream: Stream
    due: int = 0
    #: When the last candle opened.
    opened: int | None = None
    #: Moment of the last book.
    booked: int | None = None


class Publisher:
    """Turns prices into events of the streams that clients follow.

    Tickers and trades have an event for each price. Candles and books have one every second, or as the name
    of the stream says. Binance sends tickers once a second; here the rate of prices decides, so that a
    client can be put under load.
    """

    def __init__(self, source: MarketSource, deliver: Deliver) -> None:
        self._source = source
        self._deliver = deliver
        self._active: dict[str, dict[str, _Active]] = {}
        self._arrays: dict[str, dict[str, int]] = {}
        self._arrays_due = 0

    def add(self, name: str, stream: Stream) -> None:
        """Starts a stream of the market's instrument `name`."""
        self._active.setdefault(name, {}).setdefault(stream.name, _Active(stream))

    def remove(self, name: str, stream: Stream) -> None:
        """Ends a stream."""
        streams = self._active.get(name, {})
        streams.pop(stream.name, None)
        if not streams:
            self._active.pop(name, None)

    def publish(self, price: Price) -> None:
        """Sends the events of a price."""
        for active in self._active.get(price.symbol, {}).values():
            stream = active.stream
            if make := _AT_ONCE.get(stream.kind):
                self._deliver(stream.name, price, make(stream.symbol, price))
            elif (moment := price.number * PAUSE) >= active.due:
                active.due = moment - moment % stream.pause + stream.pause
                (self._candles if stream.kind == "kline" else self._book)(active, price)

    def _candles(self, active: _Active, price: Price) -> None:
        """Sends the candles since the last message: closed ones, and the one in progress."""
        stream, moment = active.stream, price.number * PAUSE
        now = opening(stream.option, moment)
        since = now if active.opened is None else active.opened
        active.opened = now
        for row in self._source.klines(stream.symbol, stream.option, (since, moment), moment):
            event = events.kline(stream.symbol, stream.option, row, price, closed=row[6] < moment)
            self._deliver(stream.name, price, event)

    def _book(self, active: _Active, price: Price) -> None:
        stream, moment = active.stream, price.number * PAUSE
        moment -= moment % BOOK_MS
        book = self._source.book(stream.symbol, moment)
        if stream.option:
            self._deliver(stream.name, price, snapshot(book, int(stream.option)))
            return
        before, active.booked = active.booked, moment
        if before is not None and before < moment:
            step = max(BOOK_MS, (moment - before) // _MAX_BOOKS)
            books = [self._source.book(stream.symbol, then) for then in range(before, moment, step)]
            self._deliver(stream.name, price, difference(stream.symbol, books, book))

    def publish_arrays(self, names: set[str], moment: int) -> None:
        """Sends the streams of all symbols with the tickers that have changed since the last message."""
        if moment < self._arrays_due:
            return
        self._arrays_due = moment + _ARRAY_PAUSE
        self._arrays = {name: self._arrays.get(name, {}) for name in names}
        prices = [(symbol, self._source.price(symbol, moment)) for symbol in self._source.symbols(moment)]
        for name, seen in self._arrays.items():
            changed = [(symbol, price) for symbol, price in prices if seen.get(symbol) != price.number]
            if changed:
                make = _AT_ONCE[ARRAYS[name]]
                self._deliver(name, changed[0][1], [make(symbol, price) for symbol, price in changed])
                seen.update((symbol, price.number) for symbol, price in changed)
