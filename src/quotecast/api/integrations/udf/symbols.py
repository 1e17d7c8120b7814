"""What a chart must know of an instrument: its hours, its steps of price, and its bars."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from quotecast.api.bars.market import market_of
from quotecast.api.bars.own_bars import newest_bars
from quotecast.api.integrations.udf.instruments import Instrument
from quotecast.api.integrations.udf.resolutions import RESOLUTIONS, ZONES, resolutions_of
from quotecast.api.market.services import Services
from quotecast.market.bars import LENGTHS
from quotecast.market.calendars import Calendar, Exchange
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK
from quotecast.market.ticks import tick_size

#: The first year whose holidays a chart gets; intraday bars of earlier years are rare.
FIRST_YEAR: Final = 2000
_REGULAR: Final = "0930-1600"
_SATURDAY: Final = 5


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
