"""Precious metals by their ISO 4217 codes, and the quotes that price them."""

from decimal import Decimal
from typing import Final

from msgspec import Struct

#: Grams of a troy ounce, the unit of XAU, XAG, XPT and XPD; exact by definition.
OUNCE: Final = Decimal("31.1034768")
GRAMS: Final = {"ounce": OUNCE, "gram": Decimal(1), "kilogram": Decimal(1000)}


class MetalQuote(Struct, frozen=True):
    """A quote of a fine metal: the metal's code, and the grams that the quote's price buys."""

    code: str
    grams: Decimal


#: By doviz symbol. Of one metal, the price of an ounce on the world market comes first.
METAL_QUOTES: Final = {
    "ons": MetalQuote("XAU", OUNCE),
    "ons-gumus": MetalQuote("XAG", OUNCE),
    "ons-platin": MetalQuote("XPT", OUNCE),
    "ons-paladyum": MetalQuote("XPD", OUNCE),
    "gram-has-altin": MetalQuote("XAU", Decimal(1)),
    "gumus": MetalQuote("XAG", Decimal(1)),
    "gram-platin": MetalQuote("XPT", Decimal(1)),
    "gram-paladyum": MetalQuote("XPD", Decimal(1)),
}
METALS: Final = frozenset(each.code for each in METAL_QUOTES.values())
