"""Validation of a new holding."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Final

from msgspec import Meta, Raw, Struct

from quotecast.accounts.portfolio import Holding
from quotecast.api.routes.lookup import Mirrors, stored_spelling
from quotecast.errors import InvalidValue
from quotecast.market import codec, money
from quotecast.market.currencies import CURRENCIES

LIMIT: Final = Decimal(10) ** 12
EARLIEST: Final = date(1900, 1, 1)
#: Offset of UTC+14, where each day begins first.
_FIRST_DAYLIGHT: Final = timedelta(hours=14)

_SHARES: Final = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 10**12}
_COST: Final = {"type": "number", "minimum": 0, "exclusiveMaximum": 10**12}


class NewHolding(Struct, frozen=True):
    """The body of a request that adds a holding."""

    ticker: Annotated[str, Meta(description="A stock, pair, currency or metal, in any case")]
    shares: Annotated[Raw, Meta(description="At most 8 decimals, taken exactly", extra_json_schema=_SHARES)]
    avg_cost: Annotated[
        Raw, Meta(description="Per share; at most 8 decimals, taken exactly", extra_json_schema=_COST)
    ]
    bought_at: Annotated[str | None, Meta(description="YYYY-MM-DD, not in the future; today by default")] = (
        None
    )
    currency: Annotated[str, Meta(description="A code of ISO 4217, in any case")] = "USD"


def fingerprint(given: NewHolding, holding: Holding) -> bytes:
    """Returns bytes that are equal for a request and its retries, in any spelling.

    Defaults that the service fills in are not included: a retry may come a day later, or when the feeds
    spell the ticker in another way.
    """
    ticker = given.ticker.strip().upper()
    return codec.encode_json(
        (ticker, holding.shares, holding.avg_cost, given.bought_at, holding.currency),
    )


def holding_from(given: NewHolding, mirrors: Mirrors, holding_id: str, now: datetime) -> Holding:
    """Returns the holding to store. Raises InvalidValue."""
    ticker = stored_spelling(mirrors, given.ticker)
    if ticker is None:
        raise InvalidValue("ticker", "Not a ticker")
    return Holding(
        id=holding_id,
        ticker=ticker,
        shares=_amount("shares", given.shares, zero=False),
        avg_cost=_amount("avg_cost", given.avg_cost, zero=True),
        bought_at=_date(given.bought_at, now),
        currency=currency_code("currency", given.currency),
        created_at=now,
    )


def currency_code(field: str, text: str) -> str:
    """Returns the ISO 4217 code of a text in any letter case. Raises InvalidValue."""
    code = text.strip().upper()
    if code not in CURRENCIES:
        raise InvalidValue(field, "Not a code of ISO 4217")
    return code


def _amount(field: str, text: Raw, *, zero: bool) -> Decimal:
    amount = money.parse_amount(bytes(text))
    if amount is None:
        raise InvalidValue(field, "A number of at most 64 characters")
    if money.decimal_places(amount) > money.PLACES:
        raise InvalidValue(field, f"At most {money.PLACES} decimals")
    if not (Decimal(0) <= amount < LIMIT) or (amount == 0 and not zero):
        raise InvalidValue(field, f"{'At least' if zero else 'Above'} 0 and below 10^12")
    return amount


def _date(text: str | None, now: datetime) -> date:
    if text is None:
        return now.date()
    try:
        # fromisoformat also accepts the basic format and week dates of ISO 8601.
        day = date.fromisoformat(text) if len(text) == len("YYYY-MM-DD") and "W" not in text else None
    except ValueError:
        day = None
    if day is None:
        raise InvalidValue("bought_at", "A date as YYYY-MM-DD")
    if not EARLIEST <= day <= (now + _FIRST_DAYLIGHT).date():
        raise InvalidValue("bought_at", f"From {EARLIEST} to today")
    return day
