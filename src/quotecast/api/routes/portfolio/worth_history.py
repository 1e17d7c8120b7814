"""The value of a user's holdings over time, from the bars that the service answers."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal

from msgspec import Struct

from quotecast.api.bars.market import Market, market_of
from quotecast.api.bars.queries import BarQuery
from quotecast.api.bars.reading import WITHOUT_BARS, read_bars
from quotecast.api.market.lookup import first_with
from quotecast.api.market.services import Services
from quotecast.api.routes.portfolio.holdings_shown import Exchange, exchange_of
from quotecast.errors import NoData
from quotecast.market.bars import Bar
from quotecast.market.calendars import UTC_DAYS
from quotecast.market.conversion import Rate, rate_of
from quotecast.market.feeds import Feed
from quotecast.market.ranges import Range, start_of
from quotecast.market.worth_history import CARRIED, Factor, Position, value_history
from quotecast.portfolio.portfolio import Holding

#: Symbols whose bars one answer reads, rates included.
MAX_SYMBOLS: Final = 100
#: Symbols that are read at a time: the upstream's other readers have to get a turn.
_AT_ONCE: Final = 4
#: Days of a range from which on each week has one point.
_WEEKLY_FROM: Final = 400
#: More bars than a range has.
_ALL: Final = 10_000
#: From the midnight of any venue to its noon, which has the venue's date in UTC too.
_NOON: Final = timedelta(hours=12)

#: Why a symbol is left out: no feed has it, no bars in the range, no rate, or too many symbols.
#: A `late` one is unknown on the first days only.
Reason = Literal["unknown", "bars", "rate", "limit", "late"]
Name = tuple[Feed, str]
Closes = Mapping[date, float]


class Missing(Struct, frozen=True):
    """A symbol that the values lack, and why; a `late` one has closes and rates `since` a day."""

    ticker: str
    reason: Reason
    since: date | None = None


class WorthHistory(Struct, frozen=True):
    """Values by day, and the symbols that they leave out."""

    days: Sequence[date]
    values: Sequence[float | None]
    missing: Sequence[Missing]


class _Priced(Struct, frozen=True):
    """A symbol with its market, and the rates from its currency."""

    market: Market
    rates: Sequence[tuple[Market, bool]]

    @property
    def markets(self) -> list[Market]:
        """The markets whose closes are the value."""
        return [self.market, *(rate for rate, _ in self.rates)]


async def worth_history(
    services: Services, holdings: Sequence[Holding], span: Range, currency: str
) -> WorthHistory:
    """Returns the value of holdings in one currency on each day of a range, or each week of five years."""
    lots: dict[str, list[tuple[date, float]]] = {}
    for each in holdings:
        lots.setdefault(each.ticker, []).append((each.bought_at, float(each.shares)))
    now = datetime.fromtimestamp(services.now(), UTC)
    priced, missing = _priced(services, lots, currency)
    today = max(
        (_today(each, now) for found in priced.values() for each in found.markets), default=now.date()
    )
    days = _days_of(span, today, min((each.bought_at for each in holdings), default=today))
    markets, unread = _within_limit(priced)
    missing.update(dict.fromkeys(unread, "limit"))
    start = datetime.combine(days[0] - CARRIED, datetime.min.time(), UTC) if days else now
    closes = await _read_all(services, markets, int(start.timestamp()))
    positions: dict[str, Position] = {}
    for ticker in [each for each in priced if each not in missing]:
        position = _position(lots[ticker], priced[ticker], closes)
        if isinstance(position, Position):
            positions[ticker] = position
        else:
            missing[ticker] = position
    named = [Missing(ticker, missing[ticker]) for ticker in sorted(missing)]
    late = [
        Missing(ticker, "late", since)
        for ticker in sorted(positions)
        if (since := _late_since(positions[ticker], days))
    ]
    # Many symbols with rates take longer than other requests should wait.
    values = await asyncio.to_thread(value_history, [*positions.values()], days)
    return WorthHistory(days, values, named + late)


def _position(
    lots: Sequence[tuple[date, float]], priced: _Priced, closes: Mapping[Name, Closes]
) -> Position | Reason:
    """Returns the position of a ticker, or why there is none."""
    if not closes.get(_name(priced.market)):
        return "bars"
    if not all(closes.get(_name(rate)) for rate, _ in priced.rates):
        return "rate"
    rates = [Factor(closes[_name(rate)], inverse) for rate, inverse in priced.rates]
    return Position(lots, [Factor(closes[_name(priced.market)]), *rates])


def _late_since(position: Position, days: Sequence[date]) -> date | None:
    """Returns the first day with all closes if the position has no value before it; else None."""
    since = max(min(factor.closes) for factor in position.factors)
    held = max(days[0], min(day for day, _ in position.lots)) if days else since
    return since if since > held else None


def _today(market: Market, now: datetime) -> date:
    """Returns the date at a market's venue."""
    return next(market.feed.spec.always_open.until(now)).date


