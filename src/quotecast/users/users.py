"""Queries on the table of users that do not run within one user's account."""

from datetime import datetime
from typing import Any

import asyncpg
from msgspec import Struct
from piccolo.columns import Column

from quotecast.database.database import Run
from quotecast.database.tables import Session, User
from quotecast.errors import EmailTaken, NotFound


class UserRow(Struct, frozen=True):
    """One row of the table of users."""

    id: str
    name: str
    email: str
    password_hash: str
    token_version: int
    disabled: bool
    created_at: datetime

    def __repr__(self) -> str:
        """Returns the id only: no log may hold the hash."""
        return f"UserRow(id={self.id!r})"


async def create(run: Run, *, user_id: str, name: str, email: str, password_hash: str) -> UserRow:
    """Adds a user. Raises EmailTaken, also for a concurrent registration with the same email."""
    user = User(id=user_id, name=name, email=email, password_hash=password_hash)
    try:
        (row,) = await run(User.insert(user).returning(*User.all_columns()))
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name == "users_email_key":
            raise EmailTaken from error
        raise
    return UserRow(**row)


async def find(run: Run, *, email: str) -> UserRow | None:
    """Returns the user with an email, which is in lower case; None if there is none."""
    rows = await run(User.select().where(User.email == email))
    return UserRow(**rows[0]) if rows else None


async def lock(run: Run, user: UserRow) -> bool:
    """Locks a user until the transaction ends; other writers to the account wait.

    Returns False if the user was deleted or disabled, or their sessions were ended, after the row was read.
    """
    query = User.select(User.id).where(User.id == user.id, User.token_version == user.token_version)
    return bool(await run(query.lock_rows("NO KEY UPDATE")))


async def email_of(run: Run, user_id: str) -> str:
    """Returns the email of a user. Raises NotFound."""
    rows = await run(User.select(User.email).where(User.id == user_id))
    if not rows:
        raise NotFound("User")
    return str(rows[0]["email"])


async def id_of(run: Run, email: str) -> str:
    """Returns the id of the user with an email. Raises NotFound."""
    rows = await run(User.select(User.id).where(User.email == email))
    if not rows:
        raise NotFound("User")
    return str(rows[0]["id"])


async def page(run: Run, *, after: str, limit: int) -> list[UserRow]:
    """Returns up to `limit` users after an id, in the order in which they registered."""
    query = User.select().where(User.id > after).order_by(User.id).limit(limit)
    return [UserRow(**row) for row in await run(query)]


async def set_password(run: Run, email: str, password_hash: str) -> None:
    """Changes a user's password, and ends all sessions. Raises NotFound."""
    await _change(run, email, {User.password_hash: password_hash, User.token_version: User.token_version + 1})


async def set_disabled(run: Run, email: str, *, disabled: bool) -> None:
    """Disables or enables a user; ends all sessions in both cases. Raises NotFound."""
    await _change(run, email, {User.disabled: disabled, User.token_version: User.token_version + 1})


async def revoke_tokens(run: Run, email: str) -> None:
    """Ends all sessions of a user. Raises NotFound."""
    await _change(run, email, {User.token_version: User.token_version + 1})


async def delete(run: Run, email: str) -> None:
    """Deletes a user with all their rows in other tables. Raises NotFound."""
    if not await run(User.delete().where(User.email == email).returning(User.id)):
        raise NotFound("User")


async def rehash(run: Run, user: UserRow, password_hash: str) -> None:
    """Replaces the hash by one of the same password with newer costs, unless the password has changed."""
    query = User.update({User.password_hash: password_hash})
    await run(query.where(User.id == user.id, User.password_hash == user.password_hash))


async def _change(run: Run, email: str, values: dict[Column | str, Any]) -> None:
    """Changes a user and ends all sessions. Raises NotFound."""
    rows = await run(User.update(values).where(User.email == email).returning(User.id))
    if not rows:
        raise NotFound("User")
    await run(Session.delete().where(Session.user_id == rows[0]["id"]))
