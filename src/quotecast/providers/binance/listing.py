"""Which of Binance's pairs to follow."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Final

from msgspec import Raw

from quotecast.providers.binance import wire
from quotecast.providers.reference import pairs
from quotecast.providers.validation.values import number

#: What pairs are quoted in unless somebody wishes otherwise; both are worth the same, so turnovers compare.
QUOTES: Final = ("USDT", "USD")
#: Followed too: by way of it, what is priced in USDT has a value in the currencies of the doviz feed.
BRIDGE: Final = "USDT/TRY"
#: How many pairs are followed for their turnover, beside those of well-known assets.
BUSIEST: Final = 200


def tradable_pairs(rows: Iterable[Raw]) -> dict[str, str]:
    """The pairs that trade, by symbol: `BTCUSDT` is `BTC/USDT`; a row that cannot be read is passed over."""
    found: dict[str, str] = {}
    for raw in rows:
        with suppress(ValueError):
            row = wire.symbol(raw)
            if row.tradable and row.pair:
                found[row.symbol] = row.pair
    return found


def symbol_of(text: str) -> str:
    """The upstream's symbol for a pair in any spelling: `btc-usdt` is `BTCUSDT`."""
    return "".join(filter(str.isalnum, text.upper()))


def pick_wanted(listing: Mapping[str, str], symbols: Sequence[str]) -> dict[str, str]:
    """Those pairs of the wanted symbols that trade, by symbol, in the order of the wishes."""
    return {symbol: listing[symbol] for symbol in symbols if symbol in listing}


def best_known(listing: Mapping[str, str], rows: Iterable[Raw]) -> dict[str, str]:
    """The pairs of well-known assets and those of the greatest turnover, quoted in USDT or USD, by symbol.

    Beside them the one that tells what USDT itself costs.
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
        with suppress(ValueError):
            row = wire.row(raw)
            found[row.symbol] = number(row.quote_volume) or Decimal()
    return found
