"""Positions of a portfolio: what its holdings and transactions add up to, and what they are worth."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from litestar import get
from litestar.params import QueryParameter
from msgspec import Raw, Struct

from quotecast.api.answers.answers import Answer, state_header
from quotecast.api.gate.identity import with_account
from quotecast.api.market.lookup import Mirrors, first_with
from quotecast.api.market.services import HttpRequest, Services, combined_state, services_of
from quotecast.api.prices.actions import read_actions
from quotecast.api.prices.rates import RATE_FEEDS, RateFinder, RateShown, convert, rate_finder, rate_shown
from quotecast.api.reference.account_operations import (
    SECURED,
    AccountOperation,
    QuotedOperation,
    answer,
    outcomes,
)
from quotecast.api.routes.portfolio.holding_values import currency_code
from quotecast.api.routes.portfolio.holdings_shown import Amount
from quotecast.errors import NotOffered, ProviderMissing, UpstreamError
from quotecast.market import money
from quotecast.market.actions import ActionType, CorporateAction
from quotecast.market.conversion import factor, round_amount
from quotecast.market.feeds import Feed, Kind
from quotecast.portfolio import transactions as stored
from quotecast.portfolio.ledger import (
    Book,
    Method,
    Position,
    Transaction,
    TransactionType,
    in_order,
    positions,
    to_decimal,
)

#: Stocks whose actions one answer reads.
MAX_STOCKS: Final = 100
_AT_ONCE: Final = 4
_Kind = Literal["split", "dividend"]
#: What is entered for an action.
_KINDS: Final[Mapping[ActionType, _Kind]] = {
    "split": "split", "stock_dividend": "split", "cash_dividend": "dividend",
}  # fmt: skip
#: Decimals of a converted amount do not matter beyond these digits.
_PRECISION: Final = 60

HowSold = Annotated[
    Method,
    QueryParameter(
        name="method",
        description="Which shares a sale takes: the oldest (`fifo`), or a part of all at their average cost",
    ),
]
Currency = Annotated[
    str | None, QueryParameter(description="An ISO 4217 code; each position is also valued in this currency")
]


class LotShown(Struct, frozen=True, kw_only=True):
    """Shares that were bought on one day, and what they cost with the fee."""

    date: date
    shares: Amount
    cost: Amount


class ConvertedPosition(Struct, frozen=True, kw_only=True):
    """The present value of a position in the requested currency, and the rates that convert it."""

    currency: str
    market_value: float
    unrealized_gain: float
    rates: list[RateShown]


class PositionShown(Struct, frozen=True, kw_only=True):
    """What is held of a ticker in one currency, and what it has brought.

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


class ProposedTransaction(Struct, frozen=True, kw_only=True):
    """A transaction that a corporate action of a position proposes; the fields are those of a new one."""

    type: _Kind
    ticker: str
    date: date
    currency: str
    old_shares: Amount | None
    new_shares: Amount | None
    amount: Amount | None
    #: Shares held before the day.
    held: Amount
    action: ActionType


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
_PROPOSED: Final = ProposedTransaction(
    type="split",
    ticker="AAPL",
    date=date(2026, 8, 31),
    currency="USD",
    old_shares=1,
    new_shares=4,
    amount=None,
    held=6,
    action="split",
)


@get(
    "/positions",
    operation_id="listPositions",
    summary="Your positions",
    operation_class=QuotedOperation,
    security=SECURED,
    responses=outcomes(200, list[PositionShown], [_POSITION], "By ticker and currency", 422),
)
async def list_positions(request: HttpRequest, method: HowSold = "fifo", currency: Currency = None) -> Answer:
    """Holdings count as buys. A split takes effect before the trades of its day.

    Amounts are exact decimals, rounded to 8 places.
    """
    code = None if currency is None else currency_code("currency", currency)
    services = services_of(request)
    entries = await with_account(request, stored.ledger)
    # In a thread: thousands of transactions take longer than other requests should wait.
    found = await asyncio.to_thread(positions, entries, method)
    find = rate_finder(services.mirrors)
    shown = [_shown(each, services.mirrors, find, code) for each in found]
    kinds = {each["type"] for each in shown if each["price"] is not None}
    feeds = {feed for feed in Feed if feed.spec.kind in kinds}.union(RATE_FEEDS if code else ())
    used = [feed for feed in feeds if services.mirrors[feed].loaded]
    return answer(shown, 200, state_header(combined_state(services, used)))


@get(
    "/proposals",
    operation_id="listProposals",
    summary="Transactions that corporate actions propose",
    operation_class=AccountOperation,
    security=SECURED,
    responses=outcomes(200, list[ProposedTransaction], [_PROPOSED], "Ascending by day"),
)
async def proposals(request: HttpRequest) -> Answer:
    """Splits and dividends of the stocks that you held, without those that you have entered.

    Nothing is entered by itself: add the ones that you want. A transaction of the same type and day, or a day
    later or earlier, counts as entered.
    """
    services = services_of(request)
    entries = await with_account(request, stored.ledger)
    tickers = sorted({each.ticker for each in entries if each.type == "buy"})
    stocks = [each for each in tickers if first_with(services.mirrors, each, [Feed.STOCKS])][:MAX_STOCKS]
    actions = await _actions(services, stocks)
    found = await asyncio.to_thread(
        proposed, entries, actions, datetime.fromtimestamp(services.now(), UTC).date()
    )
    return answer(found)


