"""The market of an instrument at one moment: its price, its time and its calendar."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from quotecast.access.plans import Reach
from quotecast.api.answers.answers import cached_for, feed_headers
from quotecast.api.market.services import Services, require_mirror
from quotecast.asgi import Header
from quotecast.bus.base import FeedInfo
from quotecast.errors import SymbolNotFound
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.market.bars import Bar, Interval, bars_with_price, opening_of_bar
from quotecast.market.calendars import EXCHANGE, Calendar, Exchange, is_open
from quotecast.market.feeds import Feed, calendar_of
from quotecast.market.quotes import Quote, StockQuote
from quotecast.market.ticks import decimals_of_quote, tick_size

#: Seconds for which clients may cache bars while the market trades, and while it rests.
MAX_AGE: Final = 5
RESTING_SECONDS: Final = 60
#: Seconds for which an answer is sent again while the price is unchanged; `Age` counts whole seconds.
HELD_SECONDS: Final = 0.5


class Market(Struct, frozen=True):
    """The current price of an instrument, its time, and the time and calendar of its market."""

    feed: Feed
    symbol: str
    #: The provider of the price; only its bars fit the price.
    provider: str
    price: float
    traded: datetime
    moment: datetime
    calendar: Calendar
    #: Of the mirror's entry.
    revision: int
    #: Whether the market is closed, and stays closed for RESTING_SECONDS before and after now.
    resting: bool
    #: Of the quote's prices.
    decimals: int
    #: How far back the client's plan reaches; None for the whole past.
    reach: Reach | None = None

    @property
    def is_extended(self) -> bool:
        """Whether the calendar has the hours before and after regular sessions, too."""
        return isinstance(self.calendar, Exchange) and self.calendar.is_extended


def market_of(services: Services, feed: Feed, symbol: str) -> Market:
    """Returns the market of a symbol. Raises ProviderMissing, NoData or SymbolNotFound."""
    mirror = require_mirror(services, feed)
    entry = mirror.find(symbol)
    if entry is None or entry.quote is None:
        raise SymbolNotFound
    info, quote = mirror.info, entry.quote
    calendar = calendar_of_venue(mirror)
    now = services.moment()
    traded = datetime.fromisoformat(quote.timestamp) if quote.timestamp else now
    pause = timedelta(seconds=RESTING_SECONDS)
    return Market(
        decimals=decimals_of_quote(quote),
        feed=feed,
        symbol=quote.key,
        provider=provider_of(quote, info),
        price=quote.price,
        traded=traded,
        # Simulated and recorded feeds have a time of their own: the timestamp of the quote.
        moment=traded if info is not None and info.simulated and services.as_of is None else now,
        calendar=calendar,
        revision=entry.revision,
        reach=services.reach,
        resting=not is_open(calendar, now - pause) and not is_open(calendar, now + pause),
    )


def provider_of(quote: Quote, info: FeedInfo | None) -> str:
    """Returns the provider of a quote; after a failover a pair names it before the feed's state does."""
    if isinstance(quote, StockQuote):
        return info.provider if info is not None else ""
    return quote.provider


def exchange_of(info: FeedInfo | None) -> Exchange:
    """Returns the exchange's calendar, with the deviations of today that its own clock reports."""
    return Exchange(info.unscheduled) if info and info.unscheduled else EXCHANGE


def calendar_of_venue(mirror: Mirror) -> Calendar:
    """Returns the trading days of a feed's venue."""
    info = mirror.info
    if info is None:
        return mirror.feed.spec.calendar
    return calendar_of(mirror.feed, always_open=info.always_open, unscheduled=info.unscheduled)


def tail_with_price(last: Bar | None, market: Market, interval: Interval, start: datetime) -> list[Bar]:
    """Returns the last bars with the current price.

    A price outside trading hours or before `start` changes nothing.
    """
    opened = opening_of_bar(market.calendar, interval, market.traded)
    if opened is None or market.traded < start:
        return [] if last is None else [last]
    return bars_with_price(last, opened, market.price)


def source_headers(market: Market, status: str, source: str, bars: Sequence[Bar]) -> list[Header]:
    """Returns the headers that say whether bars were cached, where they come from, and their tick size."""
    tick = tick_size(market.feed, market.decimals, bars)
    return [(b"x-cache", status.encode()), (b"x-source", source.encode()), (b"x-tick-size", tick.encode())]


def bars_headers(state: FeedState, market: Market, tag: bytes, *more: Header) -> list[Header]:
    """Returns the headers of bars that end with the current price."""
    cache = cached_for(RESTING_SECONDS if market.resting else MAX_AGE)
    # The last bar closes with the current price, whatever the age of the history.
    return [*feed_headers(tag, state, cache), *more, (b"age", b"0")]


def until_prices_move(
    services: Services, mirror: Mirror, markets: Sequence[Market], missing: Iterable[str] = ()
) -> Callable[[], bool]:
    """Returns a function that says whether an answer made now may be sent again.

    It may not once a missing symbol is listed.
    """
    until, state = services.monotonic() + HELD_SECONDS, mirror.state(services.monotonic())

    def is_current() -> bool:
        now = services.monotonic()
        same = now < until and mirror.state(now) == state and all(map(is_same_price, markets))
        return same and not any(mirror.entries_named(missing).values())

    def is_same_price(market: Market) -> bool:
        entry = mirror.find(market.symbol)
        return entry is not None and entry.revision == market.revision

    return is_current
