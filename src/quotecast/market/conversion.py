"""Currency conversion by the rates that quotes imply."""

from collections import deque
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from itertools import chain
from math import prod
from typing import Final

from msgspec import Struct

from quotecast.market.currencies import CURRENCIES
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote

#: Significant digits of an inverse rate and of a converted amount.
DIGITS: Final = 12
_ROUNDING: Final = Context(prec=DIGITS)


class Rate(Struct, frozen=True):
    """The price of one unit of `base` in `target`, from the quote of `symbol` at `timestamp`."""

    base: str
    target: str
    rate: Decimal
    symbol: str
    timestamp: str | None


def rate_of(quote: Quote) -> Rate | None:
    """Returns the rate of a crypto pair or of a currency; None for stocks, metals and indices."""
    match quote:
        case CryptoQuote():
            base, _, target = quote.ticker.partition("/")
        case DovizQuote(category="currency"):
            base, target = quote.unit.removeprefix("1 "), quote.currency
        case _:
            return None
    if quote.price <= 0 or (isinstance(quote, DovizQuote) and base not in CURRENCIES):
        return None
    return Rate(base, target, Decimal(repr(quote.price)), quote.key, quote.timestamp)


class Rates(Struct, frozen=True):
    """All rates by base currency, preferred rates first, and the codes that count as currencies."""

    exits: Mapping[str, list[Rate]]
    currencies: frozenset[str]


def rates_of(quotes: Iterable[Quote]) -> Rates:
    """Returns the rates that quotes imply, and their inverses."""
    direct = [rate for quote in quotes if (rate := rate_of(quote))]
    exits: dict[str, list[Rate]] = {}
    for rate in sorted(chain(direct, map(_inverse, direct)), key=_preference):
        exits.setdefault(rate.base, []).append(rate)
    return Rates(exits, CURRENCIES | {rate.target for rate in direct})


def rates_between(rates: Rates, source: str, target: str) -> tuple[Rate, ...] | None:
    """Returns the shortest chain of rates from one currency to another; None if there is none.

    Currencies are the codes of ISO 4217 and those in which pairs are priced. Of two chains of one length, ISO
    currencies win; of two quotes of one rate, the currency's own symbol wins over a bank's.
    """
    before: dict[str, Rate | None] = {source: None}
    waiting = deque([source])
    while waiting and target not in before:
        for rate in rates.exits.get(waiting.popleft(), ()):
            if rate.target not in before and (rate.target in rates.currencies or rate.target == target):
                before[rate.target] = rate
                waiting.append(rate.target)
    return _path(before, target) if target in before else None


def factor(rates: Iterable[Rate]) -> Decimal:
    """Returns the product of a chain of rates."""
    return prod((rate.rate for rate in rates), start=Decimal(1))


def round_amount(amount: Decimal) -> Decimal:
    """Returns the amount rounded to 12 significant digits."""
    return _ROUNDING.plus(amount)


def _preference(rate: Rate) -> tuple[bool, bool, str]:
    return rate.target not in CURRENCIES, rate.symbol not in {rate.base, rate.target}, rate.symbol


def _inverse(rate: Rate) -> Rate:
    return Rate(rate.target, rate.base, _ROUNDING.divide(Decimal(1), rate.rate), rate.symbol, rate.timestamp)


def _path(before: Mapping[str, Rate | None], target: str) -> tuple[Rate, ...]:
    rates: list[Rate] = []
    while rate := before[target]:
        rates.append(rate)
        target = rate.base
    return tuple(reversed(rates))
