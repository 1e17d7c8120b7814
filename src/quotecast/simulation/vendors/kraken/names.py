"""Kraken's names of assets and pairs.

Source: Kraken documentation, "REST API: Get Asset Info, Get Tradable Asset Pairs".
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

#: Short names that differ from the usual ones.
_SHORT: Final = {"BTC": "XBT", "DOGE": "XDG"}
#: Assets whose long names begin with X, and currencies whose long names begin with Z.
_OLD_COINS: Final = frozenset({"XBT", "XDG", "ETH", "ETC", "LTC", "MLN", "REP", "XLM", "XMR", "XRP", "ZEC"})
_CURRENCIES: Final = frozenset({"USD", "EUR", "GBP", "CAD", "JPY", "AUD"})


class KrakenPair(Struct, frozen=True):
    """A pair: `symbol` is `BTC/USD`, `key` `XXBTZUSD`, `altname` `XBTUSD`, `wsname` `XBT/USD`."""

    symbol: str
    key: str
    altname: str
    wsname: str
    #: Long names of the assets, such as `XXBT` and `ZUSD`.
    base: str
    quote: str


@cache
def kraken_pair(symbol: str) -> KrakenPair:
    """Returns Kraken's names of a pair such as `BTC/USD`."""
    base, quote = (short_name(asset) for asset in symbol.split("/"))
    long_base, long_quote = long_name(base), long_name(quote)
    # Dogecoin came later than the other old coins: its pairs have short names.
    has_long_key = base not in ("XDG", long_base) and long_quote != quote
    return KrakenPair(
        symbol=symbol,
        key=long_base + long_quote if has_long_key else base + quote,
        altname=base + quote,
        wsname=f"{base}/{quote}",
        base=long_base,
        quote=long_quote,
    )


def by_name(symbols: Iterable[str]) -> Mapping[str, KrakenPair]:
    """Returns pairs by every name that REST accepts."""
    pairs = [kraken_pair(symbol) for symbol in symbols]
    return {
        name: pair
        for pair in pairs
        for name in (pair.symbol.replace("/", ""), pair.symbol, pair.wsname, pair.altname, pair.key)
    }


def short_name(asset: str) -> str:
    """Returns Kraken's short name of an asset, such as `XBT`."""
    return _SHORT.get(asset, asset)


def long_name(short: str) -> str:
    """Returns the long name of a short one: `XXBT` of `XBT`, `ZUSD` of `USD`, `SOL` of `SOL`."""
    if short in _CURRENCIES:
        return f"Z{short}"
    return f"X{short}" if short in _OLD_COINS else short
