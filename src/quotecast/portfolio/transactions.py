"""The stored transactions of a user."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from quotecast.database.database import row_as
from quotecast.database.tables import Transaction as Table
from quotecast.errors import Full, NotFound
from quotecast.portfolio import portfolio
from quotecast.portfolio.ledger import Transaction, check
from quotecast.portfolio.portfolio import Holding
from quotecast.users.account import Account

MAX_TRANSACTIONS: Final = 5000


async def transactions(account: Account) -> list[Transaction]:
    """Returns the user's transactions, the newest day first."""
    rows = await account.select(Table, order_by=Table.id, ascending=False)
    found = [row_as(Transaction, row) for row in rows]
    return sorted(found, key=lambda each: each.date, reverse=True)


async def ledger(account: Account) -> list[Transaction]:
    """Returns the user's transactions, and the holdings as buys."""
    return [*map(opening, await portfolio.holdings(account)), *await transactions(account)]


def opening(holding: Holding) -> Transaction:
    """Returns the buy that a holding stands for."""
    return Transaction(
        id=holding.id,
        type="buy",
        ticker=holding.ticker,
        date=holding.bought_at,
        currency=holding.currency,
        shares=holding.shares,
        price=holding.avg_cost,
        created_at=holding.created_at,
    )


async def add(account: Account, new: Sequence[Transaction]) -> None:
    """Adds transactions. Raises Full, and InvalidValue for a sale of more shares than there are.

    The account must be opened with `writing`, or two requests could both sell the last shares.
    """
    await check_all(account, new)
    await account.insert_many(Table, [msgspec.structs.asdict(each) for each in new])


async def check_all(account: Account, new: Sequence[Transaction]) -> None:
    """Raises Full or InvalidValue if the user cannot have the new transactions, too."""
    known = await ledger(account)
    if await account.count(Table) + len(new) > MAX_TRANSACTIONS:
        raise Full(MAX_TRANSACTIONS, "transactions")
    touched = {each.ticker for each in new}
    before = [each for each in known if each.ticker in touched]
    # In a thread: thousands of transactions take longer than other requests should wait.
    await asyncio.to_thread(check, before, [*before, *new])


async def remove(account: Account, transaction_id: str) -> None:
    """Deletes a transaction. Raises NotFound, and InvalidValue if a later sale needs its shares."""
    rows = await account.select(Table, Table.id == transaction_id)
    if not rows:
        raise NotFound("Transaction")
    before = [each for each in await ledger(account) if each.ticker == rows[0]["ticker"]]
    left = [each for each in before if each.id != transaction_id]
    await asyncio.to_thread(check, before, left)
    await account.delete(Table, Table.id == transaction_id)
