"""Storage of the symbols of a user's watchlists."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from piccolo.columns.combination import CombinableMixin

from quotecast.database.database import row_as
from quotecast.database.ids import require_id
from quotecast.database.tables import ListedSymbol, Watchlist, WatchlistEntry
from quotecast.errors import Full, NotFound
from quotecast.market.feeds import Kind
from quotecast.users.account import Account

MAX_ENTRIES: Final = 500
#: Id of the first list, which every user has. Its symbols are in a table of their own, which had no lists.
DEFAULT_LIST: Final = "default"
#: What a 404 calls a list.
LIST: Final = "Watchlist"


class WatchedSymbol(Struct, frozen=True):
    """A symbol in a watchlist; `position` counts from 0."""

    kind: Kind
    ticker: str
    position: int
    added_at: datetime


class _Rows(Struct, frozen=True):
    """The table of a list's symbols, the condition of its rows, and the values of a new row."""

    table: type[WatchlistEntry] | type[ListedSymbol]
    conditions: tuple[CombinableMixin, ...] = ()
    values: dict[str, str] = {}


async def entries(account: Account, list_id: str = DEFAULT_LIST) -> list[WatchedSymbol]:
    """Returns the symbols of a list in its order: that of addition, until a request reorders it.

    Raises NotFound for an unknown list, as every function here does.
    """
    return _symbols_of(await _select(account, await _rows_of(account, list_id)))


async def add(
    account: Account, kind: Kind, ticker: str, now: datetime, list_id: str = DEFAULT_LIST
) -> tuple[WatchedSymbol, bool]:
    """Adds a symbol unless it is listed; returns it, and whether it is new. Raises Full.

    The account must be opened with `writing`, or two requests could add the same symbol.
    """
    rows = await _rows_of(account, list_id)
    listed = _symbols_of(await _select(account, rows))
    for entry in listed:
        if (entry.kind, entry.ticker) == (kind, ticker):
            return entry, False
    if len(listed) >= MAX_ENTRIES:
        raise Full(MAX_ENTRIES, "watchlist entries")
    row = await account.insert(rows.table, kind=kind, ticker=ticker, added_at=now, **rows.values)
    return row_as(WatchedSymbol, row, position=len(listed)), True


async def remove(account: Account, entry: WatchedSymbol, list_id: str = DEFAULT_LIST) -> None:
    """Removes a symbol from a list."""
    rows = await _rows_of(account, list_id)
    table = rows.table
    await account.delete(table, *rows.conditions, table.kind == entry.kind, table.ticker == entry.ticker)


async def reorder(
    account: Account, wanted: Sequence[tuple[Kind, str]], list_id: str = DEFAULT_LIST
) -> list[WatchedSymbol]:
    """Moves the wanted symbols to the front, in their order, and returns the list.

    The other symbols follow in their old order. The account must be opened with `writing`.
    """
    rows = await _rows_of(account, list_id)
    before = await _select(account, rows)
    ranks = {symbol: rank for rank, symbol in reversed([*enumerate(wanted)])}
    after = sorted(before, key=lambda row: ranks.get((row["kind"], row["ticker"]), len(ranks)))
    if after != before:
        await account.delete(rows.table, *rows.conditions)
        # The rows exchange their ids, which are the order. An older release orders by id too.
        values = [
            {**rows.values, **{name: row[name] for name in ("kind", "ticker", "added_at")}, "id": old["id"]}
            for row, old in zip(after, before, strict=True)
        ]
        await account.insert_many(rows.table, values)
    return _symbols_of(after)


async def _rows_of(account: Account, list_id: str) -> _Rows:
    if list_id == DEFAULT_LIST:
        return _Rows(WatchlistEntry)
    require_id(LIST, list_id)
    if not await account.select(Watchlist, Watchlist.id == list_id, Watchlist.is_default.eq(False)):
        raise NotFound(LIST)
    return _Rows(ListedSymbol, (ListedSymbol.list_id == list_id,), {"list_id": list_id})


async def _select(account: Account, rows: _Rows) -> list[Any]:
    return await account.select(rows.table, *rows.conditions, order_by=rows.table.id)


def _symbols_of(rows: Sequence[Any]) -> list[WatchedSymbol]:
    return [row_as(WatchedSymbol, row, position=position) for position, row in enumerate(rows)]
