"""Currency conversion by the rates that quotes imply."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Context, Decimal
from heapq import merge
from itertools import chain
from math import prod
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.currencies import CURRENCIES
from quotecast.market.metals import METAL_QUOTES, OUNCE
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote

#: Significant digits of an inverse rate and of a converted amount.
DIGITS: Final = 12
_ROUNDING: Final = Context(prec=DIGITS)
_OUNCE_QUOTES: Final = frozenset(symbol for symbol, metal in METAL_QUOTES.items() if metal.grams == OUNCE)


class Rate(Struct, frozen=True):
    """The price of one unit of `base` in `target`, from a quote; `day` is that of a past close."""

    base: str
    target: str
    rate: Decimal
    quote: CryptoQuote | DovizQuote
    day: date | None = None

    @property
    def is_inverse(self) -> bool:
        """Whether the quote is the price of `target`."""
        direct = rate_of(self.quote)
        return direct is not None and direct.base != self.base

    def at_close(self, close: float, day: date) -> "Rate | None":
        """Returns the rate that a past close of its quote implies; None for a close that is not a price."""
        direct = rate_of(replace(self.quote, price=close, timestamp=None))
        if direct is None:
            return None
        return replace(direct if direct.base == self.base else _inverse(direct), day=day)


def rate_of(quote: Quote) -> Rate | None:
    """Returns the rate of a crypto pair, a currency or a metal; None for stocks, coins and indices."""
    units = Decimal(1)
    match quote:
        case CryptoQuote():
            base, _, target = quote.ticker.partition("/")
        case DovizQuote(category="currency"):
            base, target = quote.unit.removeprefix("1 "), quote.currency
            if base not in CURRENCIES:
                return None
        case DovizQuote() if metal := METAL_QUOTES.get(quote.symbol):
            base, target, units = metal.code, quote.currency, OUNCE / metal.grams
        case _:
            return None
    return Rate(base, target, Decimal(repr(quote.price)) * units, quote) if quote.price > 0 else None


class Rates(Struct, frozen=True):
    """The rates of some quotes by base, preferred rates first, and the currencies in which they are."""

    exits: Mapping[str, list[Rate]]
    currencies: frozenset[str]


def rates_of(quotes: Iterable[Quote]) -> Rates:
    """Returns the rates that quotes imply, and their inverses."""
    direct = [rate for quote in quotes if (rate := rate_of(quote))]
    by_ounce = {rate.base for rate in direct if rate.quote.key in _OUNCE_QUOTES}
    # A metal's price by the gram counts where nobody quotes the ounce: local prices have a premium.
    direct = [each for each in direct if each.base not in by_ounce or each.quote.key in _OUNCE_QUOTES]
    exits: dict[str, list[Rate]] = {}
    for rate in sorted(chain(direct, map(_inverse, direct)), key=_preference):
        exits.setdefault(rate.base, []).append(rate)
    return Rates(exits, frozenset(rate.target for rate in direct))


def rates_between(rates: Sequence[Rates], source: str, target: str) -> tuple[Rate, ...] | None:
    """Returns the shortest chain of rates from one currency to another; None if there is none.

    Currencies are the codes of ISO 4217 and those in which pairs are priced. Of two chains of one length, ISO
    currencies win; of two quotes of one rate, the currency's own symbol wins over a bank's.
    """
    currencies = CURRENCIES.union([target], *(each.currencies for each in rates))
    before: dict[str, Rate | None] = {source: None}
    waiting = deque([source])
    while waiting and target not in before:
        base = waiting.popleft()
        for rate in merge(*(each.exits.get(base, ()) for each in rates), key=_preference):
            if rate.target not in before and rate.target in currencies:
                before[rate.target] = rate
                waiting.append(rate.target)
    if target not in before:
        return None
    path: list[Rate] = []
    while last := before[target]:
        path.append(last)
        target = last.base
    return tuple(reversed(path))


def factor(rates: Iterable[Rate]) -> Decimal:
    """Returns the product of a chain of rates."""
    return prod((rate.rate for rate in rates), start=Decimal(1))


def round_amount(amount: Decimal) -> Decimal:
    """Returns the amount rounded to 12 significant digits."""
    return _ROUNDING.plus(amount)


def times(amount: float, number: Decimal) -> float:
    """Returns the product, rounded to 12 significant digits; the float by its shortest representation."""
    return float(_ROUNDING.multiply(Decimal(repr(amount)), number))


def _preference(rate: Rate) -> tuple[bool, bool, str]:
    symbol = rate.quote.key
    return rate.target not in CURRENCIES, symbol not in {rate.base, rate.target}, symbol


def _inverse(rate: Rate) -> Rate:
    return Rate(rate.target, rate.base, _ROUNDING.divide(Decimal(1), rate.rate), rate.quote)
