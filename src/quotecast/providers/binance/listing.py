"""The choice of Binance's pairs to follow."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Final

from msgspec import Raw

from quotecast.market.numbers import number
from quotecast.market.reference import pairs
from quotecast.providers.binance import wire

#: Quote currencies of the default pairs; both have the same value, so turnovers compare.
QUOTES: Final = ("USDT", "USD")
#: Always among the default pairs: it converts prices in USDT to the currencies of the doviz feed.
BRIDGE: Final = "USDT/TRY"
#: Most default pairs by turnover, beside those of well-known assets.
BUSIEST: Final = 200


def tradable_pairs(rows: Iterable[Raw]) -> dict[str, str]:
    """Returns the pairs that trade, by symbol: `BTCUSDT` is `BTC/USDT`; skips unreadable rows."""
    found: dict[str, str] = {}
    for raw in rows:
        with suppress(ValueError, RecursionError):
            row = wire.symbol(raw)
            if row.tradable and row.pair:
                found[row.symbol] = row.pair
    return found


def symbol_of(text: str) -> str:
    """Returns the upstream's symbol for a pair in any spelling: `btc-usdt` is `BTCUSDT`."""
    return "".join(filter(str.isalnum, text.upper()))


def best_known(listing: Mapping[str, str], rows: Iterable[Raw]) -> dict[str, str]:
    """Returns pairs in USDT or USD of well-known assets and of the greatest turnover, by symbol.

    Beside them the pair with the price of USDT itself.
    """
    offered = {symbol: pair for symbol, pair in listing.items() if pair.partition("/")[2] in QUOTES}
    known = {f"{pair.base}/{quote}" for pair in pairs() for quote in QUOTES}
    turnover = _turnover(rows)
    by_turnover = sorted(offered, key=lambda symbol: turnover.get(symbol, Decimal()), reverse=True)
    busiest = {symbol for symbol in by_turnover[:BUSIEST] if symbol in turnover}
    chosen = {symbol: pair for symbol, pair in offered.items() if pair in known or symbol in busiest}
    return chosen | {symbol: pair for symbol, pair in listing.items() if pair == BRIDGE}


def _turnover(rows: Iterable[Raw]) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for raw in rows:
        with suppress(ValueError, RecursionError):
            row = wire.row(raw)
            found[row.symbol] = number(row.quote_volume) or Decimal()
    return found
