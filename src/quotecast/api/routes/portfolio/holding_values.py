"""Validation of a holding's values."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Final

from msgspec import Meta, Raw

from quotecast.api.market.names import Mirrors, first_with, stored_spelling
from quotecast.api.routes.days import past_day
from quotecast.errors import InvalidValue
from quotecast.market import money
from quotecast.market.currencies import CURRENCIES, major_of

LIMIT: Final = Decimal(10) ** 12
EARLIEST: Final = date(1900, 1, 1)

_SHARES: Final = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 10**12}
_COST: Final = {"type": "number", "minimum": 0, "exclusiveMaximum": 10**12}

Shares = Annotated[Raw, Meta(description="At most 8 decimals, taken exactly", extra_json_schema=_SHARES)]
Cost = Annotated[
    Raw, Meta(description="Per share; at most 8 decimals, taken exactly", extra_json_schema=_COST)
]


def ticker_of(text: str, mirrors: Mirrors) -> str:
    """Returns the ticker as its feed spells it. Raises InvalidValue."""
    ticker = stored_spelling(mirrors, text)
    if ticker is None:
        raise InvalidValue("ticker", "Must be a ticker")
    return ticker


def shares_of(number: bytes) -> Decimal:
    """Returns a number of shares. Raises InvalidValue."""
    return amount_of("shares", number, zero=False)


def cost_of(number: bytes) -> Decimal:
    """Returns a cost per share. Raises InvalidValue."""
    return amount_of("avg_cost", number, zero=True)


def bought_at_of(text: str, now: datetime) -> date:
    """Returns the day of a purchase. Raises InvalidValue."""
    return past_day("bought_at", text, now, EARLIEST)


def today_of(ticker: str, mirrors: Mirrors, now: datetime) -> date:
    """Returns the date at the venue of a ticker; that of UTC if no feed has the ticker."""
    found = first_with(mirrors, ticker)
    return next(found[0].spec.always_open.until(now)).date if found else now.date()


def currency_code(text: str) -> str:
    """Returns the ISO 4217 code of a text in any letter case. Raises InvalidValue, also for a minor unit."""
    unit = text.strip()
    if major := major_of(unit):
        raise InvalidValue("currency", f"{unit} is a minor unit: give amounts in {major}")
    code = unit.upper()
    if code not in CURRENCIES:
        raise InvalidValue("currency", "Must be a code of ISO 4217")
    return code


def amount_of(field: str, number: bytes, *, zero: bool) -> Decimal:
    """Returns an amount, which may be zero or not. Raises InvalidValue."""
    amount = money.parse_amount(number)
    if amount is None:
        raise InvalidValue(field, "Must be a number of at most 64 characters")
    if money.decimal_places(amount) > money.PLACES:
        raise InvalidValue(field, f"Must have at most {money.PLACES} decimals")
    if not (Decimal(0) <= amount < LIMIT) or (amount == 0 and not zero):
        raise InvalidValue(field, f"Must be {'at least' if zero else 'above'} 0 and below 10^12")
    return amount
