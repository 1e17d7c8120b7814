"""Amounts of money and of shares: exact decimals, in and out."""

import re
from decimal import Decimal, localcontext
from typing import Final

from msgspec import Raw, Struct

#: Decimal places that an amount may have.
PLACES: Final = 8

_NUMBER: Final = re.compile(rb"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,4})?")
#: Longer texts are no amounts, however they are spelled.
_MAX_LENGTH: Final = 64
#: Digits from the largest float times an amount to the last one of the smallest, and some to spare: with
#: these every sum and product is exact.
_PRECISION: Final = 700


class Worth(Struct, frozen=True):
    """What a holding is worth now, in its currency; `gain_percent` is None where it cost nothing."""

    market_value: Decimal
    gain: Decimal
    gain_percent: Decimal | None
    day_change: Decimal | None


def parse_amount(text: bytes) -> Decimal | None:
    """A JSON number exactly as it is written; None for what is none, or has needlessly many digits."""
    if len(text) > _MAX_LENGTH or not _NUMBER.fullmatch(text):
        return None
    return without_zeros(Decimal(text.decode()))


def decimal_places(amount: Decimal) -> int:
    """How many decimal places a plain amount has."""
    exponent = amount.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def without_zeros(amount: Decimal) -> Decimal:
    """The same amount without needless zeros behind the point, nor a sign at zero."""
    with localcontext(prec=_PRECISION):
        return amount.normalize() if amount else Decimal(0)


def amount_json(amount: Decimal | None) -> Raw:
    """The amount as a JSON number without an exponent, which not every reader expects; None as null."""
    return Raw(b"null" if amount is None else f"{amount:f}".encode())


def worth_of(shares: Decimal, avg_cost: Decimal, price: float, change: float | None) -> Worth:
    """What `shares` bought at `avg_cost` each are worth at a price that changed so much today.

    A float counts as the decimal that it is written as.
    """
    with localcontext(prec=_PRECISION):
        value, cost = shares * Decimal(repr(price)), shares * avg_cost
        gain = value - cost
        return Worth(
            market_value=without_zeros(value),
            gain=without_zeros(gain),
            gain_percent=without_zeros(round(gain / cost * 100, 4)) if cost else None,
            day_change=None if change is None else without_zeros(shares * Decimal(repr(change))),
        )
