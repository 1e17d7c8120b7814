"""Holdings as the API answers them, and what they are worth."""

from datetime import date
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from quotecast.accounts.portfolio import Holding
from quotecast.api.lookup import Mirrors, currency_of, entry_of
from quotecast.market import codec, money

#: Described as the JSON number that it is sent as; to the framework a Decimal would be a string.
Amount = Annotated[float, Meta(description="An exact decimal, with all its digits and no exponent")]


class HoldingShown(Struct, frozen=True, kw_only=True):
    """A holding; from `price` on with `include=quote` only, null where that is not known in its currency."""

    id: str
    ticker: str
    shares: Amount
    avg_cost: Amount
    bought_at: date
    currency: str
    created_at: str
    price: float | UnsetType | None = UNSET
    market_value: Amount | UnsetType | None = UNSET
    gain: Amount | UnsetType | None = UNSET
    gain_percent: Amount | UnsetType | None = UNSET
    day_change: Amount | UnsetType | None = UNSET


class Encoded(Struct, frozen=True, kw_only=True):
    """The same with amounts that are encoded already."""

    id: str
    ticker: str
    shares: Raw
    avg_cost: Raw
    bought_at: date
    currency: str
    created_at: str
    price: float | UnsetType | None = UNSET
    market_value: Raw | UnsetType = UNSET
    gain: Raw | UnsetType = UNSET
    gain_percent: Raw | UnsetType = UNSET
    day_change: Raw | UnsetType = UNSET


SHOWN: Final = HoldingShown(
    id="01a1fc87e0c47a905dd5d085",
    ticker="AAPL",
    shares=0.1,
    avg_cost=187.5,
    bought_at=date(2026, 3, 2),
    currency="USD",
    created_at="2026-11-20T15:30:00.000Z",
)
VALUED: Final = msgspec.structs.replace(
    SHOWN,
    price=189.84,
    market_value=18.984,
    gain=0.234,
    gain_percent=1.248,
    day_change=0.122,
)


def shown(holding: Holding) -> Encoded:
    """The holding by itself."""
    return Encoded(
        id=holding.id,
        ticker=holding.ticker,
        shares=money.written(money.plain(holding.shares)),
        avg_cost=money.written(money.plain(holding.avg_cost)),
        bought_at=holding.bought_at,
        currency=holding.currency,
        created_at=codec.iso_utc(holding.created_at.timestamp()),
    )


def valued(holding: Holding, mirrors: Mirrors) -> Encoded:
    """The holding with what it is worth now, all null where nobody quotes it in its currency."""
    entry = entry_of(mirrors, holding.ticker)
    quote = entry.quote if entry else None
    if quote is None or currency_of(quote) != holding.currency:
        price, amounts = None, dict.fromkeys(money.Worth.__struct_fields__)
    else:
        worth = money.worth(holding.shares, holding.avg_cost, quote.price, quote.change)
        price, amounts = quote.price, msgspec.structs.asdict(worth)
    written = {name: money.written(amount) for name, amount in amounts.items()}
    return msgspec.structs.replace(shown(holding), price=price, **written)
