"""The simulated venues: trading hours and instruments of each feed."""

from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from quotecast.market.calendars import EXCHANGE, ISTANBUL_DAYS, NEW_YORK_DAYS, UTC_DAYS
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.reference import (
    DovizInstrument,
    Pair,
    Stock,
    doviz_instruments,
    pairs,
    stocks,
)
from quotecast.providers.simulator.hours import Hours
from quotecast.providers.simulator.listings import doviz_listing, markup_of, pair_listing, stock_listing
from quotecast.providers.simulator.paths import paths
from quotecast.providers.simulator.quoters import CryptoQuoter, DovizQuoter, Quoter, StockQuoter
from quotecast.providers.simulator.tape import Tape

_UTC: Final = ZoneInfo("UTC")
_ISTANBUL: Final = ZoneInfo("Europe/Istanbul")


def hours_of(feed: Feed, *, always_open: bool) -> Hours:
    """Returns a feed's trading hours; only the stock venue may close."""
    if feed is Feed.STOCKS:
        return Hours(NEW_YORK_DAYS if always_open else EXCHANGE, NEW_YORK)
    return Hours(UTC_DAYS, _UTC) if feed is Feed.CRYPTO else Hours(ISTANBUL_DAYS, _ISTANBUL)


def stock_tapes(listed: Sequence[Stock], seed: int, hours: Hours) -> dict[str, Tape]:
    """Returns the tapes by ticker."""
    path_of = paths(seed)
    return {stock.ticker: Tape(stock_listing(stock, seed, path_of), hours) for stock in listed}


def pair_tapes(listed: Sequence[Pair], seed: int, hours: Hours) -> dict[str, Tape]:
    """Returns the tapes by ticker."""
    path_of = paths(seed)
    return {pair.ticker: Tape(pair_listing(pair, seed, path_of), hours) for pair in listed}


def doviz_tapes(listed: Sequence[DovizInstrument], seed: int, hours: Hours) -> dict[str, Tape]:
    """Returns the tapes by symbol; a bank's instrument shares the tape of its underlying."""
    path_of = paths(seed)
    tapes = {
        each.symbol: Tape(doviz_listing(each, seed, path_of), hours) for each in listed if not each.underlying
    }
    return tapes | {each.symbol: tapes[each.underlying] for each in listed if each.underlying}


def quoters(feed: Feed, seed: int, hours: Hours) -> list[Quoter]:
    """Returns a quoter for every instrument of the feed's reference table."""
    if feed is Feed.STOCKS:
        return stock_quoters(stocks(), seed, hours)
    if feed is Feed.CRYPTO:
        return pair_quoters(pairs(), seed, hours)
    return doviz_quoters(doviz_instruments(), seed, hours)


def stock_quoters(listed: Sequence[Stock], seed: int, hours: Hours) -> list[Quoter]:
    """Returns a quoter for each stock."""
    tapes = stock_tapes(listed, seed, hours)
    return [StockQuoter(stock, tapes[stock.ticker]) for stock in listed]


def pair_quoters(listed: Sequence[Pair], seed: int, hours: Hours) -> list[Quoter]:
    """Returns a quoter for each pair."""
    tapes = pair_tapes(listed, seed, hours)
    return [CryptoQuoter(pair, tapes[pair.ticker]) for pair in listed]


def doviz_quoters(listed: Sequence[DovizInstrument], seed: int, hours: Hours) -> list[Quoter]:
    """Returns a quoter for each instrument, banks' instruments included."""
    tapes = doviz_tapes(listed, seed, hours)
    return [
        DovizQuoter(each, tapes[each.symbol], markup_of(each, seed) if each.underlying else 0.0)
        for each in listed
    ]
