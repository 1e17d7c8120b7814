"""What a chart must know of an instrument: its hours, its steps of price, and its bars."""

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType

from quotecast.api.bars.market import Market, market_of
from quotecast.api.bars.own_bars import newest_bars
from quotecast.api.integrations.udf.instruments import Instrument
from quotecast.api.integrations.udf.resolutions import RESOLUTIONS, ZONES, is_intraday, resolutions_of
from quotecast.api.integrations.udf.sessions import hours_of
from quotecast.api.market.services import Services
from quotecast.market.feeds import Feed
from quotecast.market.ticks import tick_size

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
    now = datetime.fromtimestamp(services.now(), UTC)
    # The first call reads the holidays of decades.
    hours = await asyncio.to_thread(hours_of, market.calendar, now)
    multipliers = [each for each in resolutions_of(feed, market.calendar) if is_intraday(each)]
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
        session=hours.session,
        session_holidays=hours.session_holidays,
        corrections=hours.corrections,
        minmov=1,
        pricescale=_price_scale(services, market),
        intraday_multipliers=multipliers,
        # A chart makes those without bars of finer ones.
        supported_resolutions=[*RESOLUTIONS],
        visible_plots_set="ohlc" if feed is Feed.DOVIZ else "ohlcv",
        volume_precision=_VOLUME_DECIMALS[feed],
        data_status="delayed_streaming" if delay else "streaming",
        delay=delay or UNSET,
        currency_code=feed.spec.currency(quote),
    )


def _price_scale(services: Services, market: Market) -> int:
    """Returns 100 for prices in steps of 0.01."""
    bars = newest_bars(services.mirrors[market.feed], market.symbol, "1m")
    return int(1 / Decimal(tick_size(market.feed, market.decimals, bars)))
