"""Instruments as charts name them, their search, and what a chart must know of one.

Names are `AAPL`, `NASDAQ:AAPL`, `BTC/USDT` and `DOVIZ:gram-altin`.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from quotecast.api.bars.market import market_of
from quotecast.api.bars.own_bars import newest_bars
from quotecast.api.integrations.udf.resolutions import RESOLUTIONS, ZONES, resolutions_of
from quotecast.api.market.names import first_with, require_data
from quotecast.api.market.services import Services
from quotecast.errors import SymbolNotFound
from quotecast.market.assets import Asset
from quotecast.market.bars import LENGTHS
from quotecast.market.calendars import Calendar, Exchange
from quotecast.market.feeds import Feed, feed_of_kind
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote, StockQuote
from quotecast.market.sessions import NEW_YORK
from quotecast.market.ticks import tick_size

#: The exchange of Turkish prices.
DOVIZ: Final = "DOVIZ"
#: The exchange of a stock that is not among the assets.
UNLISTED: Final = "US"
#: The longest name in a request: an exchange, a colon and a symbol.
MAX_NAME: Final = 80

_TYPES: Final = {"currency": "forex", "index": "index"}
_METAL: Final = "commodity"
TYPES: Final = ("stock", "crypto", "forex", _METAL, "index")
#: The feeds of the types.
_FEEDS: Final = {"stock": Feed.STOCKS, "crypto": Feed.CRYPTO}
#: Results that a search looks at: those of another type or exchange do not count.
_LOOKED_AT: Final = 500

#: The first year whose holidays a chart gets; intraday bars of earlier years are rare.
FIRST_YEAR: Final = 2000
_REGULAR: Final = "0930-1600"
_SATURDAY: Final = 5


class Instrument(Struct, frozen=True):
    """An instrument of a feed. `ticker` names it in every request of a chart."""

    feed: Feed
    quote: Quote
    ticker: str
    exchange: str
    type: str


def find_instrument(services: Services, text: str) -> Instrument:
    """Returns the instrument of a name, with or without its exchange, in any letter case.

    A name that two feeds have means the first of stocks, crypto and doviz. Raises SymbolNotFound, or NoData.
    """
    exchange, colon, name = text.strip().rpartition(":")
    feeds = services.configured()
    if colon:
        wanted = exchange.casefold()
        feeds = [each for each in feeds if (each is Feed.DOVIZ) == (wanted == DOVIZ.casefold())]
    found = first_with(services.mirrors, name, feeds)
    if found is None or found[1].quote is None:
        require_data(services.mirrors, name, feeds)
        raise SymbolNotFound
    instrument = instrument_of(services, found[0], found[1].quote)
    if colon and instrument.exchange.casefold() != wanted:
        raise SymbolNotFound
    return instrument


def instrument_of(services: Services, feed: Feed, quote: Quote) -> Instrument:
    """Returns the instrument of a quote."""
    match quote:
        case StockQuote():
            exchange = services.documents.assets.derive(_exchanges).get(quote.key, UNLISTED)
            return Instrument(feed, quote, quote.key, exchange, "stock")
        case CryptoQuote():
            return Instrument(feed, quote, quote.key, quote.exchange, "crypto")
        case DovizQuote():
            # With its exchange: a currency may have the ticker of a stock.
            kind = _TYPES.get(quote.category, _METAL)
            return Instrument(feed, quote, f"{DOVIZ}:{quote.key}", DOVIZ, kind)


def exchanges(services: Services) -> list[str]:
    """Returns the exchanges of all instruments, in alphabetical order."""
    names = set(services.documents.assets.derive(_exchanges).values())
    for feed in services.configured():
        if feed is Feed.DOVIZ:
            names.add(DOVIZ)
        if feed is Feed.CRYPTO:
            names |= services.mirrors[feed].derive(_venues)
    return sorted(names)


def _exchanges(assets: Sequence[Asset]) -> Mapping[str, str]:
    return {asset.ticker: asset.exchange for asset in assets}


def _venues(mirror: Any) -> frozenset[str]:
    return frozenset(quote.exchange for quote in mirror.quotes().values())


class FoundSymbol(Struct, frozen=True):
    """A result of a search, in the fields of TradingView's `SearchSymbolResultItem`."""

    symbol: str
    full_name: str
    description: str
    exchange: str
    ticker: str
    type: str


async def find_symbols(
    services: Services, text: str, kind: str, exchange: str, limit: int
) -> list[FoundSymbol]:
    """Returns the best matches of a type and an exchange; "" stands for any. Raises as the search does."""
    feeds = services.configured()
    if kind:
        feeds = [each for each in feeds if each is _FEEDS.get(kind, Feed.DOVIZ)]
    most = _LOOKED_AT if kind or exchange else limit
    results = await services.searches.find(text, most, feeds, services.monotonic())
    found: list[FoundSymbol] = []
    for result in results:
        feed = feed_of_kind(result.type)
        entry = services.mirrors[feed].find(result.ticker)
        # A listed stock may have no price.
        if entry is None or entry.quote is None:
            continue
        each = instrument_of(services, feed, entry.quote)
        if kind in {"", each.type} and exchange.casefold() in {"", each.exchange.casefold()}:
            full_name = f"{each.exchange}:{result.ticker}"
            found.append(
                FoundSymbol(result.ticker, full_name, result.name, each.exchange, each.ticker, each.type)
            )
    return found[:limit]


