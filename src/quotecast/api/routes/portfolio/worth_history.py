"""The value of a user's holdings over time, from the bars that the service answers."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal

from msgspec import Struct

from quotecast.api.bars.market import Market, market_of
from quotecast.api.bars.reading import WITHOUT_BARS
from quotecast.api.market.names import first_with
from quotecast.api.market.services import Services
from quotecast.api.prices.closes import Closes, Name, name_of, read_closes, today_of
from quotecast.api.prices.rates import rate_finder, rate_market
from quotecast.errors import NoData, QuotecastError
from quotecast.market.calendars import UTC_DAYS
from quotecast.market.ranges import Range, start_of
from quotecast.market.worth_history import CARRIED, Factor, Position, value_history
from quotecast.portfolio.ledger import Held

#: Symbols whose bars one answer reads, rates included.
MAX_SYMBOLS: Final = 100
#: Days of a range from which on each week has one point.
_WEEKLY_FROM: Final = 400

#: Why a symbol is left out: no feed has it, no bars in the range, no rate, or too many symbols.
#: A `late` one is unknown on the first days only.
Reason = Literal["unknown", "bars", "rate", "limit", "late"]


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
    """A symbol with its market, and the markets of the rates from its currency; True for an inverse rate."""

    market: Market
    rates: Sequence[tuple[Market, bool]]

    @property
    def markets(self) -> list[Market]:
        """The markets whose closes are the value."""
        return [self.market, *(rate for rate, _ in self.rates)]


async def worth_history(services: Services, held: Sequence[Held], span: Range, currency: str) -> WorthHistory:
    """Returns the value of shares in one currency on each day of a range, or each week of five years."""
    lots: dict[str, list[tuple[date, float]]] = {}
    for each in held:
        lots.setdefault(each.ticker, []).append((each.day, each.shares))
    now = services.moment()
    priced, missing = _priced(services, lots, currency)
    today = max((today_of(each) for found in priced.values() for each in found.markets), default=now.date())
    # A purchase of today may be a day ahead of its venue.
    days = _days_of(span, today, min((each.day for each in held if each.day <= today), default=today))
    markets, unread = _within_limit(priced)
    missing.update(dict.fromkeys(unread, "limit"))
    start = days[0] - CARRIED if days else today
    read = await read_closes(services, markets, start, today)
    # Of an upstream that fails there are none.
    closes = {name: {} if isinstance(each, QuotecastError) else each for name, each in read.items()}
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
    if not closes.get(name_of(priced.market)):
        return "bars"
    if not all(closes.get(name_of(rate)) for rate, _ in priced.rates):
        return "rate"
    rates = [Factor(closes[name_of(rate)], inverse) for rate, inverse in priced.rates]
    return Position(lots, [Factor(closes[name_of(priced.market)]), *rates])


def _late_since(position: Position, days: Sequence[date]) -> date | None:
    """Returns the first day with all closes if the position has no value before it; else None."""
    since = max(min(factor.closes) for factor in position.factors)
    held = max(days[0], min(day for day, _ in position.lots)) if days else since
    return since if since > held else None


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
    find = rate_finder(services.mirrors)
    priced: dict[str, _Priced] = {}
    missing: dict[str, Reason] = {}
    for ticker in tickers:
        found = first_with(services.mirrors, ticker)
        if found is None or found[1].quote is None:
            missing[ticker] = "unknown"
            continue
        feed, quote = found[0], found[1].quote
        try:
            market = market_of(services, feed, quote.key)
        except (*WITHOUT_BARS, NoData):
            missing[ticker] = "unknown"
            continue
        chain = find(feed.spec.currency(quote), currency)
        try:
            rates = (
                None if chain is None else [(rate_market(services, each), each.is_inverse) for each in chain]
            )
        except (*WITHOUT_BARS, NoData):
            rates = None
        if rates is None:
            missing[ticker] = "rate"
        else:
            priced[ticker] = _Priced(market, rates)
    return priced, missing


def _within_limit(priced: Mapping[str, _Priced]) -> tuple[dict[Name, Market], list[str]]:
    """Returns the markets to read, at most MAX_SYMBOLS, and the tickers that find no room."""
    markets: dict[Name, Market] = {}
    unread: list[str] = []
    for ticker, found in priced.items():
        needed = {name_of(each): each for each in found.markets}
        if len(markets.keys() | needed.keys()) > MAX_SYMBOLS:
            unread.append(ticker)
        else:
            markets |= needed
    return markets, unread
