"""Sessions of operators: short, with rows in PostgreSQL, so that each ends at once on every worker."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from quotecast.database.database import Run
from quotecast.database.tables import OperatorSession
from quotecast.operators.errors import OperatorSessionEnded
from quotecast.operators.storage import OperatorRow
from quotecast.operators.tokens import IDLE_SECONDS, LIFETIME_SECONDS, OperatorClaims

#: Sessions of one operator; a further login ends the oldest.
MAX_SESSIONS: Final = 5
#: Seconds between two notes of a session's use.
NOTE_SECONDS: Final = 60

_RESUME: Final = (
    "SELECT users.email, sessions.seen_at, sessions.expires_at, operators.totp IS NOT NULL AS has_totp"
    " FROM operator_sessions AS sessions"
    " JOIN operators ON operators.user_id = sessions.user_id JOIN users ON users.id = sessions.user_id"
    " WHERE sessions.id = {} AND sessions.user_id = {} AND NOT users.disabled"
    " AND users.token_version = sessions.token_version"
    " AND sessions.expires_at > {}::timestamptz AND sessions.seen_at > {}::timestamptz"
)
_STAY: Final = " FOR KEY SHARE OF sessions"
#: The lock of a transaction that ends the session: two with the weaker lock would wait for each other.
_END: Final = " FOR UPDATE OF sessions"
_TRIM: Final = (
    "DELETE FROM operator_sessions WHERE user_id = {} AND (expires_at <= {}::timestamptz OR id NOT IN"
    " (SELECT id FROM operator_sessions WHERE user_id = {} ORDER BY created_at DESC, id DESC LIMIT {}::int))"
)


class OperatorSeen(Struct, frozen=True):
    """The operator of a request."""

    id: str
    session: str
    email: str
    has_totp: bool
    expires_at: datetime


async def begin(run: Run, operator: OperatorRow, session_id: str, address: str, now: datetime) -> None:
    """Adds a session; removes expired ones and the oldest beyond the maximum."""
    await run(OperatorSession.raw(_TRIM, operator.id, now, operator.id, MAX_SESSIONS - 1))
    await run(
        OperatorSession.insert(
            OperatorSession(
                id=session_id,
                user_id=operator.id,
                token_version=operator.token_version,
                address=address,
                created_at=now,
                seen_at=now,
                expires_at=now + timedelta(seconds=LIFETIME_SECONDS),
            )
        )
    )


async def resume(
    run: Run, claims: OperatorClaims, now: datetime, *, renewing: bool, ending: bool = False
) -> OperatorSeen:
    """Returns the operator of a session that lasts; with `renewing` it is idle from now on only.

    Raises OperatorSessionEnded. No other transaction deletes the session before this one ends; `ending` says
    that this one does.
    """
    idle = now - timedelta(seconds=IDLE_SECONDS)
    query = _RESUME + (_END if ending else _STAY)
    rows = await run(OperatorSession.raw(query, claims.sid, claims.sub, now, idle))
    if not rows:
        raise OperatorSessionEnded
    row = rows[0]
    if renewing and row["seen_at"] < now - timedelta(seconds=NOTE_SECONDS):
        note = OperatorSession.update({OperatorSession.seen_at: now})
        await run(note.where(OperatorSession.id == claims.sid))
    return OperatorSeen(claims.sub, claims.sid, row["email"], row["has_totp"], row["expires_at"])


async def end(run: Run, session_id: str) -> None:
    """Ends a session: its token is void at once, on every worker."""
    await run(OperatorSession.delete().where(OperatorSession.id == session_id))