EXAMPLE_FOUND: Final = [FoundSymbol("AAPL", "NASDAQ:AAPL", "Apple Inc.", "NASDAQ", "AAPL", "stock")]


class Hours(Struct, frozen=True):
    """When a venue trades, in its own time: the usual session, closed days, and days with other hours."""

    session: str
    session_holidays: str = ""
    corrections: str = ""


_ALWAYS: Final = Hours("24x7")
#: Decimals of a volume: shares are whole.
_VOLUME_DECIMALS: Final = {Feed.STOCKS: 0, Feed.CRYPTO: 8, Feed.DOVIZ: 0}


class SymbolInfo(Struct, frozen=True, kw_only=True):
    """An instrument, in the fields of TradingView's `LibrarySymbolInfo`."""

    name: str
    ticker: str
    description: str
    type: str
    exchange: str
    listed_exchange: str
    timezone: str
    session: str
    session_holidays: str
    corrections: str
    minmov: int
    pricescale: int
    format: Literal["price"] = "price"
    has_intraday: bool = True
    has_daily: bool = True
    has_weekly_and_monthly: bool = True
    intraday_multipliers: list[str]
    supported_resolutions: list[str]
    visible_plots_set: Literal["ohlcv", "ohlc"]
    volume_precision: int
    data_status: Literal["streaming", "delayed_streaming"]
    #: Seconds by which prices are late; absent for real-time prices.
    delay: int | UnsetType = UNSET
    currency_code: str


async def symbol_info(services: Services, instrument: Instrument) -> SymbolInfo:
    """Returns what a chart must know of an instrument."""
    feed, quote = instrument.feed, instrument.quote
    market = market_of(services, feed, quote.key)
    now = services.moment()
    # The first call reads the holidays of decades.
    hours = await asyncio.to_thread(hours_of, market.calendar, now)
    multipliers = [each for each in resolutions_of(feed, market.calendar) if RESOLUTIONS[each] in LENGTHS]
    bars = newest_bars(services.mirrors[feed], market.symbol, "1m")
    info = services.mirrors[feed].info
    delay = int(info.delay_seconds) if info else 0
    return SymbolInfo(
        name=quote.key,
        ticker=instrument.ticker,
        description=quote.name,
        type=instrument.type,
        exchange=instrument.exchange,
        listed_exchange=instrument.exchange,
        timezone=ZONES[feed],
        **asdict(hours),
        minmov=1,
        # 100 for prices in steps of 0.01.
        pricescale=int(1 / Decimal(tick_size(feed, market.decimals, bars))),
        intraday_multipliers=multipliers,
        # A chart makes those without bars of finer ones.
        supported_resolutions=[*RESOLUTIONS],
        visible_plots_set="ohlc" if feed is Feed.DOVIZ else "ohlcv",
        volume_precision=_VOLUME_DECIMALS[feed],
        data_status="delayed_streaming" if delay else "streaming",
        delay=delay or UNSET,
        currency_code=feed.spec.currency(quote),
    )


def hours_of(calendar: Calendar, moment: datetime) -> Hours:
    """Returns the hours of a venue, up to the end of the year after an aware moment."""
    if not isinstance(calendar, Exchange):
        return _ALWAYS
    return _exchange_hours(calendar, moment.astimezone(NEW_YORK).year + 1)


@lru_cache(maxsize=8)
def _exchange_hours(exchange: Exchange, last_year: int) -> Hours:
    closed: list[str] = []
    other: defaultdict[str, list[str]] = defaultdict(list)
    for day in _weekdays(last_year):
        hours = exchange.hours(day)
        if hours is None:
            closed.append(f"{day:%Y%m%d}")
            continue
        opening, closing = (each.astimezone(NEW_YORK) for each in (hours.open, hours.close))
        session = f"{opening:%H%M}-{closing:%H%M}"
        if session != _REGULAR:
            other[session].append(f"{day:%Y%m%d}")
    corrections = ";".join(f"{session}:{','.join(days)}" for session, days in other.items())
    return Hours(_REGULAR, ",".join(closed), corrections)


def _weekdays(last_year: int) -> Iterator[date]:
    """Yields the weekdays of the known years, the latest first."""
    day = date(last_year, 12, 31)
    while day.year >= FIRST_YEAR:
        if day.weekday() < _SATURDAY:
            yield day
        day -= timedelta(days=1)


EXAMPLE_SYMBOL: Final = SymbolInfo(
    name="AAPL",
    ticker="AAPL",
    description="Apple Inc.",
    type="stock",
    exchange="NASDAQ",
    listed_exchange="NASDAQ",
    timezone="America/New_York",
    session="0930-1600",
    session_holidays="20271224,20271125",
    corrections="0930-1300:20271126",
    minmov=1,
    pricescale=100,
    intraday_multipliers=["1", "5", "15"],
    supported_resolutions=["1", "5", "15", "30", "60", "240", "1D", "1W", "1M"],
    visible_plots_set="ohlcv",
    volume_precision=0,
    data_status="streaming",
    currency_code="USD",
)
