"""A user's sessions: each login has one, and its token is valid while the session lasts."""

from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from quotecast.database.database import row_as
from quotecast.database.tables import Session as Table
from quotecast.errors import NotFound
from quotecast.users.account import Account

#: Sessions of one user; a further login ends the oldest.
MAX_SESSIONS: Final = 100
MAX_DEVICE: Final = 200


class UserSession(Struct, frozen=True):
    """One session: the device and network from which it began."""

    id: str
    device: str
    address: str
    created_at: datetime
    expires_at: datetime


async def begin(account: Account, session: UserSession) -> None:
    """Adds a session; removes expired ones and the oldest beyond the maximum.

    The transaction must have added or locked the user.
    """
    rows = await account.select(Table, order_by=Table.id, ascending=False)
    lasting = [row["id"] for row in rows if row["expires_at"] > session.created_at][: MAX_SESSIONS - 1]
    ended = {row["id"] for row in rows}.difference(lasting)
    if ended:
        await account.delete(Table, Table.id.is_in([*ended]))
    await account.insert(Table, **msgspec.structs.asdict(session))


async def sessions(account: Account, now: datetime) -> list[UserSession]:
    """Returns the sessions that have not expired, newest first."""
    rows = await account.select(Table, Table.expires_at > now, order_by=Table.id, ascending=False)
    return [row_as(UserSession, row) for row in rows]


async def end(account: Account, session_id: str) -> None:
    """Ends a session: its token is void at once, on every worker. Raises NotFound."""
    if not await account.delete(Table, Table.id == session_id):
        raise NotFound("Session")
