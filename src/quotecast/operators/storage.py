"""Queries on operators: who is one, and the step of their newest code."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from quotecast.database.database import Run
from quotecast.database.tables import Operator, OperatorSession
from quotecast.errors import NotFound

_FIND: Final = (
    "SELECT users.id, users.email, users.password_hash, users.token_version, users.disabled, operators.totp"
    " FROM operators JOIN users ON users.id = operators.user_id WHERE users.email = {}"
)
_LIST: Final = (
    "SELECT users.id, users.email, users.disabled, operators.totp IS NOT NULL AS has_totp,"
    " operators.added_at,"
    " (SELECT max(seen_at) FROM operator_sessions WHERE user_id = users.id) AS seen_at"
    " FROM operators JOIN users ON users.id = operators.user_id ORDER BY operators.added_at, users.id"
)
_LOCK: Final = (
    "SELECT operators.user_id FROM operators JOIN users ON users.id = operators.user_id"
    " WHERE operators.user_id = {} AND operators.totp IS NOT DISTINCT FROM {}::text"
    " AND users.token_version = {} FOR NO KEY UPDATE OF operators"
)
_USE_STEP: Final = (
    "UPDATE operators SET totp_step = {}::bigint WHERE user_id = {} AND totp_step < {}::bigint"
    " RETURNING user_id"
)


class OperatorRow(Struct, frozen=True):
    """An operator as the login needs it."""

    id: str
    email: str
    password_hash: str
    token_version: int
    disabled: bool
    totp: str | None

    def __repr__(self) -> str:
        """Returns the id only: no log may hold the hash."""
        return f"OperatorRow(id={self.id!r})"


class OperatorListed(Struct, frozen=True):
    """An operator in a list; `seen_at` is None without a session."""

    id: str
    email: str
    disabled: bool
    has_totp: bool
    added_at: datetime
    seen_at: datetime | None


async def find(run: Run, email: str) -> OperatorRow | None:
    """Returns the operator with an email, which is in lower case; None if there is none."""
    rows = await run(Operator.raw(_FIND, email))
    return OperatorRow(**rows[0]) if rows else None


async def listed(run: Run) -> list[OperatorListed]:
    """Returns all operators in the order in which they were added."""
    return [OperatorListed(**row) for row in await run(Operator.raw(_LIST))]


async def add(run: Run, user_id: str, totp: str | None, now: datetime) -> bool:
    """Makes a user an operator; returns whether they were none before.

    A sealed TOTP secret replaces that of an operator, and ends their sessions; None leaves it.
    """
    if not await run(Operator.select(Operator.user_id).where(Operator.user_id == user_id)):
        await run(Operator.insert(Operator(user_id=user_id, totp=totp, totp_step=0, added_at=now)))
        return True
    if totp is not None:
        await run(Operator.update({Operator.totp: totp, Operator.totp_step: 0}).where(_is(user_id)))
        await run(OperatorSession.delete().where(OperatorSession.user_id == user_id))
    return False


async def remove(run: Run, user_id: str) -> None:
    """Takes the role from an operator, and ends their sessions at once. Raises NotFound."""
    if not await run(Operator.delete().where(_is(user_id)).returning(Operator.user_id)):
        raise NotFound("Operator")


async def lock(run: Run, operator: OperatorRow) -> bool:
    """Locks an operator until the transaction ends; other logins and changes of the role wait.

    Returns False if role, codes or password changed after the operator was read.
    """
    return bool(await run(Operator.raw(_LOCK, operator.id, operator.totp, operator.token_version)))


async def use_step(run: Run, user_id: str, step: int) -> bool:
    """Notes the step of a code; returns False if that code or a later one was used before."""
    return bool(await run(Operator.raw(_USE_STEP, step, user_id, step)))


def _is(user_id: str) -> Any:
    return Operator.user_id == user_id
