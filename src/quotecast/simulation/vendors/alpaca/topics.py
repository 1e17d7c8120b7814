"""Topics of Alpaca's streams and their messages, from the simulated market.

A topic is a variant (encoding and age of the data), a type of message and a symbol: all its clients receive
the same bytes.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from quotecast.simulation.vendors.alpaca import rows
from quotecast.simulation.vendors.alpaca.channels import CHANNELS, Session
from quotecast.simulation.vendors.alpaca.market_source import DELAY_MS, MarketSource
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Market, Price

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
        variant = _variant_of(session)
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
                    then = self._price_of(price, variant)
                    yield (
                        topic,
                        variant.binary,
                        self._head(variant, kind, price.symbol) | self._row(kind, then),
                    )

    def _price_of(self, price: Price, variant: Variant) -> Price:
        """Returns the price of a variant: that of a quarter of an hour ago if it is delayed."""
        return self._market.price(price.symbol, price.time - variant.delay) if variant.delay else price

    def _head(self, variant: Variant, kind: str, symbol: str) -> Row:
        return {"T": kind, "S": TEST_SYMBOL if variant.is_test else symbol}

    def _row(self, kind: str, price: Price) -> Row:
        if kind == "o":
            return rows.book_of(price) | {"r": True}
        return self._source.trade_row(price) if kind == "t" else self._source.quote_row(price)

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
            return self._status(symbol, moment)
        if kind == "d":
            candles = self._market.bars(symbol, "D", moment - 1, moment - 1, adjusted=False)
        else:
            start = moment - moment % MINUTE - MINUTE
            candles = self._market.bars(symbol, "1m", start, start + MINUTE - 1, adjusted=False)
            candles = [each for each in candles if each.start == start]
        if not candles:
            return None
        return rows.bar_of(candles[-1], self._market.decimals(symbol))

    def _status(self, symbol: str, moment: int) -> Row | None:
        """Returns the status of a stock whose trading has stopped or begun again since the last call."""
        is_halted = self._market.is_halted(symbol, moment)
        if self._halted.get(symbol, is_halted) == is_halted:
            return None
        return rows.status_of(moment, self._source.tape(symbol), is_halted=is_halted)


def _variant_of(session: Session) -> Variant:
    names = {"delayed_sip": "d", "test": "t"}
    return _VARIANTS["jm"[session.binary] + names.get(session.endpoint.feed, "")]


def _passes(before: int, moment: int, offset: int) -> bool:
    """Returns whether a minute and an offset lie after `before`, up to a moment."""
    return (before - offset) // MINUTE != (moment - offset) // MINUTE
