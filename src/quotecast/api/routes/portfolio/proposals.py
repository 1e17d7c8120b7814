"""Transactions that the corporate actions of a portfolio's stocks propose for its ledger."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Literal

from litestar import get
from msgspec import Struct
from msgspec.structs import replace

from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, Services, services_of
from quotecast.api.prices.actions import read_actions
from quotecast.api.reference.account_operations import AccountOperation, answer, outcomes
from quotecast.api.routes.portfolio.holdings_shown import Amount
from quotecast.api.routes.portfolio.positions import fraction_json
from quotecast.background import take_turns
from quotecast.errors import NotOffered, ProviderMissing, UpstreamError
from quotecast.market.actions import ActionType, CorporateAction
from quotecast.market.feeds import Feed
from quotecast.portfolio import transactions as stored
from quotecast.portfolio.ledger import Book, Transaction, in_order

#: Stocks whose actions one answer reads.
MAX_STOCKS: Final = 100
_Kind = Literal["split", "dividend"]
#: What is entered for an action.
_KINDS: Final[Mapping[ActionType, _Kind]] = {
    "split": "split", "stock_dividend": "split", "cash_dividend": "dividend",
}  # fmt: skip


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
    "/proposals",
    operation_id="listProposals",
    summary="Transactions that corporate actions propose",
    operation_class=AccountOperation,
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
    keys = services.mirrors[Feed.STOCKS].keys_named(tickers)
    stocks = {ticker: key for ticker, key in keys.items() if key}
    actions = await _actions(services, [*stocks.items()][:MAX_STOCKS])
    found = await asyncio.to_thread(proposed, entries, actions, services.moment().date())
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
        if kind is None or action.ex_day > today:
            continue
        near = (action.ex_day + timedelta(days=days) for days in (-1, 0, 1))
        held = book.shares(action.symbol)
        if held <= 0 or any((action.symbol, kind, day) in entered for day in near):
            continue
        old, new, paid = (
            None if each is None else Fraction(repr(each))
            for each in (action.old_shares, action.new_shares, action.amount)
        )
        own = next(each.currency for each in entries if each.ticker == action.symbol)
        currency = action.currency or own
        found.append(
            {
                "type": kind,
                "ticker": action.symbol,
                "date": action.ex_day,
                "currency": currency,
                "old_shares": fraction_json(old),
                "new_shares": fraction_json(new),
                "amount": fraction_json(paid and held * paid),
                "held": fraction_json(held),
                "action": action.type,
            }
        )
        if kind == "split":
            # Later dividends are of the shares after it.
            split = Transaction(
                id=action.id,
                type="split",
                ticker=action.symbol,
                date=action.ex_day,
                currency=currency,
                old_shares=Decimal(repr(action.old_shares)),
                new_shares=Decimal(repr(action.new_shares)),
                created_at=datetime.combine(action.ex_day, time(), UTC),
            )
            book.enter(split)
    return found


async def _actions(services: Services, stocks: Sequence[tuple[str, str]]) -> list[CorporateAction]:
    """Returns the actions of stocks by their tickers, which may be former ones, and their keys.

    Of an upstream that fails or lacks them there are none.
    """

    async def read(stock: tuple[str, str]) -> list[CorporateAction]:
        ticker, key = stock
        try:
            _, found = await read_actions(services, key)
        except (ProviderMissing, NotOffered, UpstreamError):
            return []
        return [replace(each, symbol=ticker) for each in found]

    found = await asyncio.gather(*map(take_turns(read), stocks))
    return [each for actions in found for each in actions]
