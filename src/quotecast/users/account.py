"""Access to one user's rows; no other module reads or writes them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from piccolo.columns import Column
from piccolo.columns.combination import CombinableMixin, WhereRaw
from piccolo.query.functions.aggregate import Count

from quotecast.database.database import Run
from quotecast.database.tables import (
    Alert,
    AlertDelivery,
    AlertEvent,
    ApiKey,
    Holding,
    IdempotencyKey,
    Layout,
    ListedSymbol,
    PushSubscription,
    Session,
    Transaction,
    User,
    Watchlist,
    WatchlistEntry,
    Webhook,
)
from quotecast.errors import InvalidToken
from quotecast.market.feeds import Kind
from quotecast.users.tokens import Claims
from quotecast.users.users import UserRow

#: The tables whose rows belong to users.
OwnedTable = (
    type[Alert]
    | type[AlertDelivery]
    | type[AlertEvent]
    | type[ApiKey]
    | type[Holding]
    | type[IdempotencyKey]
    | type[Layout]
    | type[ListedSymbol]
    | type[PushSubscription]
    | type[Session]
    | type[Transaction]
    | type[Watchlist]
    | type[WatchlistEntry]
    | type[Webhook]
)

_COUNT_CHANGE: Final = (
    "INSERT INTO alert_changes AS counted (kind, number) VALUES ({}, 1)"
    " ON CONFLICT (kind) DO UPDATE SET number = counted.number + 1"
)

#: Tables in which alerts make rows for a user, without an end.
PiledTable = type[AlertDelivery] | type[AlertEvent]
#: Rows that one transaction deletes from them.
PART: Final = 1000


class Account:
    """One user in one transaction; it adds the user's id to every query.

    Conditions join that id by AND. Rows are mappings. `session` is the id of the request's session; a login
    has none yet.
    """

    def __init__(self, run: Run, user: UserRow, session: str = "") -> None:
        self._run = run
        self.user = user
        self.session = session

    async def select(
        self,
        table: OwnedTable,
        *conditions: CombinableMixin,
        order_by: Column | None = None,
        ascending: bool = True,
        limit: int | None = None,
    ) -> list[Any]:
        """Returns the user's rows that meet the conditions, at most `limit`."""
        query = table.select().where(*self._owned_rows(table, conditions))
        if order_by:
            query = query.order_by(order_by, ascending=ascending)
        return await self._run(query.limit(limit) if limit else query)

    async def count(self, table: OwnedTable, *conditions: CombinableMixin) -> int:
        """Returns the number of the user's rows that meet the conditions."""
        (row,) = await self._run(table.count().where(*self._owned_rows(table, conditions)))
        return int(row["count"])

    async def count_by(self, table: OwnedTable, column: Column) -> dict[str, int]:
        """Returns the number of the user's rows for each value of a column."""
        query = table.select(column.as_alias("value"), Count()).where(*self._owned_rows(table))
        return {row["value"]: int(row["count"]) for row in await self._run(query.group_by(column))}

    async def insert(self, table: OwnedTable, **values: Any) -> Any:
        """Adds a row, and returns it with the database's defaults."""
        insert: Any = table.insert
        query = insert(table(user_id=self.user.id, **values)).returning(*table.all_columns())
        (inserted,) = await self._run(query)
        return inserted

    async def insert_many(self, table: OwnedTable, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows, at least one, in one statement."""
        insert: Any = table.insert
        await self._run(insert(*(table(user_id=self.user.id, **row) for row in rows)))

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

    async def delete_some(self, table: PiledTable, *conditions: CombinableMixin) -> bool:
        """Deletes some of the rows that meet the conditions. Returns whether there may be more.

        A transaction has no time for a pile that grew for months.
        """
        wanted = table.select(table.id).where(*self._owned_rows(table, conditions)).limit(PART)
        return await self.delete(table, table.id.is_in(wanted)) == PART

    async def query(self, sql: str, *values: Any) -> list[Any]:
        """Runs SQL, whose last value is the user's id."""
        return await self._run(User.raw(sql, *values, self.user.id))

    async def note_alert_change(self, kind: Kind) -> None:
        """Counts a change to the alerts of a kind; the last query of a transaction that writes one.

        The count stays locked until the transaction ends. So writers take turns, and an ingest that reads a
        number sees every change up to it.
        """
        await self._run(Alert.raw(_COUNT_CHANGE, kind))

    async def rename(self, name: str) -> UserRow:
        """Changes the user's name, and returns the user's row."""
        return await self._change({User.name: name})

    async def end_sessions(self) -> UserRow:
        """Invalidates all tokens of the user, and returns the user's row."""
        await self.delete(Session)
        return await self._change({User.token_version: User.token_version + 1})

    async def with_password(self, password_hash: str) -> "Account":
        """Changes the password and ends all sessions; returns the account after that."""
        await self._change({User.password_hash: password_hash})
        return Account(self._run, await self.end_sessions())

    async def delete_user(self) -> None:
        """Deletes the user with all their rows in other tables."""
        await self._run(User.delete().where(User.id == self.user.id))

    async def _change(self, values: dict[Column | str, Any]) -> UserRow:
        query = User.update(values).where(User.id == self.user.id)
        (row,) = await self._run(query.returning(*User.all_columns()))
        return UserRow(**row)

    def _owned_rows(self, table: OwnedTable, conditions: Iterable[CombinableMixin] = ()) -> Iterable[Any]:
        return table.user_id == self.user.id, *conditions


async def open_account(run: Run, claims: Claims, *, writing: bool) -> Account:
    """Returns the account of a token's user. Raises InvalidToken if the token was revoked.

    A token is revoked when its session has ended, or the user has another token version or is disabled.
    With `writing`, other writers to this account wait until the transaction ends.
    """
    # One query checks the user and that the session is theirs.
    query = User.select().where(
        User.id == claims.sub,
        WhereRaw(
            "EXISTS (SELECT 1 FROM sessions WHERE sessions.id = {} AND sessions.user_id = users.id)",
            claims.sid,
        ),
    )
    # Weaker than FOR UPDATE: others may still write rows that refer to the user.
    rows = await run(query.lock_rows("NO KEY UPDATE") if writing else query)
    if not rows:
        raise InvalidToken
    user = UserRow(**rows[0])
    if user.disabled or user.token_version != claims.ver:
        raise InvalidToken
    return Account(run, user, claims.sid)
