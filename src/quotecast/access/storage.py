"""Queries on API keys and plans: of a user's account, of the operator, and of a worker."""

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
from piccolo.columns.combination import WhereRaw

from quotecast.access import key_text
from quotecast.access.keys import Key, Scope, key_of_session, networks, sessions_among
from quotecast.access.plans import RESERVED, Plan
from quotecast.access.usage_storage import KEEP_DAYS
from quotecast.database.database import Run, row_as
from quotecast.database.tables import ApiKey, StoredPlan
from quotecast.errors import Full, InvalidValue, NotFound
from quotecast.users import users
from quotecast.users.account import Account

T = TypeVar("T")

#: Keys of one user that are neither revoked nor expired, and all that a list shows.
MAX_KEYS: Final = 20
MAX_SHOWN: Final = 200
#: Keys of one user with those that have ended: a key that was used stays as long as its usage.
MAX_STORED: Final = 1000
KEY: Final = "API key"
PLAN: Final = "Plan"

_KEYS: Final = (
    "SELECT api_keys.* FROM api_keys LEFT JOIN users ON users.id = api_keys.user_id"
    " WHERE api_keys.id = ANY($1) AND users.disabled IS NOT TRUE"
)
_UNUSED: Final = WhereRaw("NOT EXISTS (SELECT 1 FROM api_key_usage WHERE key_id = api_keys.id)")
_SESSIONS: Final = (
    "SELECT sessions.id, user_id, sessions.created_at, expires_at"
    " FROM sessions JOIN users ON users.id = user_id WHERE sessions.id = ANY($1) AND NOT users.disabled"
)


async def keys_of(account: Account) -> list[Key]:
    """Returns the user's newest keys, at most MAX_SHOWN, the newest first; revoked ones too."""
    return [
        _key(row)
        for row in await account.select(ApiKey, order_by=ApiKey.id, ascending=False, limit=MAX_SHOWN)
    ]


async def add(
    account: Account,
    key_id: str,
    secret: str,
    *,
    name: str,
    scope: Scope,
    now: datetime,
    until: datetime | None,
) -> Key:
    """Adds a key of the user. Raises Full or InvalidValue.

    Removes the oldest keys beyond MAX_SHOWN that have ended and have no usage. The account must be opened
    with `writing`.
    """
    networks(scope.addresses)
    has_ended = ApiKey.revoked_at.is_not_null() | (ApiKey.expires_at <= now)
    stored, ended = await account.count(ApiKey), await account.count(ApiKey, has_ended)
    if stored - ended >= MAX_KEYS:
        raise Full(MAX_KEYS, "API keys")
    rows = await account.select(ApiKey, has_ended, _UNUSED, order_by=ApiKey.id, ascending=False)
    unused = [row["id"] for row in rows[MAX_SHOWN - MAX_KEYS :]]
    if stored - len(unused) >= MAX_STORED:
        advice = f"one goes {KEEP_DAYS} days after its last use"
        raise Full(MAX_STORED, "API keys, ended ones included", advice)
    if unused:
        await account.delete(ApiKey, ApiKey.id.is_in(unused))
    values = _values(key_id, secret, name=name, plan="", scope=scope, now=now, until=until)
    return _key(await account.insert(ApiKey, **values))


async def change(
    account: Account, key_id: str, *, name: str | None, scope: Scope | None, now: datetime
) -> Key:
    """Renames a key or changes its scope. Raises NotFound, also for a revoked key, or InvalidValue."""
    await _good(account, key_id, now)
    values: dict[str, Any] = {}
    if name is not None:
        values["name"] = name
    if scope is not None:
        networks(scope.addresses)
        values["scope"] = _text(scope)
    if values:
        await account.update(ApiKey, values, ApiKey.id == key_id)
    return await _good(account, key_id, now)


async def rotate(account: Account, key_id: str, secret: str, *, now: datetime, until: datetime) -> Key:
    """Gives a key a new secret; the old one is good until a time. Raises NotFound."""
    key = await _good(account, key_id, now)
    values = {
        "secret_hash": key_text.digest(secret),
        "previous_hash": key.secret_hash,
        "previous_until": until,
    }
    await account.update(ApiKey, values, ApiKey.id == key_id)
    return await _good(account, key_id, now)


async def revoke(account: Account, key_id: str, now: datetime) -> None:
    """Revokes a key of the user; a second time changes nothing. Raises NotFound."""
    if not await account.select(ApiKey, ApiKey.id == key_id):
        raise NotFound(KEY)
    await account.update(ApiKey, {"revoked_at": now}, ApiKey.id == key_id, ApiKey.revoked_at.is_null())


async def _good(account: Account, key_id: str, now: datetime) -> Key:
    rows = await account.select(ApiKey, ApiKey.id == key_id)
    if not rows or not (key := _key(rows[0])).is_good(now):
        raise NotFound(KEY)
    return key


