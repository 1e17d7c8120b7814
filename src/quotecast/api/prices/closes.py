"""Daily closes of several markets, from the bars that the service answers."""

import asyncio
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Final

from quotecast.api.bars.market import Market
from quotecast.api.bars.pages import RANGE_WINDOWS
from quotecast.api.bars.queries import BarQuery
from quotecast.api.bars.reading import WITHOUT_BARS, read_bars
from quotecast.api.market.services import Services
from quotecast.background import take_turns
from quotecast.errors import InvalidValue, QuotecastError
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.worth_history import CARRIED

#: More bars than a request may ask for: those of all days since 1970.
_ALL: Final = 25_000
#: From the midnight of any venue to its noon, which has the venue's date in UTC too.
_NOON: Final = timedelta(hours=12)
_DAY: Final = timedelta(days=1)
#: Days of the RANGE_WINDOWS that one reading has at most, with a reserve; it begins with the oldest.
_REACH: Final = timedelta(days=15_000)

Name = tuple[Feed, str]
#: Closes by date, ascending.
Closes = Mapping[date, float]


def name_of(market: Market) -> Name:
    """Returns the feed and the symbol of a market."""
    return market.feed, market.symbol


def today_of(market: Market) -> date:
    """Returns the date at a market's venue."""
    return next(market.feed.spec.always_open.until(market.moment)).date


async def read_closes(
    services: Services, markets: Mapping[Name, Market], first: date, last: date
) -> dict[Name, Closes | QuotecastError]:
    """Returns the closes from `first` to `last` of each market, or the upstream's error."""

    async def read(market: Market) -> Closes | QuotecastError:
        start = _start_of(market, max(first, last - _REACH))
        if services.reach is not None:
            # The days before `first` that only serve its weekends and holidays may be out of the plan.
            start = max(start, services.reach.start(market.moment.timestamp()))
        end = _start_of(market, last + _DAY)
        if start >= end or start > market.moment.timestamp():
            return {}
        await asyncio.sleep(0)  # other requests and the feeds get a turn between two symbols
        query = BarQuery("D", start, end, _ALL)
        try:
            found = await read_bars(services, market, query, own_only=False, most=RANGE_WINDOWS)
        except (*WITHOUT_BARS, InvalidValue) as error:
            return error
        return {_date(bar): bar.close for bar in found.bars}

    found = await asyncio.gather(*map(take_turns(read), markets.values()))
    return dict(zip(markets, found, strict=True))


async def first_close_since(services: Services, market: Market, day: date) -> date | None:
    """Returns the date of a market's first close on or after a day; None if there is none, or none now."""
    start = _start_of(market, day)
    if start > market.moment.timestamp():
        return None
    query = BarQuery("D", start, None, 1)
    try:
        found = await read_bars(services, market, query, own_only=False)
    except WITHOUT_BARS:
        return None
    return _date(found.bars[0]) if found.bars else None


def close_on(closes: Closes, day: date) -> date | None:
    """Returns the day, or else the last one before it that has a close; None if that is too long ago."""
    before = (day - timedelta(days=days) for days in range(CARRIED.days + 1))
    return next((each for each in before if each in closes), None)


def _start_of(market: Market, day: date) -> int:
    """Returns the Unix time at which a day begins at the venue; bars begin in 1970."""
    return max(0, int(market.feed.spec.always_open.first_from(day).midnight.timestamp()))


def _date(bar: Bar) -> date:
    return (datetime.fromisoformat(bar.time) + _NOON).date()
