"""The streams of Alpaca: channels, what one connection has subscribed to, topics and their messages.

A topic is a variant (encoding and age of the data), a type of message and a symbol: all its clients receive
the same bytes.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from quotecast.simulation.vendors.alpaca import rows
from quotecast.simulation.vendors.alpaca.market_source import DELAY_MS, MarketSource
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Market, Price

Kind = Literal["stocks", "crypto", "news"]

_BARS: Final = {"bars": "b", "updatedBars": "u", "dailyBars": "d"}
#: Channels of each kind of stream, and the type of their messages.
CHANNELS: Final[dict[Kind, dict[str, str]]] = {
    "stocks": {"trades": "t", "quotes": "q", **_BARS, "statuses": "s", "lulds": "l", "imbalances": "i"},
    "crypto": {"trades": "t", "quotes": "q", **_BARS, "orderbooks": "o"},
    "news": {"news": "n"},
}
#: Channels whose symbols count for the limit of a plan.
COUNTED: Final = ("trades", "quotes")
#: Symbols that one connection may subscribe to, in all channels together.
MOST_SYMBOLS: Final = 20_000
#: Channels that the trades of stocks include.
_INCLUDED: Final = ("corrections", "cancelErrors")
#: Stocks' feeds that have a stream.
STOCK_FEEDS: Final = ("iex", "sip", "delayed_sip", "test", "boats", "overnight", "otc")


class Endpoint(Struct, frozen=True):
    """A stream: its kind, and the feed of stocks."""

    kind: Kind
    feed: str = ""


class Session:
    """The server's record of a connection; it began at `since`, in the market's milliseconds."""

    def __init__(self, endpoint: Endpoint, since: int, *, binary: bool) -> None:
        self.endpoint = endpoint
        self.since = since
        #: Whether messages are MessagePack instead of JSON.
        self.binary = binary
        #: The key of a client that has logged in.
        self.key: str | None = None
        self.channels: dict[str, set[str]] = {name: set() for name in CHANNELS[endpoint.kind]}

    def decode(self, command: str | bytes) -> dict[str, Any]:
        """Returns a command; an empty one for bytes that are none."""
        try:
            data = command.encode() if isinstance(command, str) else command
            found = msgspec.msgpack.decode(data) if self.binary else msgspec.json.decode(data)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def channels_after(self, command: Mapping[str, Any], *, adds: bool) -> dict[str, set[str]] | None:
        """Returns the channels after a command; None if the command is malformed."""
        wanted = {name: command.get(name) or [] for name in self.channels}
        for symbols in wanted.values():
            if not isinstance(symbols, list) or not all(isinstance(each, str) for each in symbols):
                return None
        return {
            name: present | {*wanted[name]} if adds else present - {*wanted[name]}
            for name, present in self.channels.items()
        }

    def subscription(self) -> dict[str, Any]:
        """Returns the acknowledgement of a subscription."""
        channels = {name: sorted(symbols) for name, symbols in self.channels.items()}
        if self.endpoint.kind == "stocks":
            channels |= dict.fromkeys(_INCLUDED, channels["trades"])
        return {"T": "subscription", **channels}


def endpoint_of(path: str) -> Endpoint | None:
    """Returns the stream at a path."""
    match path.strip("/").split("/"):
        case ["v2", feed]:
            return Endpoint("stocks", feed)
        case ["v1beta3", "crypto", "us"]:
            return Endpoint("crypto")
        case ["v1beta1", "news"]:
            return Endpoint("news")
        case _:
            return None


#: The symbol of the test stream, and the stock whose prices it has.
TEST_SYMBOL: Final = "FAKEPACA"
TEST_STOCK: Final = "AAPL"
MINUTE: Final = 60_000
SECOND: Final = 1000
#: Milliseconds after a minute at which its updated bars come.
_UPDATE: Final = 30_000
#: Types of messages that come with a price.
_WITH_PRICE: Final = "tqo"


class Variant(Struct, frozen=True):
    """A way to receive data."""

    name: str
    binary: bool = False
    delay: int = 0
    is_test: bool = False


class DueMessage(Struct, frozen=True):
    """A message that comes by time: `price` is the market's at that moment."""

    topic: str
    binary: bool
    price: Price
    message: Row


_VARIANTS: Final = {
    each.name: each
    for each in (
        Variant("j"),
        Variant("m", binary=True),
        Variant("jd", delay=DELAY_MS),
        Variant("md", binary=True, delay=DELAY_MS),
        Variant("jt", is_test=True),
        Variant("mt", binary=True, is_test=True),
    )
}


