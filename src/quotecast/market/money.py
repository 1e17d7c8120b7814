"""Amounts of money and of shares: exact decimals, from JSON and to JSON."""

import re
from decimal import Decimal, localcontext
from typing import Final

from msgspec import Raw, Struct

#: Decimal places that an amount may have.
PLACES: Final = 8

_NUMBER: Final = re.compile(rb"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,4})?")
#: Characters; a longer number is rejected before it is parsed.
_MAX_LENGTH: Final = 64
#: Digits that make every sum and product exact: from the largest float times an amount down to the last digit
#: of the smallest, with a reserve.
_PRECISION: Final = 700


class Worth(Struct, frozen=True):
    """A holding's present value and gain, in its currency; `gain_percent` is None for a cost of zero."""

    market_value: Decimal
    gain: Decimal
    gain_percent: Decimal | None
    day_change: Decimal | None


def parse_amount(text: bytes) -> Decimal | None:
    """Returns the exact value of a JSON number; None for other text and for more than 64 characters."""
    if len(text) > _MAX_LENGTH or not _NUMBER.fullmatch(text):
        return None
    return without_zeros(Decimal(text.decode()))


def decimal_places(amount: Decimal) -> int:
    """Returns the number of decimal places of an amount without trailing zeros."""
    exponent = amount.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def without_zeros(amount: Decimal) -> Decimal:
    """Returns the same amount without trailing zeros, and zero without a sign."""
    with localcontext(prec=_PRECISION):
        return amount.normalize() if amount else Decimal(0)


def amount_json(amount: Decimal | None) -> Raw:
    """Returns the amount as a JSON number without an exponent, which some parsers reject; None as null."""
    return Raw(b"null" if amount is None else f"{amount:f}".encode())


def worth_of(shares: Decimal, avg_cost: Decimal, price: float, change: float | None) -> Worth:
    """Returns the worth of `shares`, bought at `avg_cost` each, at a price with today's change.

    Floats convert by their shortest decimal representation.
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
