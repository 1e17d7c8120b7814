"""Pages of users and keys for operators, and what keys used; each is one bounded query."""

from collections.abc import Collection
from datetime import date, datetime, timedelta
from typing import Final

from msgspec import Struct

from quotecast.database.database import Run
from quotecast.database.ids import ID_PATTERN
from quotecast.database.tables import Operator
from quotecast.operators.tokens import IDLE_SECONDS

#: Rows of a page.
PAGE: Final = 50

_USERS: Final = (
    "SELECT users.id, users.name, users.email, users.disabled, users.created_at,"
    " EXISTS (SELECT FROM operators WHERE user_id = users.id) AS operator,"
    " (SELECT count(*) FROM sessions WHERE user_id = users.id AND expires_at > {}::timestamptz)"
    " + (SELECT count(*) FROM operator_sessions AS theirs WHERE theirs.user_id = users.id"
    " AND theirs.token_version = users.token_version"
    " AND theirs.expires_at > {}::timestamptz AND theirs.seen_at > {}::timestamptz) AS sessions,"
    " (SELECT count(*) FROM api_keys WHERE user_id = users.id AND revoked_at IS NULL"
    " AND (expires_at IS NULL OR expires_at > {}::timestamptz)) AS keys FROM users"
    " WHERE (users.id = {} OR users.email ILIKE {} OR users.name ILIKE {})"
    " AND ({}::text = '' OR users.id < {}::text) ORDER BY users.id DESC LIMIT {}::int"
)
_KEYS: Final = (
    "SELECT api_keys.id, api_keys.name, api_keys.plan, api_keys.user_id, coalesce(users.email, '') AS email,"
    " api_keys.created_at, api_keys.expires_at, api_keys.revoked_at,"
    " coalesce(users.disabled, false) AS user_disabled"
    " FROM api_keys LEFT JOIN users ON users.id = api_keys.user_id"
    " WHERE (api_keys.id = {} OR api_keys.name ILIKE {} OR users.email ILIKE {} OR api_keys.plan = {})"
    " AND ({}::text = '' OR api_keys.id < {}::text) ORDER BY api_keys.id DESC LIMIT {}::int"
)
_USAGE: Final = (
    "SELECT used.key_id, api_keys.name, coalesce(users.email, '') AS email,"
    " sum(used.requests)::bigint AS requests, sum(used.refused)::bigint AS refused,"
    " round(sum(used.socket_ms) / 60000.0, 1)::float8 AS socket_minutes,"
    " sum(used.quotes)::bigint AS quotes, sum(used.bytes)::bigint AS bytes"
    " FROM api_key_usage AS used JOIN api_keys ON api_keys.id = used.key_id"
    " LEFT JOIN users ON users.id = api_keys.user_id WHERE used.day >= {}::date"
    " GROUP BY used.key_id, api_keys.name, users.email"
    " ORDER BY sum(used.bytes) DESC, used.key_id LIMIT {}::int"
)
_NAMES: Final = "SELECT id, name FROM api_keys WHERE id = ANY({}::text[])"


class UserListed(Struct, frozen=True, kw_only=True):
    """A user; `sessions` and `keys` count those that last, an operator's sessions on the page too."""

    id: str
    name: str
    email: str
    disabled: bool
    created_at: datetime
    operator: bool
    sessions: int
    keys: int


class KeyListed(Struct, frozen=True, kw_only=True):
    """A key; an empty `plan` is that of users, and `user_id` is None for a key of the operator."""

    id: str
    name: str
    plan: str
    user_id: str | None
    email: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    user_disabled: bool


class KeyUsage(Struct, frozen=True, kw_only=True):
    """The usage of a key on some days."""

    key_id: str
    name: str
    email: str
    requests: int
    refused: int
    socket_minutes: float
    quotes: int
    bytes: int


async def users(run: Run, find: str, before: str, now: datetime) -> list[UserListed]:
    """Returns a page of users before an id, the newest first; `find` is an id, or a part of name or email."""
    like = _like(find)
    idle = now - timedelta(seconds=IDLE_SECONDS)
    rows = await run(Operator.raw(_USERS, now, now, idle, now, find, like, like, before, before, PAGE))
    return [UserListed(**row) for row in rows]


async def keys(run: Run, find: str, before: str) -> list[KeyListed]:
    """Returns a page of keys before an id, the newest first.

    `find` is an id, a plan, or a part of the key's name or the user's email.
    """
    like = _like(find)
    rows = await run(Operator.raw(_KEYS, find, like, like, find, before, before, PAGE))
    return [KeyListed(**row) for row in rows]


async def usage(run: Run, first: date) -> list[KeyUsage]:
    """Returns what the keys with the most bytes used since a day, in UTC."""
    return [KeyUsage(**row) for row in await run(Operator.raw(_USAGE, first, PAGE))]


async def names_of_keys(run: Run, ids: Collection[str]) -> dict[str, str]:
    """Returns the names of keys by id; unknown ones are missing, and texts that are not ids."""
    given = [each for each in ids if ID_PATTERN.fullmatch(each)]
    rows = await run(Operator.raw(_NAMES, given)) if given else []
    return {row["id"]: row["name"] for row in rows}


def _like(text: str) -> str:
    """Returns the pattern of texts that contain this one."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
