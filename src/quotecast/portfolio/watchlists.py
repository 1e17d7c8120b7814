"""Storage of a user's named watchlists. The first list always exists; what is in a list is in `watchlist`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from quotecast.database.ids import require_id
from quotecast.database.tables import ListedSymbol, WatchlistEntry
from quotecast.database.tables import Watchlist as Table
from quotecast.errors import Full, InvalidValue, NameTaken, NotFound
from quotecast.market.feeds import Kind
from quotecast.portfolio import watchlist
from quotecast.portfolio.watchlist import DEFAULT_LIST
from quotecast.users.account import Account

MAX_LISTS: Final = 20
#: Name of the first list until the user changes it.
DEFAULT_NAME: Final = "Watchlist"


class Watchlist(Struct, frozen=True):
    """A named watchlist; `position` counts from 0, and `size` counts its symbols."""

    id: str
    name: str
    position: int
    size: int


async def lists(account: Account) -> list[Watchlist]:
    """Returns the user's watchlists in their order, the first list first."""
    rows = await account.select(Table, order_by=Table.position)
    first = next((row["name"] for row in rows if row["is_default"]), DEFAULT_NAME)
    named = [(DEFAULT_LIST, first), *((row["id"], row["name"]) for row in rows if not row["is_default"])]
    sizes = await account.count_by(ListedSymbol, ListedSymbol.list_id)
    sizes[DEFAULT_LIST] = await account.count(WatchlistEntry)
    return [Watchlist(each, name, place, sizes.get(each, 0)) for place, (each, name) in enumerate(named)]


async def add(
    account: Account, new_id: str, name: str, symbols: Sequence[tuple[Kind, str]], now: datetime
) -> Watchlist:
    """Adds a list with its symbols at the end. Raises Full or NameTaken.

    The account must be opened with `writing`, as for every function here that changes lists.
    """
    known = await lists(account)
    _require_free(name, known)
    if len(known) >= MAX_LISTS:
        raise Full(MAX_LISTS, "watchlists")
    await account.insert(Table, id=new_id, name=name, position=len(known), created_at=now)
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


async def change(
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
        row = Table.is_default.eq(True) if is_first else Table.id == list_id
        changed = await account.update(Table, {"name": name}, row)
        if not changed and is_first:
            await account.insert(Table, id=free_id, name=name, position=0, is_default=True)
    if position is not None:
        if (list_id == DEFAULT_LIST) != (position == 0):
            raise InvalidValue("position", "Must be 0 for the first list, and above 0 for all others")
        others = [each for each in known if each.id != list_id]
        await _number(account, [*others[:position], found, *others[position:]])
    return _find(await lists(account), list_id)


async def remove(account: Account, list_id: str) -> None:
    """Deletes a list with its symbols. Raises NotFound, or InvalidValue for the first list."""
    if list_id == DEFAULT_LIST:
        raise InvalidValue("id", "The first list cannot be deleted; delete its symbols instead")
    require_id(watchlist.LIST, list_id)
    if not await account.delete(Table, Table.id == list_id, Table.is_default.eq(False)):
        raise NotFound(watchlist.LIST)
    await _number(account, await lists(account))


async def _number(account: Account, ordered: Sequence[Watchlist]) -> None:
    """Stores positions without gaps: a new list gets the number of lists."""
    for place, each in enumerate(ordered):
        if each.id != DEFAULT_LIST:
            await account.update(Table, {"position": place}, Table.id == each.id)


def _require_free(name: str, others: Sequence[Watchlist]) -> None:
    if name.casefold() in {each.name.casefold() for each in others}:
        raise NameTaken


def _find(known: Sequence[Watchlist], list_id: str) -> Watchlist:
    found = next((each for each in known if each.id == list_id), None)
    if found is None:
        raise NotFound(watchlist.LIST)
    return found
