"""Feeds of WebSocket clients: a channel of a pair, and the makers of its messages."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct

from quotecast.simulation.vendors.kraken.book import Book, Side, book_of, changes
from quotecast.simulation.vendors.kraken.data import INTERVALS, KrakenData
from quotecast.simulation.vendors.market import Candle, Price
from quotecast.simulation.vendors.server import Client

DEPTHS: Final = frozenset({10, 25, 100, 500, 1000})
#: Market time between two messages of a candle, in milliseconds.
_CANDLE_EVERY: Final = 1000
#: Pairs in one subscription.
MOST_PAIRS: Final = 1000
#: Trades and candles in a snapshot.
SNAPSHOT_ROWS: Final = 50
#: Makes the message of a new price; None for none.
Maker = Callable[[Price], bytes | None]


class Feed(Struct, frozen=True):
    """A channel of a pair, in a version of the interface; `option` is a trigger, an interval or a depth."""

    version: int
    channel: str
    symbol: str
    option: str | int = ""

    @property
    def topic(self) -> str:
        """Returns the feed's name among all."""
        return f"{self.version} {self.channel} {self.option} {self.symbol}"


class Desk(Protocol):
    """Starts and ends subscriptions of clients."""

    data: KrakenData
    system: str

    def follow(self, client: Client, feed: Feed, make: Callable[[], Maker]) -> Maker | None:
        """Returns the feed's maker after a new subscription; None if the client has that one."""

    def unfollow(self, client: Client, feed: Feed) -> bool:
        """Returns whether the client had this subscription."""


class CandleMaker:
    """Makes messages of the candle in progress, at most one in a second; one that ended comes once more."""

    def __init__(self, data: KrakenData, feed: Feed, write: Callable[[Sequence[Candle]], bytes]) -> None:
        self._data = data
        self._symbol = feed.symbol
        self._minutes = int(feed.option)
        self._write = write
        self._after = self._opened = 0

    def __call__(self, price: Price) -> bytes | None:
        """Returns the message of a new price; None for none."""
        if price.time < self._after:
            return None
        self._after = price.time + _CANDLE_EVERY
        found = self._data.candles(self._symbol, self._minutes, 2)
        news = [each for each in found if each.start >= (self._opened or found[-1].start)]
        self._opened = found[-1].start if found else 0
        return self._write(news) if news else None


class BookMaker:
    """Makes messages of a book's changes; `book` is the one that all clients have."""

    def __init__(self, data: KrakenData, feed: Feed, write: Callable[[Book, Side, Side, int], bytes]) -> None:
        self._depth = int(feed.option)
        self._write = write
        price = data.price(feed.symbol, data.clock.moment())
        self.time = price.time
        self.book = book_of(price, data.decimals(feed.symbol), self._depth)

    def __call__(self, price: Price) -> bytes | None:
        """Returns the message of a new price; None for none."""
        if not price.bid < price.ask:
            return None
        before, self.book = self.book, book_of(price, self.book.decimals, self._depth)
        self.time = price.time
        bids, asks = changes(before.bids, self.book.bids), changes(before.asks, self.book.asks)
        return self._write(self.book, bids, asks, price.time) if bids or asks else None


def option_problem(channel: str, option: Any) -> str | None:
    """Returns what is wrong with a feed's trigger, interval or depth."""
    number = option if isinstance(option, int) else 0
    match channel:
        case "ohlc" if number not in INTERVALS:
            return "Subscription ohlc interval not supported"
        case "book" if number not in DEPTHS:
            return "Subscription depth not supported"
        case "ticker" if option not in ("", "trades", "bbo"):
            return "Unsupported field: 'event_trigger'"
        case _:
            return None
