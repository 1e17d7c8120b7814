"""The instruments that are known without asking an upstream: names, sectors, dealers, rough prices.

The tables are CSV files inside the package, with columns looked up by name. Prices and amounts are
rough: they give a simulation a plausible start and are no quotes.
"""

import csv
from collections.abc import Iterator, Mapping
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
        """What the pair is addressed by, such as `BTC/USDT`."""
        return f"{self.base}/{self.quote}"


class DovizInstrument(Struct, frozen=True):
    """A currency, metal or index as one source in Türkiye deals in it.

    `price` is in `currency` for one `unit`, or in points for an index.
    """

    symbol: str
    name: str
    #: One of `quotecast.market.instruments.CATEGORIES`.
    category: str
    #: The market or the bank, as people call it.
    source: str
    unit: str
    currency: str
    price: float
    #: How far buying and selling lie apart, in percent of the price.
    spread_percent: float
    #: The bank's slug, when a bank deals in it.
    bank: str | None = None
    #: The symbol of the same thing on the market, when a bank deals in it.
    underlying: str | None = None


class _Bank(Struct, frozen=True):
    slug: str
    name: str
    #: How many times wider than the market's the bank's spreads are.
    spread_factor: float
    #: Market symbols, separated by blanks.
    instruments: str


@cache
def stocks() -> tuple[Stock, ...]:
    """Some 500 large companies, by ticker."""
    return _table("stocks.csv", Stock)


@cache
def pairs() -> tuple[Pair, ...]:
    """Well-known crypto assets, most of them priced in USDT."""
    return _table("crypto.csv", Pair)


@cache
def doviz_instruments() -> tuple[DovizInstrument, ...]:
    """What the markets deal in, then what each bank does."""
    market = _table("doviz.csv", DovizInstrument)
    by_symbol = {instrument.symbol: instrument for instrument in market}
    banks = _table("banks.csv", _Bank)
    return (*market, *(offer for bank in banks for offer in _offers(bank, by_symbol)))


def asset_name(symbol: str) -> str | None:
    """What people call a crypto asset: `Bitcoin` for `BTC`; None when it is not in the table."""
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
    text = (resources.files("quotecast.providers") / "data" / file_name).read_text(encoding="utf-8")
    lines = csv.DictReader(text.splitlines())
    return tuple(msgspec.convert(line, row, strict=False) for line in lines)
