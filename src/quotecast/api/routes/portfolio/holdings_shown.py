"""Holdings as the API answers them, with their valuation."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict, replace

from quotecast.api.answers.csv import CsvTable
from quotecast.api.market.names import Mirrors, first_with
from quotecast.api.prices.rates import RATE_FEEDS, RateFinder, RateShown, convert, rate_shown
from quotecast.market import codec, money
from quotecast.market.conversion import factor, round_amount
from quotecast.market.feeds import Feed, Kind, feed_of_kind
from quotecast.portfolio.portfolio import Holding

#: A JSON number in the OpenAPI document; the framework would describe a Decimal as a string.
Amount = Annotated[float, Meta(description="An exact decimal, with all its digits and no exponent")]


class ConvertedShown(Struct, frozen=True, kw_only=True):
    """The value of a holding in the requested currency, and the rates that convert it."""

    currency: str
    market_value: float
    gain: float
    rates: list[RateShown]


class HoldingShown(Struct, frozen=True, kw_only=True):
    """A holding; `type` is null while no feed has the ticker.

    The fields from `price` on need `include=quote`. They are in the holding's currency; `rates` converted the
    quote if it is in another one. Without a quote or a rate they are null. `converted` needs `currency`.
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


#: A HoldingShown whose amounts are encoded JSON.
EncodedHolding = Mapping[str, Any]

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
    source="USD",
    target="TRY",
    rate=44.18,
    symbol="USD",
    timestamp="2026-11-20T15:29:58.120Z",
    day=date(2026, 11, 20),
    provider="simulator",
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


def _rows(holdings: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for holding in holdings:
        converted = holding.get("converted") or {}
        yield {**holding, **{f"converted_{name}": value for name, value in converted.items()}}


#: Without the rates, of which a holding may have several.
TABLE: Final = CsvTable(
    (
        *(name for name in HoldingShown.__struct_fields__ if name not in {"rates", "converted"}),
        "converted_currency",
        "converted_market_value",
        "converted_gain",
    ),
    _rows,
)


def encode_holding(holding: Holding, mirrors: Mirrors) -> EncodedHolding:
    """Returns the holding without a valuation."""
    found = first_with(mirrors, holding.ticker)
    return {
        "id": holding.id,
        "ticker": holding.ticker,
        "shares": money.amount_json(money.without_zeros(holding.shares)),
        "avg_cost": money.amount_json(money.without_zeros(holding.avg_cost)),
        "bought_at": holding.bought_at,
        "currency": holding.currency,
        "created_at": codec.iso_utc(holding.created_at.timestamp()),
        "type": found[0].spec.kind if found else None,
    }


def value_holding(
    holding: Holding, mirrors: Mirrors, find: RateFinder, currency: str | None = None
) -> EncodedHolding:
    """Returns the holding with its value in its own currency, and in `currency` if given."""
    alone = encode_holding(holding, mirrors)
    feed, entry = first_with(mirrors, holding.ticker) or (None, None)
    quote = entry.quote if entry else None
    rates = find(feed.spec.currency(quote), holding.currency) if feed and quote else None
    if quote is None or rates is None:
        nothing = dict.fromkeys(("price", *money.Worth.__struct_fields__, "rates"))
        return {**alone, **nothing, **({"converted": None} if currency else {})}
    price = convert(quote.price, rates)
    change = None if quote.change is None else convert(quote.change, rates)
    worth = money.worth_of(holding.shares, holding.avg_cost, price, change)
    converted = None
    if currency and (chain := find(holding.currency, currency)) is not None:
        value, gain = (
            float(round_amount(amount * factor(chain))) for amount in (worth.market_value, worth.gain)
        )
        shown = [*map(rate_shown, chain)]
        converted = ConvertedShown(currency=currency, market_value=value, gain=gain, rates=shown)
    return {
        **alone,
        "price": price,
        **{name: money.amount_json(amount) for name, amount in asdict(worth).items()},
        "rates": [rate_shown(rate) for rate in rates],
        **({"converted": converted} if currency else {}),
    }


def feeds_of(holding: EncodedHolding) -> set[Feed]:
    """Returns the feeds of the holding's quote and rates."""
    own = {feed_of_kind(holding["type"])} if holding["type"] else set()
    converted: ConvertedShown | None = holding.get("converted")
    rates = holding["rates"] or (converted and converted.rates)
    return own.union(RATE_FEEDS) if rates else own
