"""What upstreams offer: quotes, bars, company data, news and the list of stocks."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import date, datetime
from typing import Protocol, runtime_checkable

from msgspec import Struct

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
from quotecast.market.quotes import Quote
from quotecast.market.sessions import Unscheduled

#: Waits for nothing: raises UpstreamError, with `retry_after`, when an upstream's plan allows no more calls.
Admission = Callable[[], Awaitable[None]]


async def unlimited() -> None:
    """Admits every call, where a plan has no limit."""


class Update(Struct, frozen=True):
    """What one read of an upstream brought; empty when it only showed that the upstream lives."""

    quotes: Sequence[Quote] = ()
    removed: Sequence[str] = ()
    #: `quotes` is all there is: whatever is not among them is gone.
    complete: bool = False
    #: What the exchange does today against its calendar, as far as the upstream says.
    unscheduled: Unscheduled | None = None


class QuoteProvider(Protocol):
    """One upstream of one feed.

    Guarantees an adapter gives: quotes are whole (merged with what was known before), finite, with a
    price above zero and a timestamp at most a minute ahead of our clock; the same instrument keeps its key.
    """

    @property
    def name(self) -> str:
        """What quotes and the feed's state call it."""
        ...

    @property
    def feed(self) -> Feed:
        """The feed that it quotes for."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether its quotes are not those of the market as it is now."""
        ...

    @property
    def delay_seconds(self) -> float:
        """How far behind the market the upstream's plan is."""
        ...

    @property
    def silence_seconds(self) -> float:
        """How long without an update the connection is presumed dead, and the feed stale."""
        ...

    @property
    def always_open(self) -> bool:
        """Whether the venue never closes, or keeps the exchange's calendar."""
        ...

    def updates(self) -> AsyncGenerator[Update, None]:
        """One connection's life: yields until it breaks, then raises UpstreamError.

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


class HistoryProvider(Protocol):
    """Bars of one feed's instruments."""

    #: The `name` of the quotes that the bars end with.
    name: str

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """Bars that open in [start, end), ascending; the last one may still be in progress.

        The bar that holds `start` is among them. Split-adjusted; none where nothing traded. `symbol` is
        the feed's key. Parts of a day are counted from midnight (stocks: New York, crypto: UTC), the first
        bar opening with the session; longer bars are stamped with midnight of their first trading day.
        Raises SymbolNotFound or UpstreamError.
        """
        ...


class FinancialsProvider(Protocol):
    """Company data. Each call raises SymbolNotFound, NotOffered or UpstreamError."""

    name: str

    async def metrics(self, symbol: str) -> Metrics:
        """Ratios and figures, and their history."""
        ...

    async def earnings(self, symbol: str) -> Sequence[Earnings]:
        """Reported quarters, the newest first."""
        ...

    async def recommendations(self, symbol: str) -> Sequence[Recommendation]:
        """Analysts' opinions by month, the newest first."""
        ...

    async def revenue_estimates(self, symbol: str) -> Estimates[RevenueEstimate]:
        """Expected revenue of coming quarters, in the currency that they name."""
        ...

    async def eps_estimates(self, symbol: str) -> Estimates[EpsEstimate]:
        """Expected earnings per share of coming quarters, in the currency that they name."""
        ...

    async def earnings_quality(self, symbol: str) -> EarningsQuality:
        """Scores by quarter."""
        ...

    def is_provisional(self, symbol: str) -> bool:
        """Whether the last answers about a company lack its currency because the upstream failed."""
        ...

    async def earnings_calendar(self, first: date, last: date) -> EarningsCalendar:
        """Reports due from `first` to `last`, both included, by date; says so when it covers fewer days."""
        ...


class NewsProvider(Protocol):
    """Market news."""

    name: str
    #: Seconds between two questions that the upstream's plan allows.
    every_seconds: float

    async def news(self) -> Sequence[Article]:
        """The newest articles, the newest first: some hundreds, which searches by symbol look through.

        At least 50 if there are as many. Raises UpstreamError.
        """
        ...


class AssetsProvider(Protocol):
    """The stocks there are."""

    name: str
    every_seconds: float

    async def assets(self) -> Sequence[Asset]:
        """All of them, by ticker. Raises UpstreamError."""
        ...
