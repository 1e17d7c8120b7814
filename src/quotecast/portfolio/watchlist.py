"""Storage of a user's watchlists and of their symbols. The first list always exists."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from piccolo.columns.combination import CombinableMixin

from quotecast.database.database import row_as
from quotecast.database.ids import require_id
from quotecast.database.tables import ListedSymbol, WatchlistEntry
from quotecast.database.tables import Watchlist as WatchlistRow
from quotecast.errors import Full, InvalidValue, NameTaken, NotFound
from quotecast.market.feeds import Kind
from quotecast.users.account import Account

MAX_ENTRIES: Final = 500
#: Id of the first list, which every user has. Its symbols are in a table of their own, which had no lists.
DEFAULT_LIST: Final = "default"
#: What a 404 calls a list.
LIST: Final = "Watchlist"

MAX_LISTS: Final = 20
#: Name of the first list until the user changes it.
DEFAULT_NAME: Final = "Watchlist"


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

    Raises NotFound for an unknown list, as the other functions of symbols do.
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
        # The rows exchange their ids, which are the order.
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
    if not await account.select(WatchlistRow, WatchlistRow.id == list_id, WatchlistRow.is_default.eq(False)):
        raise NotFound(LIST)
    return _Rows(ListedSymbol, (ListedSymbol.list_id == list_id,), {"list_id": list_id})


async def _select(account: Account, rows: _Rows) -> list[Any]:
    return await account.select(rows.table, *rows.conditions, order_by=rows.table.id)


def _symbols_of(rows: Sequence[Any]) -> list[WatchedSymbol]:
    return [row_as(WatchedSymbol, row, position=position) for position, row in enumerate(rows)]


class Watchlist(Struct, frozen=True):
    """A named watchlist; `position` counts from 0, and `size` counts its symbols."""

    id: str
    name: str
    position: int
    size: int


async def lists(account: Account) -> list[Watchlist]:
    """Returns the user's watchlists in their order, the first list first."""
    rows = await account.select(WatchlistRow, order_by=WatchlistRow.position)
    first = next((row["name"] for row in rows if row["is_default"]), DEFAULT_NAME)
    named = [(DEFAULT_LIST, first), *((row["id"], row["name"]) for row in rows if not row["is_default"])]
    sizes = await account.count_by(ListedSymbol, ListedSymbol.list_id)
    sizes[DEFAULT_LIST] = await account.count(WatchlistEntry)
    return [Watchlist(each, name, place, sizes.get(each, 0)) for place, (each, name) in enumerate(named)]


async def add_list(
    account: Account, new_id: str, name: str, symbols: Sequence[tuple[Kind, str]], now: datetime
) -> Watchlist:
    """Adds a list with its symbols at the end. Raises Full or NameTaken.

    The account must be opened with `writing`, as for every function that changes lists.
    """
    known = await lists(account)
    _require_free(name, known)
    if len(known) >= MAX_LISTS:
        raise Full(MAX_LISTS, "watchlists")
    await account.insert(WatchlistRow, id=new_id, name=name, position=len(known), created_at=now)
    distinct = list(dict.fromkeys(symbols))
    if distinct:
        await account.insert_many(
            ListedSymbol,
            [
                {"list_id": new_id, "kind": kind, "ticker": ticker, "added_at": now}
                for kind, ticker in distinct
            ],
        )
    return Watchlist(new_id, name, len(known), len(distinct))


async def change_list(
    account: Account, list_id: str, name: str | None, position: int | None, free_id: str
) -> Watchlist:
    """Renames or moves a list, and returns it. Raises NotFound, NameTaken or InvalidValue.

    `free_id` becomes the id of the row with the first list's name.
    """
    known = await lists(account)
    found = _find(known, list_id)
    if name is not None:
        _require_free(name, [each for each in known if each.id != list_id])
        # The first list has no row before its first name.
        is_first = list_id == DEFAULT_LIST
        row = WatchlistRow.is_default.eq(True) if is_first else WatchlistRow.id == list_id
        changed = await account.update(WatchlistRow, {"name": name}, row)
        if not changed and is_first:
            await account.insert(WatchlistRow, id=free_id, name=name, position=0, is_default=True)
    if position is not None:
        if (list_id == DEFAULT_LIST) != (position == 0):
            raise InvalidValue("position", "Must be 0 for the first list, and above 0 for all others")
        others = [each for each in known if each.id != list_id]
        await _number(account, [*others[:position], found, *others[position:]])
    return _find(await lists(account), list_id)


async def remove_list(account: Account, list_id: str) -> None:
    """Deletes a list with its symbols. Raises NotFound, or InvalidValue for the first list."""
    if list_id == DEFAULT_LIST:
        raise InvalidValue("id", "The first list cannot be deleted; delete its symbols instead")
    require_id(LIST, list_id)
    if not await account.delete(WatchlistRow, WatchlistRow.id == list_id, WatchlistRow.is_default.eq(False)):
        raise NotFound(LIST)
    await _number(account, await lists(account))


async def _number(account: Account, ordered: Sequence[Watchlist]) -> None:
    """Stores positions without gaps: a new list gets the number of lists."""
    for place, each in enumerate(ordered):
        if each.id != DEFAULT_LIST:
            await account.update(WatchlistRow, {"position": place}, WatchlistRow.id == each.id)


def _require_free(name: str, others: Sequence[Watchlist]) -> None:
    if name.casefold() in {each.name.casefold() for each in others}:
        raise NameTaken


def _find(known: Sequence[Watchlist], list_id: str) -> Watchlist:
    found = next((each for each in known if each.id == list_id), None)
    if found is None:
        raise NotFound(LIST)
    return found
