"""The instrument behind a price: one of any feed, or an amount of a metal."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, Literal

from msgspec import Struct

from quotecast.api.market.names import first_with, require_data
from quotecast.api.market.services import NO_PROVIDER, MarketServices
from quotecast.errors import InvalidValue, ProviderMissing
from quotecast.feed.entry import QuoteEntry
from quotecast.market.conversion import times
from quotecast.market.feeds import Feed, Kind, feed_of_kind
from quotecast.market.metals import GRAMS, METAL_QUOTES, METALS
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote

Unit = Literal["ounce", "gram", "kilogram"]

_KARATS: Final = re.compile(r"(?P<karats>[0-9]{1,2})k", re.IGNORECASE)
_THOUSANDTHS: Final = re.compile(r"[0-9]{1,4}(\.[0-9])?")
_FINE: Final = Decimal(1)


class Measure(Struct, frozen=True):
    """An amount of a metal: its unit, and the part of it that is fine metal, from 0 to 1."""

    unit: Unit = "ounce"
    fineness: Decimal = _FINE

    def __str__(self) -> str:
        """Returns the amount in words."""
        if self.fineness == _FINE:
            return self.unit
        thousandths = self.fineness * 1000
        if thousandths == round(thousandths, 1):
            return f"{self.unit}, {thousandths.normalize():f} fine"
        return f"{self.unit}, {self.fineness * 24:.0f}k"


class Instrument(Struct, frozen=True):
    """An instrument with its quote; its price is that of the quote times `units`."""

    symbol: str
    feed: Feed
    quote: Quote
    #: That of the quote.
    currency: str
    #: What one price is for: a share, a coin, a gram.
    unit: str
    units: Decimal = _FINE

    def price_at(self, quoted: float) -> float:
        """Returns the price of the instrument at a price of its quote."""
        return quoted if self.units is _FINE else times(quoted, self.units)


def fineness_of(text: str | None) -> Decimal:
    """Returns the fine part of a metal, of thousandths or karats. Raises InvalidValue."""
    if text is None:
        return _FINE
    given = text.strip()
    if karats := _KARATS.fullmatch(given):
        part = Decimal(karats["karats"]) / 24
    else:
        part = Decimal(given) / 1000 if _THOUSANDTHS.fullmatch(given) else Decimal(0)
    if not 0 < part <= 1:
        raise InvalidValue("fineness", "Must be thousandths, such as 916, or karats, such as 22k")
    return part


def feeds_of(services: MarketServices, kind: Kind | None) -> Sequence[Feed]:
    """Returns the feeds that may have an instrument. Raises ProviderMissing if none has a provider."""
    wanted = [*Feed] if kind is None else [feed_of_kind(kind)]
    configured = [feed for feed in wanted if services.providers[feed] != NO_PROVIDER]
    if not configured:
        raise ProviderMissing(", ".join(wanted))
    return configured


def find_instrument(
    services: MarketServices, name: str, configured: Sequence[Feed], measure: Measure
) -> Instrument | None:
    """Returns the instrument of a symbol in any spelling; None if none of the feeds has it.

    Raises NoData if a feed without data may have it.
    """
    code = name.upper()
    if code in METALS and Feed.DOVIZ in configured:
        return _metal(services, code, measure)
    found = first_with(services.mirrors, name, configured)
    if found is None:
        require_data(services.mirrors, name, configured)
        return None
    feed, entry = found
    quote = entry.quote
    if quote is None or not is_allowed(services, feed, entry):
        return None
    return Instrument(entry.key, feed, quote, feed.spec.currency(quote), _unit_of(quote))


def _metal(services: MarketServices, code: str, measure: Measure) -> Instrument | None:
    mirror = services.mirrors[Feed.DOVIZ]
    for symbol, metal in METAL_QUOTES.items():
        entry = mirror.find(symbol) if metal.code == code else None
        if entry is not None and entry.quote and is_allowed(services, Feed.DOVIZ, entry):
            units = GRAMS[measure.unit] * measure.fineness / metal.grams
            currency = Feed.DOVIZ.spec.currency(entry.quote)
            return Instrument(code, Feed.DOVIZ, entry.quote, currency, str(measure), units)
    return None


def is_allowed(services: MarketServices, feed: Feed, entry: QuoteEntry) -> bool:
    """Returns whether the client may have the entry: keys for some symbols have no others."""
    return not services.only or entry.key in services.mirrors[feed].scope_of(services.only)


def _unit_of(quote: Quote) -> str:
    match quote:
        case CryptoQuote():
            return quote.ticker.partition("/")[0]
        case DovizQuote():
            return quote.unit
        case _:
            return "share"
