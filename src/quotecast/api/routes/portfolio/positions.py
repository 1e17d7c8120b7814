"""Positions of a portfolio: what it adds up to, what that is worth, and how the worth is divided."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from litestar import get
from litestar.params import QueryParameter
from msgspec import Raw, Struct, field

from quotecast.api.answers.answers import Answer, state_header
from quotecast.api.gate.identity import with_account
from quotecast.api.market.names import Mirrors, first_with
from quotecast.api.market.services import HttpRequest, Services, combined_state, services_of
from quotecast.api.prices.closes import read_day_rates
from quotecast.api.prices.rates import RATE_FEEDS, RateFinder, RateShown, convert, rate_finder, rate_shown
from quotecast.api.reference.account_operations import QuotedOperation, answer, outcomes
from quotecast.api.routes.portfolio.holding_values import currency_code
from quotecast.api.routes.portfolio.holdings_shown import Amount
from quotecast.api.routes.portfolio.portfolio_value import Currency
from quotecast.api.routes.portfolio.worth_history import Missing
from quotecast.market import money
from quotecast.market.conversion import factor
from quotecast.market.feeds import Kind, feed_of_kind
from quotecast.market.quotes import Quote, StockQuote
from quotecast.portfolio import transactions as stored
from quotecast.portfolio.ledger import Method, Position, Transaction, positions, to_decimal

HowSold = Annotated[
    Method,
    QueryParameter(
        name="method",
        description="Which shares a sale takes: the oldest (`fifo`), or a part of all at their average cost",
    ),
]
ConvertedTo = Annotated[
    str | None,
    QueryParameter(description="An ISO 4217 code; each position is also converted to this currency"),
]

_Grouping = Literal["symbol", "type", "currency", "sector"]
By = Annotated[
    _Grouping,
    QueryParameter(description="What the positions of a part have in common; only stocks have a sector"),
]
#: Decimals of a part's weight.
_WEIGHT_DIGITS: Final = 6


class LotShown(Struct, frozen=True, kw_only=True):
    """Shares that were bought on one day, and what they cost with the fee."""

    date: date
    shares: Amount
    cost: Amount


class ConvertedPosition(Struct, frozen=True, kw_only=True):
    """A position in the requested currency: its value by the present `rates`, all else by those of its days.

    The unrealised gain includes the gain of the currency. What needs an unknown quote or rate is null.
    """

    currency: str
    cost: Amount | None
    realized_gain: Amount | None
    dividends: Amount | None
    fees: Amount | None
    market_value: Amount | None
    unrealized_gain: Amount | None
    rates: list[RateShown]


class PositionShown(Struct, frozen=True, kw_only=True):
    """The shares of a ticker in one currency, and their gains.

    `realized_gain` is of sales, after fees. `price`, `market_value` and `unrealized_gain` are null without a
    quote or a rate. A sale of more shares than there are is a `problem`: no later transaction counts.
    """

    ticker: str
    type: Kind | None
    currency: str
    shares: Amount
    cost: Amount
    average_cost: Amount | None
    realized_gain: Amount
    dividends: Amount
    fees: Amount
    price: float | None
    market_value: Amount | None
    unrealized_gain: Amount | None
    converted: ConvertedPosition | None
    lots: list[LotShown]
    problem: str | None


class QuotedPosition(Struct, frozen=True):
    """A position's quote, and its price and value in the currency of the position; None where unknown."""

    kind: Kind | None
    quote: Quote | None
    price: float | None
    value: Fraction | None
    #: Whether rates converted the price.
    is_converted: bool


def quoted_position(position: Position, mirrors: Mirrors, find: RateFinder) -> QuotedPosition:
    """Returns what a position is worth now."""
    feed, entry = first_with(mirrors, position.ticker) or (None, None)
    quote = entry.quote if entry else None
    rates = find(feed.spec.currency(quote), position.currency) if feed and quote else None
    price = None if quote is None or rates is None else convert(quote.price, rates)
    value = None if price is None else position.shares * Fraction(repr(price))
    return QuotedPosition(feed.spec.kind if feed else None, quote, price, value, bool(rates))


def fraction_json(number: Fraction | None) -> Raw:
    """Returns the number as JSON, rounded to 8 decimals; None as null."""
    return money.amount_json(None if number is None else to_decimal(number))