def _days_of(span: Range, today: date, first: date) -> list[date]:
    """Returns the days of a range from the first purchase on, up to today."""
    begin = start_of(span, UTC_DAYS, datetime.combine(today, time(), UTC)).date()
    count = (today - begin).days
    step = 7 if count > _WEEKLY_FROM else 1
    days = (today - timedelta(days=back) for back in range(count // step * step, -1, -step))
    return [day for day in days if day >= first]


def _priced(
    services: Services, tickers: Iterable[str], currency: str
) -> tuple[dict[str, _Priced], dict[str, Reason]]:
    """Returns the markets of the tickers and of their rates, and what is missing."""
    exchange = exchange_of(services.mirrors)
    priced: dict[str, _Priced] = {}
    missing: dict[str, Reason] = {}
    for ticker in tickers:
        found = _market(services, ticker)
        if found is None:
            missing[ticker] = "unknown"
            continue
        rates = _rates(services, exchange, found, currency)
        if rates is None:
            missing[ticker] = "rate"
        else:
            priced[ticker] = _Priced(found, rates)
    return priced, missing


def _market(services: Services, ticker: str, feeds: Iterable[Feed] = Feed) -> Market | None:
    found = first_with(services.mirrors, ticker, feeds)
    if found is None or found[1].quote is None:
        return None
    try:
        return market_of(services, found[0], found[1].key)
    except (*WITHOUT_BARS, NoData):
        return None


def _rates(
    services: Services, exchange: Exchange, market: Market, currency: str
) -> list[tuple[Market, bool]] | None:
    """Returns the markets of the rates from a symbol's currency, and whether each rate is the inverse."""
    entry = services.mirrors[market.feed].find(market.symbol)
    if entry is None or entry.quote is None:
        return None
    chain = exchange(market.feed.spec.currency(entry.quote), currency)
    if chain is None:
        return None
    markets = [_rate_market(services, rate) for rate in chain]
    return None if None in markets else [each for each in markets if each is not None]


def _rate_market(services: Services, rate: Rate) -> tuple[Market, bool] | None:
    feeds = (Feed.DOVIZ, Feed.CRYPTO)
    found = first_with(services.mirrors, rate.symbol, feeds)
    market = _market(services, rate.symbol, feeds)
    direct = rate_of(found[1].quote) if found and found[1].quote else None
    return None if market is None or direct is None else (market, direct.base != rate.base)


def _within_limit(priced: Mapping[str, _Priced]) -> tuple[dict[Name, Market], list[str]]:
    """Returns the markets to read, at most MAX_SYMBOLS, and the tickers that find no room."""
    markets: dict[Name, Market] = {}
    unread: list[str] = []
    for ticker, found in priced.items():
        needed = {_name(each): each for each in found.markets}
        if len(markets.keys() | needed.keys()) > MAX_SYMBOLS:
            unread.append(ticker)
        else:
            markets |= needed
    return markets, unread


def _name(market: Market) -> Name:
    return market.feed, market.symbol


async def _read_all(services: Services, markets: Mapping[Name, Market], start: int) -> dict[Name, Closes]:
    """Returns the daily closes since a moment, in Unix time; of an upstream that fails there are none."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def read(market: Market) -> Closes:
        async with turns:
            await asyncio.sleep(0)  # other requests and the feeds get a turn between two symbols
            try:
                found = await read_bars(services, market, BarQuery("D", start, limit=_ALL), own_only=False)
            except WITHOUT_BARS:
                return {}
            return {_date(bar): bar.close for bar in found.page.bars}

    return dict(zip(markets, await asyncio.gather(*map(read, markets.values())), strict=True))


def _date(bar: Bar) -> date:
    return (datetime.fromisoformat(bar.time) + _NOON).date()
