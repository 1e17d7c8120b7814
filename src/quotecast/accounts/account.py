"""Access to one user's rows; no other module reads or writes them."""

from collections.abc import Iterable, Mapping
from typing import Any

from piccolo.columns import Column
from piccolo.columns.combination import CombinableMixin

from quotecast.accounts.database import Run
from quotecast.accounts.tables import Holding, IdempotencyKey, Layout, User, WatchlistEntry
from quotecast.accounts.tokens import Claims
from quotecast.accounts.users import UserRow
from quotecast.errors import InvalidToken

#: The tables whose rows belong to users.
OwnedTable = type[Holding] | type[IdempotencyKey] | type[Layout] | type[WatchlistEntry]


class Account:
    """One user in one transaction; it adds the user's id to every query.

    Conditions join that id by AND. Rows are mappings.
    """

    def __init__(self, run: Run, user: UserRow) -> None:
        self._run = run
        self.user = user

    async def select(
        self,
        table: OwnedTable,
        *conditions: CombinableMixin,
        order_by: Column | None = None,
        ascending: bool = True,
    ) -> list[Any]:
        """Returns the user's rows that meet the conditions."""
        query = table.select().where(*self._owned_rows(table, conditions))
        return await self._run(query.order_by(order_by, ascending=ascending) if order_by else query)

    async def count(self, table: OwnedTable) -> int:
        """Returns the number of the user's rows."""
        (row,) = await self._run(table.count().where(*self._owned_rows(table)))
        return int(row["count"])

    async def insert(self, table: OwnedTable, **values: Any) -> Any:
        """Adds a row, and returns it with the database's defaults."""
        insert: Any = table.insert
        query = insert(table(user_id=self.user.id, **values)).returning(*table.all_columns())
        (inserted,) = await self._run(query)
        return inserted

    async def update(
        self, table: OwnedTable, values: Mapping[str, Any], *conditions: CombinableMixin
    ) -> list[Any]:
        """Changes the rows that meet the conditions, and returns them."""
        query = table.update(dict(values.items())).where(*self._owned_rows(table, conditions))
        return await self._run(query.returning(*table.all_columns()))

    async def delete(self, table: OwnedTable, *conditions: CombinableMixin) -> int:
        """Deletes the rows that meet the conditions, and returns their number."""
        query = table.delete().where(*self._owned_rows(table, conditions))
        return len(await self._run(query.returning(table.user_id)))

    async def rename(self, name: str) -> UserRow:
        """Changes the user's name, and returns the user's row."""
        return await self._change({User.name: name})

    async def end_sessions(self) -> UserRow:
        """Invalidates all tokens of the user, and returns the user's row."""
        return await self._change({User.token_version: User.token_version + 1})

    async def _change(self, values: dict[Column | str, Any]) -> UserRow:
        query = User.update(values).where(User.id == self.user.id)
        (row,) = await self._run(query.returning(*User.all_columns()))
        return UserRow(**row)

    def _owned_rows(self, table: OwnedTable, conditions: Iterable[CombinableMixin] = ()) -> Iterable[Any]:
        return table.user_id == self.user.id, *conditions


async def open_account(run: Run, claims: Claims, *, writing: bool) -> Account:
    """Returns the account of a token's user. Raises InvalidToken if the token was revoked.

    With `writing`, other writers to this account wait until the transaction ends.
    """
    query = User.select().where(User.id == claims.sub)
    # Weaker than FOR UPDATE: others may still write rows that refer to the user.
    rows = await run(query.lock_rows("NO KEY UPDATE") if writing else query)
    if not rows:
        raise InvalidToken
    user = UserRow(**rows[0])
    if user.disabled or user.token_version != claims.ver:
        raise InvalidToken
    return Account(run, user)
