"""Holdings as the API answers them, and what they are worth."""

from datetime import date
from decimal import Decimal
from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from quotecast.accounts.portfolio import Holding
from quotecast.api.lookup import Mirrors, currency_of, entry_of
from quotecast.market import codec, money


class HoldingShown(Struct, frozen=True, kw_only=True):
    """A holding; from `price` on with `include=quote` only, null where that is not known in its currency."""

    id: str
    ticker: str
    shares: Decimal
    avg_cost: Decimal
    bought_at: date
    currency: str
    created_at: str
    price: float | UnsetType | None = UNSET
    market_value: Decimal | UnsetType | None = UNSET
    gain: Decimal | UnsetType | None = UNSET
    gain_percent: Decimal | UnsetType | None = UNSET
    day_change: Decimal | UnsetType | None = UNSET


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
    shares=Decimal("0.1"),
    avg_cost=Decimal("187.5"),
    bought_at=date(2026, 3, 2),
    currency="USD",
    created_at="2026-11-20T15:30:00.000Z",
)
VALUED: Final = msgspec.structs.replace(
    SHOWN,
    price=189.84,
    market_value=Decimal("18.984"),
    gain=Decimal("0.234"),
    gain_percent=Decimal("1.248"),
    day_change=Decimal("0.122"),
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
