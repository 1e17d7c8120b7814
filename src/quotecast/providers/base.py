"""The protocols of providers: quotes, bars, company data, news, and the stocks with their renames."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol, runtime_checkable

from msgspec import Struct

from quotecast.market.actions import CorporateAction
from quotecast.market.assets import Asset
from quotecast.market.bars import Bar, Interval
from quotecast.market.feeds import Feed
from quotecast.market.financials import (
    Earnings,
    EarningsCalendar,
    EarningsQuality,
    EpsEstimate,
    Estimates,
    Metrics,
    Recommendation,
    RevenueEstimate,
)
from quotecast.market.news import Article
from quotecast.market.own_bars import VenueBar
from quotecast.market.quotes import Quote
from quotecast.market.renames import Rename
from quotecast.market.sessions import Unscheduled

#: Awaited before a call; raises UpstreamError, with `retry_after`, when the plan allows no more calls.
Admission = Callable[[], Awaitable[None]]


async def unlimited() -> None:
    """Admits every call, for a plan without a limit."""


class Update(Struct, frozen=True):
    """The changes that one read of an upstream brought; empty when it was only a sign of life."""

    quotes: Sequence[Quote] = ()
    removed: Sequence[str] = ()
    #: `quotes` is the whole state: all other symbols are removed.
    complete: bool = False
    #: Today's unscheduled closing or opening of the exchange, from an upstream that reports it.
    unscheduled: Unscheduled | None = None
    #: Of minutes of instruments that have a quote; the feed makes the others of its quotes.
    bars: Sequence[VenueBar] = ()
    #: The first one of a reconnection: changes before it are missing. Providers leave it out.
    after_gap: bool = False


class QuoteProvider(Protocol):
    """One upstream of one feed.

    An adapter guarantees whole quotes (merged with earlier messages) of finite numbers, with a price above
    zero and a timestamp at most a minute ahead of our clock. The same instrument always has the same key.
    """

    @property
    def name(self) -> str:
        """Returns the provider's name in quotes and in the feed's state."""
        ...

    @property
    def feed(self) -> Feed:
        """Returns the feed of its quotes."""
        ...

    @property
    def simulated(self) -> bool:
        """Returns whether its quotes are not the present ones of the market."""
        ...

    @property
    def delay_seconds(self) -> float:
        """Returns the delay of the upstream's plan behind the market, in seconds."""
        ...

    @property
    def silence_seconds(self) -> float:
        """Returns the seconds without an update after which the feed is stale and the connection dead."""
        ...

    @property
    def always_open(self) -> bool:
        """Returns true for a venue that never closes, false for one with the calendar of the exchange."""
        ...

    def updates(self) -> AsyncGenerator[Update, None]:
        """Yields updates of one connection until that breaks, then raises UpstreamError.

        The caller reconnects, with backoff, by calling again. Closing the generator closes the
        connection.
        """
        ...


@runtime_checkable
class Resumable(Protocol):
    """A quote provider that continues with what the feed's last leader knew of the exchange."""

    def resume(self, unscheduled: Unscheduled | None) -> None:
        """Takes the last leader's `unscheduled`; call it before `updates`."""
        ...


@runtime_checkable
class Inheriting(Protocol):
    """A quote provider that removes and judges what the feed has of it from before."""

    def inherit(self, quotes: Sequence[Quote]) -> None:
        """Takes the quotes that the last leader had of this provider; call it before `updates`."""
        ...


@runtime_checkable
class CountsRefusals(Protocol):
    """A quote provider that counts what its checks refuse."""

    def statistics(self) -> Mapping[str, int]:
        """Returns how many messages, rows and values it refused since the start, by reason."""
        ...


def refusals_of(provider: object) -> Mapping[str, int]:
    """Returns a provider's refusals by reason; empty for one that does not count them."""
    return provider.statistics() if isinstance(provider, CountsRefusals) else {}


class HistoryProvider(Protocol):
    """Bars of one feed's instruments."""

    #: The `name` of the provider whose quotes close the last bar.
    name: str

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """Returns the bars that open in [start, end), ascending; the last one may be in progress.

        The bar that holds `start` is among them. Prices are split-adjusted; a time without trades has no bar.
        `symbol` is the feed's key. Bars of less than a day start at multiples of their length from midnight
        (stocks: New York, crypto: UTC), the first one with the session. Longer bars have the time of midnight
        of their first trading day.
        Raises SymbolNotFound or UpstreamError.
        """
        ...


@runtime_checkable
class ExtendedHistoryProvider(Protocol):
    """Bars that include the hours before and after the regular sessions."""

    async def extended_bars(
        self, symbol: str, interval: Interval, start: datetime, end: datetime
    ) -> Sequence[Bar]:
        """Returns bars of at most half an hour like HistoryProvider, from 4:00 to 20:00 in New York."""
        ...


class FinancialsProvider(Protocol):
    """Company data. Each call raises SymbolNotFound, NotOffered or UpstreamError."""

    name: str

    async def has(self, symbol: str) -> bool:
        """Whether the upstream has a company or a fund of this symbol; takes one call."""
        ...

    async def metrics(self, symbol: str) -> Metrics:
        """Returns ratios and figures, and their history."""
        ...

    async def earnings(self, symbol: str) -> Sequence[Earnings]:
        """Returns reported quarters, the newest first."""
        ...

    async def recommendations(self, symbol: str) -> Sequence[Recommendation]:
        """Returns analysts' opinions by month, the newest first."""
        ...

    async def revenue_estimates(self, symbol: str) -> Estimates[RevenueEstimate]:
        """Returns expected revenue of coming quarters, in the currency that the estimates name."""
        ...

    async def eps_estimates(self, symbol: str) -> Estimates[EpsEstimate]:
        """Returns expected earnings per share of coming quarters, in the currency that the estimates name."""
        ...

    async def earnings_quality(self, symbol: str) -> EarningsQuality:
        """Returns scores by quarter."""
        ...

    def is_provisional(self, symbol: str) -> bool:
        """Whether the last answers about a company lack its currency because the upstream failed."""
        ...

    async def earnings_calendar(self, first: date, last: date, symbol: str | None = None) -> EarningsCalendar:
        """Returns reports due from `first` to `last`, both included, by date, and the days that it covers.

        A symbol asks for the reports of one company.
        """
        ...


class ActionsProvider(Protocol):
    """Corporate actions of stocks."""

    name: str

    async def actions(self, symbol: str, first: date, last: date) -> Sequence[CorporateAction]:
        """Returns the actions with ex-days from `first` to `last`, ascending.

        An unknown symbol has none. Raises NotOffered or UpstreamError.
        """
        ...


class NewsProvider(Protocol):
    """Market news."""

    name: str
    #: Seconds between two calls, as the upstream's plan allows.
    every_seconds: float

    async def news(self) -> Sequence[Article]:
        """Returns some hundred articles, the newest first; searches by symbol read these.

        At least 50 if there are as many. Raises UpstreamError.
        """
        ...


class AssetsProvider(Protocol):
    """The list of stocks."""

    name: str
    every_seconds: float

    async def assets(self) -> Sequence[Asset]:
        """Returns all stocks, by ticker. Raises UpstreamError."""
        ...


class RenamesProvider(Protocol):
    """Changes of stocks' symbols."""

    name: str
    every_seconds: float

    async def renames(self) -> Sequence[Rename]:
        """Returns those of some years up to today, ascending. Raises UpstreamError."""
        ...
