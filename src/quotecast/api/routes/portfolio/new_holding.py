"""Bodies of the requests that add or change a holding."""

from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from quotecast.api.routes.lookup import Mirrors
from quotecast.api.routes.portfolio.holding_values import (
    Cost,
    Shares,
    cost_of,
    currency_code,
    day_of,
    shares_of,
    ticker_of,
    today_of,
)
from quotecast.errors import InvalidValue
from quotecast.market import codec
from quotecast.portfolio.portfolio import Holding

_DAY: Final = "YYYY-MM-DD, not in the future"
_CODE: Final = "A code of ISO 4217, in any case"


class NewHolding(Struct, frozen=True):
    """The body of a request that adds a holding."""

    ticker: Annotated[str, Meta(description="A stock, pair, currency or metal, in any case")]
    shares: Shares
    avg_cost: Cost
    bought_at: Annotated[str | None, Meta(description=f"{_DAY}; today at its venue by default")] = None
    currency: Annotated[str, Meta(description=_CODE)] = "USD"


class HoldingChange(Struct, frozen=True):
    """The body of a request that changes a holding: at least one of the fields."""

    shares: Shares | UnsetType = UNSET
    avg_cost: Cost | UnsetType = UNSET
    bought_at: Annotated[str, Meta(description=_DAY)] | UnsetType = UNSET
    currency: Annotated[str, Meta(description=_CODE)] | UnsetType = UNSET


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
    ticker = ticker_of(given.ticker, mirrors)
    return Holding(
        id=holding_id,
        ticker=ticker,
        shares=shares_of(bytes(given.shares)),
        avg_cost=cost_of(bytes(given.avg_cost)),
        bought_at=today_of(ticker, mirrors, now) if given.bought_at is None else day_of(given.bought_at, now),
        currency=currency_code("currency", given.currency),
        created_at=now,
    )


def changed_values(given: HoldingChange, now: datetime) -> dict[str, Any]:
    """Returns the new values of a holding by column. Raises InvalidValue, also without any."""
    values: dict[str, Any] = {}
    if given.shares is not UNSET:
        values["shares"] = shares_of(bytes(given.shares))
    if given.avg_cost is not UNSET:
        values["avg_cost"] = cost_of(bytes(given.avg_cost))
    if given.bought_at is not UNSET:
        values["bought_at"] = day_of(given.bought_at, now)
    if given.currency is not UNSET:
        values["currency"] = currency_code("currency", given.currency)
    if not values:
        raise InvalidValue("shares", "Must be given, together with avg_cost, bought_at and currency")
    return values