_POSITION: Final = PositionShown(
    ticker="AAPL",
    type="stock",
    currency="USD",
    shares=6,
    cost=1125.6,
    average_cost=187.6,
    realized_gain=49.6,
    dividends=2.5,
    fees=0,
    price=189.84,
    market_value=1139.04,
    unrealized_gain=13.44,
    converted=None,
    lots=[LotShown(date=date(2026, 3, 2), shares=6, cost=1125.6)],
    problem=None,
)


@get(
    "/positions",
    operation_id="listPositions",
    summary="Your positions",
    operation_class=QuotedOperation,
    responses=outcomes(200, list[PositionShown], [_POSITION], "By ticker and currency", 422),
)
async def list_positions(
    request: HttpRequest, method: HowSold = "fifo", currency: ConvertedTo = None
) -> Answer:
    """Holdings count as buys. A split takes effect before the trades of its day.

    Amounts are exact decimals, rounded to 8 places. In another currency, costs, sales, dividends and fees are
    at the rates of their days, by daily closes.
    """
    code = None if currency is None else currency_code(currency)
    services = services_of(request)
    entries = await with_account(request, stored.ledger)
    # In a thread: thousands of transactions take longer than other requests should wait.
    found = await asyncio.to_thread(positions, entries, method)
    booked = {} if code is None else await _at_day_rates(services, code, entries, method)
    find = rate_finder(services.mirrors)
    quoted = [quoted_position(each, services.mirrors, find) for each in found]
    shown = [
        _shown(each, quote, find, code, booked.get((each.ticker, each.currency)))
        for each, quote in zip(found, quoted, strict=True)
    ]
    feeds = {feed_of_kind(each.kind) for each in quoted if each.kind and each.price is not None}
    if code or any(each.is_converted for each in quoted):
        feeds.update(RATE_FEEDS)
    used = [feed for feed in feeds if services.mirrors[feed].loaded]
    return answer(shown, 200, state_header(combined_state(services, used)))


async def _at_day_rates(
    services: Services, currency: str, entries: Sequence[Transaction], method: Method
) -> dict[tuple[str, str], Position]:
    """Returns the positions by ticker and their own currency, with amounts at the rates of their days.

    A position with a day whose rate is unknown is left out.
    """
    if not entries:
        return {}
    days = [each.date for each in entries]
    currencies = {each.currency for each in entries}
    rates = await read_day_rates(services, currencies, currency, min(days), max(days))

    def book() -> dict[tuple[str, str], Position]:
        # A split has no amounts.
        at_rates = [
            (each, Decimal(1) if each.type == "split" else rates.on(each.currency, each.date))
            for each in entries
        ]
        unknown = {(each.ticker, each.currency) for each, rate in at_rates if rate is None}
        converted = [each.at_rate(rate) for each, rate in at_rates if rate is not None]
        found = positions(converted, method)
        return {key: each for each in found if (key := (each.ticker, each.currency)) not in unknown}

    return await asyncio.to_thread(book)


def _shown(
    position: Position,
    quoted: QuotedPosition,
    find: RateFinder,
    currency: str | None,
    booked: Position | None,
) -> Mapping[str, Any]:
    """Returns a PositionShown whose amounts are encoded JSON; `booked` has amounts in the currency asked."""
    shares, cost, value = position.shares, position.cost, quoted.value
    gain = None if value is None else value - cost
    return {
        "ticker": position.ticker,
        "type": quoted.kind,
        "currency": position.currency,
        "shares": fraction_json(shares),
        "cost": fraction_json(cost),
        "average_cost": fraction_json(cost / shares if shares else None),
        "realized_gain": fraction_json(position.realized),
        "dividends": fraction_json(position.dividends),
        "fees": fraction_json(position.fees),
        "price": quoted.price,
        "market_value": fraction_json(value),
        "unrealized_gain": fraction_json(gain),
        "converted": _converted(position.currency, value, find, currency, booked),
        "lots": [
            {"date": lot.opened, "shares": fraction_json(lot.shares), "cost": fraction_json(lot.cost)}
            for lot in position.lots
        ],
        "problem": position.problem,
    }


