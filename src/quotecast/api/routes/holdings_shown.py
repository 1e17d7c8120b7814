"""Holdings as the API answers them, and what they are worth."""

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import Annotated, Final

from msgspec import UNSET, Meta, Raw, Struct, UnsetType
from msgspec.structs import asdict, replace

from quotecast.accounts.portfolio import Holding
from quotecast.api.routes.lookup import FEEDS, Mirrors, first_known
from quotecast.feed.mirror import Entry
from quotecast.market import codec, money
from quotecast.market.conversion import Rate, factor, rates_between, rates_of, round_amount
from quotecast.market.feeds import Feed, Kind

#: Described as the JSON number that it is sent as; to the framework a Decimal would be a string.
Amount = Annotated[float, Meta(description="An exact decimal, with all its digits and no exponent")]

#: The rates from one currency to another; None without a way.
Exchange = Callable[[str, str], Sequence[Rate] | None]


class RateShown(Struct, frozen=True, kw_only=True, rename={"source": "from", "target": "to"}):
    """A unit of `from` costs so much of `to`, by the quote of `symbol` at `timestamp`."""

    source: str
    target: str
    rate: float
    symbol: str
    timestamp: str | None


class ConvertedShown(Struct, frozen=True, kw_only=True):
    """What a holding is worth in the currency asked for, and the rates from its own to that."""

    currency: str
    market_value: float
    gain: float
    rates: list[RateShown]


class HoldingShown(Struct, frozen=True, kw_only=True):
    """A holding; `type` is null while no feed knows the ticker.

    From `price` on with `include=quote` only, in the holding's currency, by way of `rates` where the quote is
    in another; null where there is no quote or no way. `converted` with `currency` only.
    """

    id: str
    ticker: str
    shares: Amount
    avg_cost: Amount
    bought_at: date
    currency: str
    created_at: str
    type: Kind | None = None
    price: float | UnsetType | None = UNSET
    market_value: Amount | UnsetType | None = UNSET
    gain: Amount | UnsetType | None = UNSET
    gain_percent: Amount | UnsetType | None = UNSET
    day_change: Amount | UnsetType | None = UNSET
    rates: list[RateShown] | UnsetType | None = UNSET
    converted: ConvertedShown | UnsetType | None = UNSET


class Encoded(Struct, frozen=True, kw_only=True):
    """The same with amounts that are encoded already."""

    id: str
    ticker: str
    shares: Raw
    avg_cost: Raw
    bought_at: date
    currency: str
    created_at: str
    type: Kind | None
    price: float | UnsetType | None = UNSET
    market_value: Raw | UnsetType = UNSET
    gain: Raw | UnsetType = UNSET
    gain_percent: Raw | UnsetType = UNSET
    day_change: Raw | UnsetType = UNSET
    rates: list[RateShown] | UnsetType | None = UNSET
    converted: ConvertedShown | UnsetType | None = UNSET


#: Currencies are converted by their quotes, the first of these that knows one.
_RATE_FEEDS: Final = (Feed.DOVIZ, Feed.CRYPTO)

SHOWN: Final = HoldingShown(
    id="01a1fc87e0c47a905dd5d085",
    ticker="AAPL",
    shares=0.1,
    avg_cost=187.5,
    bought_at=date(2026, 3, 2),
    currency="USD",
    created_at="2026-11-20T15:30:00.000Z",
    type="stock",
)
_LIRA: Final = RateShown(
    source="USD", target="TRY", rate=44.18, symbol="USD", timestamp="2026-11-20T15:29:58.120Z"
)
VALUED: Final = replace(
    SHOWN,
    price=189.84,
    market_value=18.984,
    gain=0.234,
    gain_percent=1.248,
    day_change=0.122,
    rates=[],
    converted=ConvertedShown(currency="TRY", market_value=838.71312, gain=10.33812, rates=[_LIRA]),
)


def shown(holding: Holding, mirrors: Mirrors) -> Encoded:
    """The holding by itself."""
    found = first_known(mirrors, holding.ticker)
    return Encoded(
        id=holding.id,
        ticker=holding.ticker,
        shares=money.amount_json(money.without_zeros(holding.shares)),
        avg_cost=money.amount_json(money.without_zeros(holding.avg_cost)),
        bought_at=holding.bought_at,
        currency=holding.currency,
        created_at=codec.iso_utc(holding.created_at.timestamp()),
        type=found[0] if found else None,
    )


def exchange(mirrors: Mirrors) -> Exchange:
    """A function that finds the rates between two currencies, each way once."""
    feeds = (mirrors[feed].quotes().values() for feed in _RATE_FEEDS)
    given = rates_of(chain.from_iterable(feeds))

    @cache
    def rates(source: str, target: str) -> Sequence[Rate] | None:
        return rates_between(given, source, target)

    return rates


def valued(holding: Holding, mirrors: Mirrors, exchange: Exchange, currency: str | None = None) -> Encoded:
    """The holding with what it is worth now, in its own currency and in `currency` if one is given."""
    alone = shown(holding, mirrors)
    found = first_known(mirrors, holding.ticker)
    quote = found[1].quote if found else None
    rates = exchange(_currency_of(*found), holding.currency) if found and quote else None
    if quote is None or rates is None:
        nothing = dict.fromkeys(money.Worth.__struct_fields__, money.amount_json(None))
        return replace(alone, price=None, rates=None, converted=None if currency else UNSET, **nothing)
    price, change = (_converted(each, rates) for each in (quote.price, quote.change))
    worth = money.worth_of(holding.shares, holding.avg_cost, price or 0.0, change)
    return replace(
        alone,
        price=price,
        rates=[_shown(rate) for rate in rates],
        converted=_in(currency, worth, exchange(holding.currency, currency)) if currency else UNSET,
        **{name: money.amount_json(amount) for name, amount in asdict(worth).items()},
    )


def feeds_of(holding: Encoded) -> set[Feed]:
    """The feeds that gave the holding's quote and the rates."""
    own = {FEEDS[holding.type]} if holding.type else set()
    rates = [holding.rates, holding.converted.rates if holding.converted else None]
    return own.union(_RATE_FEEDS) if any(rates) else own


def _currency_of(kind: Kind, entry: Entry) -> str:
    return FEEDS[kind].spec.currency(entry.quote)


def _converted(amount: float | None, rates: Sequence[Rate]) -> float | None:
    """The amount after the rates; exactly the same where there are none."""
    return float(round_amount(Decimal(repr(amount)) * factor(rates))) if amount and rates else amount


def _in(currency: str, worth: money.Worth, rates: Sequence[Rate] | None) -> ConvertedShown | None:
    if rates is None:
        return None
    value, gain = (float(round_amount(amount * factor(rates))) for amount in (worth.market_value, worth.gain))
    return ConvertedShown(currency=currency, market_value=value, gain=gain, rates=[*map(_shown, rates)])


def _shown(rate: Rate) -> RateShown:
    return RateShown(
        source=rate.base,
        target=rate.target,
        rate=float(rate.rate),
        symbol=rate.symbol,
        timestamp=rate.timestamp,
    )
