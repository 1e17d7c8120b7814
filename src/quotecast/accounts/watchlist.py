"""Storage of a user's watchlist."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from quotecast.accounts.account import Account
from quotecast.accounts.tables import WatchlistEntry as Table
from quotecast.errors import Full
from quotecast.market.feeds import Kind

MAX_ENTRIES: Final = 500


class WatchedSymbol(Struct, frozen=True):
    """A symbol in a watchlist; `position` counts from 0."""

    kind: Kind
    ticker: str
    position: int
    added_at: datetime


async def entries(account: Account) -> list[WatchedSymbol]:
    """Returns the watchlist, in the order in which symbols were added."""
    rows = await account.select(Table, order_by=Table.id)
    return [_symbol_of(row, position) for position, row in enumerate(rows)]


async def add(account: Account, kind: Kind, ticker: str, now: datetime) -> tuple[WatchedSymbol, bool]:
    """Adds a symbol unless it is listed; returns it, and whether it is new. Raises Full.

    The account must be opened with `writing`, or two requests could add the same symbol.
    """
    listed = await entries(account)
    for entry in listed:
        if (entry.kind, entry.ticker) == (kind, ticker):
            return entry, False
    if len(listed) >= MAX_ENTRIES:
        raise Full(MAX_ENTRIES, "watchlist entries")
    row = await account.insert(Table, kind=kind, ticker=ticker, added_at=now)
    return _symbol_of(row, len(listed)), True


async def remove(account: Account, entry: WatchedSymbol) -> None:
    """Removes a symbol from the watchlist."""
    await account.delete(Table, Table.kind == entry.kind, Table.ticker == entry.ticker)


def _symbol_of(row: Any, position: int) -> WatchedSymbol:
    return WatchedSymbol(row["kind"], row["ticker"], position, row["added_at"])
