"""The simulated venues: trading hours and instruments of each feed."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from quotecast.market.calendars import (
    EXCHANGE,
    ISTANBUL_DAYS,
    NEW_YORK_DAYS,
    UTC_DAYS,
    AroundTheClock,
    Exchange,
)
from quotecast.market.feeds import Feed
from quotecast.market.reference import DovizInstrument, Pair, Stock, doviz_instruments, pairs
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.altered import (
    Alterations,
    ScheduledTape,
    other_alterations,
    stock_alterations,
)
from quotecast.simulation.market.hours import Hours
from quotecast.simulation.market.invented import TABLE_STOCKS, listed_stocks
from quotecast.simulation.market.listings import (
    Listing,
    doviz_listing,
    markup_of,
    pair_listing,
    stock_listing,
)
from quotecast.simulation.market.paths import paths
from quotecast.simulation.market.quoters import CryptoQuoter, DovizQuoter, ListedQuoter, Quoter, StockQuoter
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.market.tape import Tape, TapeSource

_UTC: Final = ZoneInfo("UTC")
_ISTANBUL: Final = ZoneInfo("Europe/Istanbul")
_ZONES: Final = {Feed.STOCKS: NEW_YORK, Feed.CRYPTO: _UTC, Feed.DOVIZ: _ISTANBUL}


def calendar_of(feed: Feed, *, always_open: bool) -> AroundTheClock | Exchange:
    """Returns a feed's trading days; only the stock venue may close."""
    if feed is Feed.STOCKS:
        return NEW_YORK_DAYS if always_open else EXCHANGE
    return UTC_DAYS if feed is Feed.CRYPTO else ISTANBUL_DAYS


def hours_of(feed: Feed, *, always_open: bool) -> Hours:
    """Returns a feed's trading hours."""
    return Hours(calendar_of(feed, always_open=always_open), _ZONES[feed])


def stock_tapes(
    listed: Sequence[Stock], seed: int, hours: Hours, schedule: Schedule | None = None
) -> dict[str, TapeSource]:
    """Returns the tapes by ticker."""
    tapes = {ticker: Tape(each, hours) for ticker, each in _stock_listings(tuple(listed), seed).items()}
    return _scheduled(tapes, schedule, stock_alterations)


@lru_cache(maxsize=4)
def _stock_listings(listed: tuple[Stock, ...], seed: int) -> dict[str, Listing]:
    """Returns the listings by ticker: quotes, bars and financials share them."""
    path_of = paths(seed)
    return {stock.ticker: stock_listing(stock, seed, path_of) for stock in listed}


def pair_tapes(
    listed: Sequence[Pair], seed: int, hours: Hours, schedule: Schedule | None = None
) -> dict[str, TapeSource]:
    """Returns the tapes by ticker."""
    path_of = paths(seed)
    tapes = {pair.ticker: Tape(pair_listing(pair, seed, path_of), hours) for pair in listed}
    return _scheduled(tapes, schedule, other_alterations)


def doviz_tapes(
    listed: Sequence[DovizInstrument], seed: int, hours: Hours, schedule: Schedule | None = None
) -> dict[str, TapeSource]:
    """Returns the tapes by symbol; a bank's instrument shares the tape of its underlying."""
    path_of = paths(seed)
    own = {
        each.symbol: Tape(doviz_listing(each, seed, path_of), hours) for each in listed if not each.underlying
    }
    tapes = _scheduled(own, schedule, other_alterations)
    return tapes | {each.symbol: tapes[each.underlying] for each in listed if each.underlying}


def _scheduled(
    tapes: Mapping[str, Tape], schedule: Schedule | None, alterations: Alterations
) -> dict[str, TapeSource]:
    if schedule is None:
        return {**tapes}
    return {symbol: ScheduledTape(tape, symbol, schedule, alterations) for symbol, tape in tapes.items()}


def quoters(
    feed: Feed, seed: int, hours: Hours, schedule: Schedule | None = None, *, stocks: int = TABLE_STOCKS
) -> list[Quoter]:
    """Returns a quoter for so many stocks, or for every instrument of another feed's reference table."""
    if feed is Feed.STOCKS:
        return stock_quoters(listed_stocks(stocks), seed, hours, schedule)
    if feed is Feed.CRYPTO:
        return pair_quoters(pairs(), seed, hours, schedule)
    return doviz_quoters(doviz_instruments(), seed, hours, schedule)


def stock_quoters(
    listed: Sequence[Stock], seed: int, hours: Hours, schedule: Schedule | None = None
) -> list[Quoter]:
    """Returns a quoter for each stock."""
    tapes = stock_tapes(listed, seed, hours, schedule)
    return [_while_listed(StockQuoter(each, tapes[each.ticker]), each.ticker, schedule) for each in listed]


def pair_quoters(
    listed: Sequence[Pair], seed: int, hours: Hours, schedule: Schedule | None = None
) -> list[Quoter]:
    """Returns a quoter for each pair."""
    tapes = pair_tapes(listed, seed, hours, schedule)
    return [_while_listed(CryptoQuoter(each, tapes[each.ticker]), each.ticker, schedule) for each in listed]


def doviz_quoters(
    listed: Sequence[DovizInstrument], seed: int, hours: Hours, schedule: Schedule | None = None
) -> list[Quoter]:
    """Returns a quoter for each instrument, banks' instruments included."""
    tapes = doviz_tapes(listed, seed, hours, schedule)
    return [
        _while_listed(
            DovizQuoter(each, tapes[each.symbol], markup_of(each, seed) if each.underlying else 0.0),
            each.underlying or each.symbol,
            schedule,
        )
        for each in listed
    ]


def _while_listed(quoter: Quoter, symbol: str, schedule: Schedule | None) -> Quoter:
    return quoter if schedule is None else ListedQuoter(quoter, symbol, schedule)