def proposed(
    entries: Sequence[Transaction], actions: Sequence[CorporateAction], today: date
) -> list[Mapping[str, Any]]:
    """Returns what corporate actions propose, ascending by day."""
    book, coming = Book(), deque(in_order(entries))
    entered = {(each.ticker, each.type, each.date) for each in entries}
    found: list[Mapping[str, Any]] = []
    for action in sorted(actions, key=lambda each: (each.ex_day, each.id)):
        while coming and coming[0].date < action.ex_day:
            book.enter(coming.popleft())
        kind = _KINDS.get(action.type)
        if kind is None or action.ex_day > today or _is_entered(entered, action, kind):
            continue
        held = book.shares(action.symbol)
        if held <= 0:
            continue
        old, new, paid = (_exact(each) for each in (action.old_shares, action.new_shares, action.amount))
        amount = None if paid is None else to_decimal(held * Fraction(paid))
        currency = action.currency or _currency_of(entries, action.symbol)
        found.append(
            {
                "type": kind,
                "ticker": action.symbol,
                "date": action.ex_day,
                "currency": currency,
                "old_shares": money.amount_json(old),
                "new_shares": money.amount_json(new),
                "amount": money.amount_json(amount),
                "held": money.amount_json(to_decimal(held)),
                "action": action.type,
            }
        )
        if kind == "split":
            # Later dividends are of the shares after it.
            book.enter(_split(action, currency, old, new))
    return found


def _split(action: CorporateAction, currency: str, old: Decimal | None, new: Decimal | None) -> Transaction:
    return Transaction(
        id=action.id,
        type="split",
        ticker=action.symbol,
        date=action.ex_day,
        currency=currency,
        old_shares=old,
        new_shares=new,
        created_at=datetime.combine(action.ex_day, time(), UTC),
    )


def _is_entered(
    entered: set[tuple[str, TransactionType, date]], action: CorporateAction, kind: _Kind
) -> bool:
    days = (action.ex_day + timedelta(days=days) for days in (-1, 0, 1))
    return any((action.symbol, kind, day) in entered for day in days)


def _currency_of(entries: Sequence[Transaction], ticker: str) -> str:
    return next(each.currency for each in entries if each.ticker == ticker)


def _exact(number: float | None) -> Decimal | None:
    return None if number is None else money.without_zeros(Decimal(repr(number)))


async def _actions(services: Services, stocks: Sequence[str]) -> list[CorporateAction]:
    """Returns the actions of stocks; of an upstream that fails or lacks them there are none."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def read(symbol: str) -> list[CorporateAction]:
        async with turns:
            try:
                return (await read_actions(services, symbol))[1]
            except (ProviderMissing, NotOffered, UpstreamError):
                return []

    return [each for found in await asyncio.gather(*map(read, stocks)) for each in found]


def _shown(position: Position, mirrors: Mirrors, find: RateFinder, currency: str | None) -> Mapping[str, Any]:
    """Returns a PositionShown whose amounts are encoded JSON."""
    feed, entry = first_with(mirrors, position.ticker) or (None, None)
    quote = entry.quote if entry else None
    rates = find(feed.spec.currency(quote), position.currency) if feed and quote else None
    price = None if quote is None or rates is None else convert(quote.price, rates)
    shares, cost = position.shares, position.cost
    value = None if price is None else shares * Fraction(repr(price))
    gain = None if value is None else value - cost
    return {
        "ticker": position.ticker,
        "type": feed.spec.kind if feed else None,
        "currency": position.currency,
        "shares": _amount(shares),
        "cost": _amount(cost),
        "average_cost": _amount(cost / shares if shares else None),
        "realized_gain": _amount(position.realized),
        "dividends": _amount(position.dividends),
        "fees": _amount(position.fees),
        "price": price,
        "market_value": _amount(value),
        "unrealized_gain": _amount(gain),
        "converted": _converted(position.currency, value, gain, find, currency),
        "lots": [
            {"date": lot.opened, "shares": _amount(lot.shares), "cost": _amount(lot.cost)}
            for lot in position.lots
        ],
        "problem": position.problem,
    }


def _converted(
    own: str, value: Fraction | None, gain: Fraction | None, find: RateFinder, currency: str | None
) -> ConvertedPosition | None:
    rates = find(own, currency) if currency and value is not None else None
    if currency is None or rates is None or value is None or gain is None:
        return None
    with localcontext(prec=_PRECISION):
        worth, won = (float(round_amount(to_decimal(each) * factor(rates))) for each in (value, gain))
    shown = [*map(rate_shown, rates)]
    return ConvertedPosition(currency=currency, market_value=worth, unrealized_gain=won, rates=shown)


def _amount(number: Fraction | None) -> Raw:
    return money.amount_json(None if number is None else to_decimal(number))