def _converted(
    own: str, value: Fraction | None, find: RateFinder, currency: str | None, booked: Position | None
) -> Mapping[str, Any] | None:
    """Returns a ConvertedPosition; None if there are no rates."""
    rates = find(own, currency) if currency else None
    if rates is None:
        return None
    worth = None if value is None else value * Fraction(factor(rates))
    return {
        "currency": currency,
        "cost": fraction_json(booked.cost if booked else None),
        "realized_gain": fraction_json(booked.realized if booked else None),
        "dividends": fraction_json(booked.dividends if booked else None),
        "fees": fraction_json(booked.fees if booked else None),
        "market_value": fraction_json(worth),
        "unrealized_gain": fraction_json(None if worth is None or booked is None else worth - booked.cost),
        "rates": [*map(rate_shown, rates)],
    }


class AllocationPart(Struct, frozen=True, kw_only=True):
    """The positions of one symbol, type, currency or sector; `weight` is their part of the whole value."""

    name: str | None
    tickers: list[str]
    market_value: Amount
    weight: float


class Allocation(Struct, frozen=True, kw_only=True):
    """The value of all positions and its parts, the largest first.

    `missing` names the tickers of positions that no part includes: no feed has the ticker (`unknown`), or
    there is no `rate`.
    """

    currency: str
    by: _Grouping
    market_value: Amount
    parts: list[AllocationPart]
    missing: list[Missing]


_ALLOCATION: Final = Allocation(
    currency="USD",
    by="sector",
    market_value=1518.72,
    parts=[
        AllocationPart(name="Technology", tickers=["AAPL"], market_value=1139.04, weight=0.75),
        AllocationPart(name=None, tickers=["BTC/USDT"], market_value=379.68, weight=0.25),
    ],
    missing=[Missing("NONE", "unknown")],
)


@get(
    "/allocation",
    operation_id="getPortfolioAllocation",
    summary="How the value of your portfolio is divided",
    operation_class=QuotedOperation,
    responses=outcomes(200, Allocation, _ALLOCATION, "The present value and its parts", 422),
)
async def allocation(request: HttpRequest, by: By = "symbol", currency: Currency = "USD") -> Answer:
    """Counts the positions with shares, by the present quotes and rates."""
    code, services = currency_code(currency), services_of(request)
    entries = await with_account(request, stored.ledger)
    held = [each for each in await asyncio.to_thread(positions, entries) if each.shares]
    find = rate_finder(services.mirrors)
    parts: dict[str | None, _PartTotal] = {}
    missing: dict[str, Missing] = {}
    feeds = set(RATE_FEEDS)
    for each in held:
        quoted, rates = quoted_position(each, services.mirrors, find), find(each.currency, code)
        if quoted.value is None or rates is None:
            missing[each.ticker] = Missing(each.ticker, "unknown" if quoted.quote is None else "rate")
            continue
        part = parts.setdefault(_part_name(by, each, quoted), _PartTotal())
        part.value += quoted.value * Fraction(factor(rates))
        part.tickers.add(each.ticker)
        if quoted.kind is not None:
            feeds.add(feed_of_kind(quoted.kind))
    total = sum((each.value for each in parts.values()), Fraction(0))
    found = {
        "currency": code,
        "by": by,
        "market_value": fraction_json(total),
        "parts": [
            {
                "name": name,
                "tickers": sorted(part.tickers),
                "market_value": fraction_json(part.value),
                "weight": round(float(part.value / total), _WEIGHT_DIGITS) if total else 0.0,
            }
            for name, part in sorted(parts.items(), key=lambda each: (-each[1].value, each[0] or ""))
        ],
        "missing": [missing[ticker] for ticker in sorted(missing)],
    }
    used = [feed for feed in feeds if services.mirrors[feed].loaded]
    return answer(found, 200, state_header(combined_state(services, used)))


class _PartTotal(Struct):
    value: Fraction = Fraction(0)
    tickers: set[str] = field(default_factory=set)


def _part_name(by: _Grouping, position: Position, quoted: QuotedPosition) -> str | None:
    match by:
        case "symbol":
            return position.ticker
        case "type":
            return quoted.kind
        case "currency":
            return position.currency
        case "sector":
            return quoted.quote.sector if isinstance(quoted.quote, StockQuote) else None
