"""Daily closes of several markets, from the bars that the service answers, and rates of days from them."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from msgspec import Struct

from quotecast.api.bars.market import Market
from quotecast.api.bars.pages import RANGE_WINDOWS
from quotecast.api.bars.queries import BarQuery
from quotecast.api.bars.reading import WITHOUT_BARS, read_bars
from quotecast.api.market.services import Services
from quotecast.api.prices.rates import rate_finder, rate_market
from quotecast.background import take_turns
from quotecast.errors import InvalidValue, QuotecastError
from quotecast.market.bars import Bar
from quotecast.market.conversion import Rate, factor
from quotecast.market.feeds import Feed
from quotecast.market.worth_history import CARRIED

#: More bars than a request may ask for: those of all days since 1970.
_ALL: Final = 25_000
#: From the midnight of any venue to its noon, which has the venue's date in UTC too.
_NOON: Final = timedelta(hours=12)
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
        end = _start_of(market, last + timedelta(days=1))
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


class DayRates(Struct, frozen=True):
    """The rates from several currencies into one, with their closes; None where they are unknown."""

    chains: Mapping[str, Sequence[tuple[Rate, Closes]] | None]

    def on(self, currency: str, day: date) -> Decimal | None:
        """Returns what one unit of a currency was worth on a day; None if that is unknown."""
        chain = self.chains.get(currency)
        if chain is None:
            return None
        known = [past for rate, closes in chain if (past := rate_on(rate, closes, day))]
        return factor(known) if len(known) == len(chain) else None


def rate_on(rate: Rate, closes: Closes, day: date) -> Rate | None:
    """Returns a rate on a day, by the close of its quote on that day or the last one before it."""
    closed = close_on(closes, day)
    return None if closed is None else rate.at_close(closes[closed], closed)


async def read_day_rates(
    services: Services, currencies: Iterable[str], target: str, first: date, last: date
) -> DayRates:
    """Returns the rates from some currencies to the target on the days from `first` to `last`."""
    find = rate_finder(services.mirrors)
    paths: dict[str, list[tuple[Rate, Market]]] = {}
    for currency in currencies:
        with suppress(QuotecastError):
            path = [(rate, rate_market(services, rate)) for rate in find(currency, target) or ()]
            if path or currency == target:
                paths[currency] = path
    # Many currencies share few rates, and each is read once.
    markets = {name_of(market): market for path in paths.values() for _, market in path}
    closes = await read_closes(services, markets, first - CARRIED, last)
    chains: dict[str, Sequence[tuple[Rate, Closes]] | None] = {}
    for currency, path in paths.items():
        known = [(rate, closes[name_of(market)]) for rate, market in path]
        chain = [(rate, each) for rate, each in known if not isinstance(each, QuotecastError)]
        chains[currency] = chain if len(chain) == len(known) else None
    return DayRates(chains)
