"""Alpaca's data apart from its protocol: the simulated market has them, or a test gives its rows."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Protocol

from msgspec import Struct

from quotecast.simulation.vendors.alpaca.timeframes import Timeframe
from quotecast.simulation.vendors.http import Row


class Span(Struct, frozen=True):
    """A time: from `start` to `end`, both included; rows come from its end first with `descending`."""

    start: datetime
    end: datetime
    descending: bool = False


class Session(Protocol):
    """The regular session of a date, in UTC."""

    @property
    def date(self) -> date:
        """Returns the date in New York."""
        ...

    @property
    def open(self) -> datetime:
        """Returns the opening."""
        ...

    @property
    def close(self) -> datetime:
        """Returns the close."""
        ...


class Source(Protocol):
    """The data of an Alpaca; `feed` is the feed of stocks, and no feed of pairs."""

    def is_listed(self, symbol: str) -> bool:
        """Returns whether an instrument trades now."""
        ...

    def bars(
        self, symbol: str, timeframe: Timeframe, span: Span, feed: str, *, adjusted: bool
    ) -> Iterator[Row]:
        """Yields the bars that begin within a span."""
        ...

    def dividend_factor(self, symbol: str, day: date) -> float:
        """Returns the part of a price of a day that the dividends since then have left."""
        ...

    def trades(self, symbol: str, span: Span, feed: str) -> Iterator[Row]:
        """Yields the trades of a span."""
        ...

    def quotes(self, symbol: str, span: Span, feed: str) -> Iterator[Row]:
        """Yields the best bids and asks of a span."""
        ...

    def snapshot(self, symbol: str, feed: str) -> Row | None:
        """Returns the newest trade, quote and bars; None without trades."""
        ...

    def book(self, symbol: str) -> Row:
        """Returns a pair's order book."""
        ...

    def stories(self) -> Sequence[Row]:
        """Returns the news, in any order."""
        ...

    def listed_assets(self) -> Sequence[Row]:
        """Returns the instruments that the broker offers."""
        ...

    def sessions(self, first: date, last: date) -> Sequence[Session]:
        """Returns the sessions of the stock exchange between two dates, both included."""
        ...