class Topics:
    """Maps subscriptions to topics, and makes the topics' messages."""

    def __init__(self, market: Market, source: MarketSource, moment: int) -> None:
        self._market = market
        self._source = source
        #: Variants that clients have subscribed to: the others cost no time.
        self._used: tuple[Variant, ...] = ()
        self._beaten_at = moment
        self._halted: dict[str, bool] = {}

    def topics_of(self, session: Session) -> dict[str, str]:
        """Returns the topics of a session; the market's symbol of those that come with its prices."""
        age = {"delayed_sip": "d", "test": "t"}.get(session.endpoint.feed, "")
        variant = _VARIANTS["jm"[session.binary] + age]
        if variant not in self._used:
            self._used = (*self._used, variant)
        return {
            f"{variant.name}.{kind}.{symbol}": symbol if kind in _WITH_PRICE else ""
            for name, kind in CHANNELS[session.endpoint.kind].items()
            for symbol in self._symbols(session, variant, name)
        }

    def _symbols(self, session: Session, variant: Variant, channel: str) -> Collection[str]:
        """Returns the market's symbols of a channel."""
        asked = session.channels[channel]
        if session.endpoint.kind == "news":
            return ()
        if variant.is_test:
            return {TEST_STOCK} if asked & {TEST_SYMBOL, "*"} else ()
        known: Mapping[str, Any] = (
            self._market.stocks if session.endpoint.kind == "stocks" else self._market.pairs
        )
        return known.keys() if "*" in asked else asked & known.keys()

    def messages(self, price: Price, topics: Collection[str]) -> Iterator[tuple[str, bool, Row]]:
        """Yields topic, encoding and message of a new price."""
        for variant in self._used:
            for kind in _WITH_PRICE:
                topic = f"{variant.name}.{kind}.{price.symbol}"
                if topic in topics:
                    then = price
                    if variant.delay:
                        then = self._market.price(price.symbol, price.time - variant.delay)
                    if kind == "o":
                        row = rows.book_of(then) | {"r": True}
                    else:
                        make = self._source.trade_row if kind == "t" else self._source.quote_row
                        row = make(then)
                    yield topic, variant.binary, self._head(variant, kind, price.symbol) | row

    def _head(self, variant: Variant, kind: str, symbol: str) -> Row:
        return {"T": kind, "S": TEST_SYMBOL if variant.is_test else symbol}

    def due_messages(self, moment: int, topics: Collection[str]) -> Iterator[DueMessage]:
        """Yields the messages that have become due since the last call."""
        before, self._beaten_at = self._beaten_at, moment
        due = "b" * _passes(before, moment, 0) + "d" * _passes(before, moment, 0)
        due += "u" * _passes(before, moment, _UPDATE) + "s" * (before // SECOND != moment // SECOND)
        if not due:
            return
        for topic in sorted(topics):
            name, kind, symbol = topic.split(".", 2)
            if kind in due and self._market.is_listed(symbol, moment):
                variant = _VARIANTS[name]
                found = self._due_row(kind, symbol, moment - variant.delay)
                if found:
                    price = self._market.price(symbol, moment - variant.delay)
                    message = self._head(variant, kind, symbol) | found
                    yield DueMessage(topic, variant.binary, price, message)
        if "s" in due:
            self._halted = {
                symbol: self._market.is_halted(symbol, moment)
                for symbol in {each.split(".", 2)[2] for each in topics if ".s." in each}
            }

    def _due_row(self, kind: str, symbol: str, moment: int) -> Row | None:
        if kind == "s":
            is_halted = self._market.is_halted(symbol, moment)
            has_changed = self._halted.get(symbol, is_halted) != is_halted
            tape = self._source.tape(symbol)
            return rows.status_of(moment, tape, is_halted=is_halted) if has_changed else None
        if kind == "d":
            candles = self._market.bars(symbol, "D", moment - 1, moment - 1, adjusted=False)
        else:
            start = moment - moment % MINUTE - MINUTE
            candles = self._market.bars(symbol, "1m", start, start + MINUTE - 1, adjusted=False)
            candles = [each for each in candles if each.start == start]
        if not candles:
            return None
        return rows.bar_of(candles[-1], self._market.decimals(symbol))


def _passes(before: int, moment: int, offset: int) -> bool:
    """Returns whether a minute and an offset lie after `before`, up to a moment."""
    return (before - offset) // MINUTE != (moment - offset) // MINUTE
