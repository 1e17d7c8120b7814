"""How the present value of a portfolio is divided."""

import asyncio
from fractions import Fraction
from typing import Annotated, Final, Literal

from litestar import get
from litestar.params import QueryParameter
from msgspec import Struct, field

from quotecast.api.answers.answers import Answer, state_header
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, combined_state, services_of
from quotecast.api.prices.rates import RATE_FEEDS, rate_finder
from quotecast.api.reference.account_operations import QuotedOperation, answer, outcomes
from quotecast.api.routes.portfolio.holding_values import currency_code
from quotecast.api.routes.portfolio.holdings_shown import Amount
from quotecast.api.routes.portfolio.portfolio_value import Currency
from quotecast.api.routes.portfolio.positions import QuotedPosition, fraction_json, quoted_position
from quotecast.api.routes.portfolio.worth_history import Missing
from quotecast.market.conversion import factor
from quotecast.market.feeds import feed_of_kind
from quotecast.market.quotes import StockQuote
from quotecast.portfolio import transactions as stored
from quotecast.portfolio.ledger import Position, positions

_By = Literal["symbol", "type", "currency", "sector"]
By = Annotated[
    _By, QueryParameter(description="What the positions of a part have in common; only stocks have a sector")
]
_DIGITS: Final = 6


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
    by: _By
    market_value: Amount
    parts: list[AllocationPart]
    missing: list[Missing]


_SHOWN: Final = Allocation(
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
    responses=outcomes(200, Allocation, _SHOWN, "The present value and its parts", 422),
)
async def allocation(request: HttpRequest, by: By = "symbol", currency: Currency = "USD") -> Answer:
    """Counts the positions with shares, by the present quotes and rates."""
    code, services = currency_code(currency), services_of(request)
    entries = await with_account(request, stored.ledger)
    held = [each for each in await asyncio.to_thread(positions, entries) if each.shares]
    find = rate_finder(services.mirrors)
    parts: dict[str | None, _Part] = {}
    missing: dict[str, Missing] = {}
    feeds = set(RATE_FEEDS)
    for each in held:
        quoted, rates = quoted_position(each, services.mirrors, find), find(each.currency, code)
        if quoted.value is None or rates is None:
            missing[each.ticker] = Missing(each.ticker, "unknown" if quoted.quote is None else "rate")
            continue
        part = parts.setdefault(_name(by, each, quoted), _Part())
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
                "weight": round(float(part.value / total), _DIGITS) if total else 0.0,
            }
            for name, part in sorted(parts.items(), key=lambda each: (-each[1].value, each[0] or ""))
        ],
        "missing": [missing[ticker] for ticker in sorted(missing)],
    }
    used = [feed for feed in feeds if services.mirrors[feed].loaded]
    return answer(found, 200, state_header(combined_state(services, used)))


class _Part(Struct):
    value: Fraction = Fraction(0)
    tickers: set[str] = field(default_factory=set)


def _name(by: _By, position: Position, quoted: QuotedPosition) -> str | None:
    match by:
        case "symbol":
            return position.ticker
        case "type":
            return quoted.kind
        case "currency":
            return position.currency
        case "sector":
            return quoted.quote.sector if isinstance(quoted.quote, StockQuote) else None
