"""Reference data of well-known instruments, without an upstream: names, sectors, dealers, rough prices.

The tables are CSV files inside the package; code finds columns by name. Prices and amounts are rough: a
simulation starts from them, and no client sees them as quotes.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import TypeVar

import msgspec
from msgspec import Struct

_Row = TypeVar("_Row")


class Stock(Struct, frozen=True):
    """A company's US listing; `sector` and `industry` are those of GICS, `price` is in US dollars."""

    ticker: str
    name: str
    exchange: str
    sector: str
    industry: str
    #: Shares outstanding of this class.
    shares: int
    price: float


class Pair(Struct, frozen=True):
    """A crypto asset (`base`) priced in another currency (`quote`); `name` is the asset's."""

    base: str
    quote: str
    name: str
    #: Units of `quote` for one of `base`.
    price: float
    #: Units of `base` in circulation.
    supply: float

    @property
    def ticker(self) -> str:
        """Returns the key of the pair, such as `BTC/USDT`."""
        return f"{self.base}/{self.quote}"


class DovizInstrument(Struct, frozen=True):
    """A currency, metal or index of one dealer in Türkiye.

    `price` is in `currency` for one `unit`, or in points for an index.
    """

    symbol: str
    name: str
    #: One of `quotecast.market.instruments.CATEGORIES`.
    category: str
    #: The usual name of the market or the bank.
    source: str
    unit: str
    currency: str
    price: float
    #: The spread between buying and selling, in percent of the price.
    spread_percent: float
    #: The bank's slug, when a bank deals in it.
    bank: str | None = None
    #: The symbol of the same thing on the market, when a bank deals in it.
    underlying: str | None = None


class _Bank(Struct, frozen=True):
    slug: str
    name: str
    #: The bank's spread as a multiple of the market's.
    spread_factor: float
    #: Market symbols, separated by blanks.
    instruments: str


@cache
def stocks() -> tuple[Stock, ...]:
    """Returns some 500 large companies, by ticker."""
    return _table("stocks.csv", Stock)


@cache
def pairs() -> tuple[Pair, ...]:
    """Returns well-known crypto assets, most of them priced in USDT."""
    return _table("crypto.csv", Pair)


@cache
def doviz_instruments() -> tuple[DovizInstrument, ...]:
    """Returns the instruments of the market, then those of each bank."""
    market = _table("doviz.csv", DovizInstrument)
    by_symbol = {instrument.symbol: instrument for instrument in market}
    banks = _table("banks.csv", _Bank)
    return (*market, *(offer for bank in banks for offer in _offers(bank, by_symbol)))


def asset_name(symbol: str) -> str | None:
    """Returns the name of a crypto asset, `Bitcoin` for `BTC`; None when the table lacks it."""
    return _asset_names().get(symbol)


@cache
def _asset_names() -> dict[str, str]:
    return {pair.base: pair.name for pair in pairs()}


def _offers(bank: _Bank, market: Mapping[str, DovizInstrument]) -> Iterator[DovizInstrument]:
    for symbol in bank.instruments.split():
        underlying = market[symbol]
        yield msgspec.structs.replace(
            underlying,
            symbol=f"{bank.slug}-{symbol}",
            source=bank.name,
            spread_percent=round(underlying.spread_percent * bank.spread_factor, 3),
            bank=bank.slug,
            underlying=symbol,
        )


def _table(file_name: str, row: type[_Row]) -> tuple[_Row, ...]:
    return tuple(msgspec.convert(line, row, strict=False) for line in rows_of(file_name))


def rows_of(file_name: str) -> Iterable[Mapping[str, str]]:
    """Returns the rows of a CSV file inside the package, by the names of their columns."""
    text = (resources.files("quotecast.market") / "data" / file_name).read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())