async def add_for_operator(
    run: Run,
    key_id: str,
    secret: str,
    *,
    name: str,
    plan: str,
    scope: Scope,
    now: datetime,
    until: datetime | None,
    email: str | None = None,
) -> Key:
    """Adds a key with a plan, for a user or for nobody. Raises NotFound for an unknown user."""
    networks(scope.addresses)
    user_id = None if email is None else await users.id_of(run, email)
    values = _values(key_id, secret, name=name, plan=plan, scope=scope, now=now, until=until)
    insert: Any = ApiKey.insert
    (row,) = await run(insert(ApiKey(user_id=user_id, **values)).returning(*ApiKey.all_columns()))
    return _key(row)


async def page(run: Run, *, after: str, limit: int) -> list[Key]:
    """Returns up to `limit` keys after an id, in the order in which they were made."""
    query = ApiKey.select().where(ApiKey.id > after).order_by(ApiKey.id).limit(limit)
    return [_key(row) for row in await run(query)]


async def set_plan(run: Run, key_id: str, plan: str) -> None:
    """Gives a key another plan. Raises NotFound."""
    if not await run(ApiKey.update({ApiKey.plan: plan}).where(ApiKey.id == key_id).returning(ApiKey.id)):
        raise NotFound(KEY)


async def revoke_any(run: Run, key_id: str, now: datetime) -> None:
    """Revokes a key of anybody; a second time changes nothing. Raises NotFound."""
    if not await run(ApiKey.select(ApiKey.id).where(ApiKey.id == key_id)):
        raise NotFound(KEY)
    query = ApiKey.update({ApiKey.revoked_at: now})
    await run(query.where(ApiKey.id == key_id, ApiKey.revoked_at.is_null()))


async def store_plan(run: Run, name: str, plan: Plan, now: datetime) -> None:
    """Stores a plan in place of one of that name. Raises InvalidValue for a reserved name."""
    if name in RESERVED:
        raise InvalidValue(
            "plan", f"{name} belongs in the file of plans: workers need it before PostgreSQL answers"
        )
    definition = msgspec.json.encode(plan).decode()
    insert: Any = StoredPlan.insert
    row = StoredPlan(name=name, definition=definition, updated_at=now)
    await run(
        insert(row).on_conflict(
            target=StoredPlan.name, action="DO UPDATE", values=[StoredPlan.definition, StoredPlan.updated_at]
        )
    )


async def delete_plan(run: Run, name: str) -> None:
    """Deletes a plan; keys of it then get nothing. Raises NotFound."""
    if not await run(StoredPlan.delete().where(StoredPlan.name == name).returning(StoredPlan.name)):
        raise NotFound(PLAN)


async def stored_plans(run: Run) -> dict[str, Plan]:
    """Returns the stored plans by name."""
    rows = await run(StoredPlan.select().order_by(StoredPlan.name))
    return {row["name"]: _plan(row["definition"]) for row in rows}


async def names_of_plans(run: Run) -> list[str]:
    """Returns the names of the stored plans, those too that only a newer version can read."""
    return [row["name"] for row in await run(StoredPlan.select(StoredPlan.name))]


async def number_of_changes(connection: Any) -> int:
    """Returns the number of changes to keys, plans and users' states, and of ends of sessions."""
    return int(await connection.fetchval("SELECT number FROM key_changes"))


async def known_keys(connection: Any, ids: Collection[str]) -> dict[str, Key]:
    """Returns the keys and sessions with these ids; those of disabled users are missing.

    A key whose scope only a newer version can read is missing too: without its bounds it would be wider.
    """
    rows: Sequence[Mapping[str, Any]] = await connection.fetch(_KEYS, [*ids])
    keys = dict(_readable((row["id"], partial(_key, row)) for row in rows))
    if sessions := sessions_among(ids):
        found = (key_of_session(*row) for row in await connection.fetch(_SESSIONS, sessions))
        keys |= {key.id: key for key in found}
    return keys


async def known_plans(connection: Any) -> dict[str, Plan]:
    """Returns the stored plans by name, without those that only a newer version can read."""
    rows = await connection.fetch("SELECT name, definition FROM plans")
    return dict(_readable((row["name"], partial(_plan, row["definition"])) for row in rows))


def _readable(reads: Iterable[tuple[str, Callable[[], T]]]) -> Iterator[tuple[str, T]]:
    """Yields the values that can be read: one bad row must not hide the changes of all others."""
    for name, read in reads:
        with contextlib.suppress(msgspec.DecodeError):
            yield name, read()


def _values(
    key_id: str, secret: str, *, name: str, plan: str, scope: Scope, now: datetime, until: datetime | None
) -> dict[str, Any]:
    return {
        "id": key_id,
        "name": name,
        "plan": plan,
        "secret_hash": key_text.digest(secret),
        "scope": _text(scope),
        "created_at": now,
        "expires_at": until,
    }


def _key(row: Mapping[str, Any]) -> Key:
    return row_as(Key, row, scope=msgspec.json.decode(row["scope"], type=Scope))


def _plan(definition: str) -> Plan:
    return msgspec.json.decode(definition, type=Plan)


def _text(scope: Scope) -> str:
    return msgspec.json.encode(scope).decode()
