"""A user's API keys: make, list, change, rotate and revoke them, and see what they used.

The limit is that of the group `terminal`: 60 requests a minute let a program rotate all 20 keys at once.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Final

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, QueryParameter
from msgspec import Meta, Struct
from msgspec.structs import asdict

from quotecast.access import key_text, storage
from quotecast.access.keys import MAX_NAME, Key, Scope, normalise, shown_text
from quotecast.access.plans import USER
from quotecast.access.storage import KEY
from quotecast.access.usage_storage import UsageRow, usage_of_account
from quotecast.api.answers.answers import Answer
from quotecast.api.answers.csv import CsvTable, Format, formatted_apart
from quotecast.api.answers.tables import columns
from quotecast.api.gate.identity import require_token, with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import (
    SECURED,
    AccountOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    secret_answer,
    taking,
)
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.bodies import body_of
from quotecast.database.ids import new_id, require_id
from quotecast.database.tables import ApiKey
from quotecast.errors import InvalidValue, NotFound, Problem
from quotecast.market import codec
from quotecast.users import rules
from quotecast.users.account import Account

MAX_OVERLAP_SECONDS: Final = 7 * 86_400
#: Ten years, with their leap days.
MAX_DAYS: Final = 3653

Name = Annotated[str, Meta(description=f"1 to {MAX_NAME} characters, by which you recognise the key")]


class NewKey(Struct, frozen=True):
    """The body of a request that makes a key."""

    name: Name
    scope: Scope = Scope()
    expires_at: (
        Annotated[datetime, Meta(tz=True, description="Time at which the key ends, within 10 years")] | None
    ) = None


class KeyChange(Struct, frozen=True):
    """The body of a request that changes a key; a missing field changes nothing."""

    name: Name | None = None
    scope: Scope | None = None


class KeyRotation(Struct, frozen=True):
    """The body of a request that rotates a key."""

    overlap_seconds: Annotated[
        int, Meta(ge=0, le=MAX_OVERLAP_SECONDS, description="Seconds for which the old secret works too")
    ] = 86_400


class KeyShown(Struct, frozen=True, kw_only=True):
    """A key without its secret."""

    id: str
    name: str
    key: str
    plan: str
    scope: Scope
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    previous_until: str | None


class KeySecret(KeyShown, frozen=True, kw_only=True):
    """A key with its secret, which no later answer shows."""

    secret_key: str

    def __repr__(self) -> str:
        """Omits the secret, so that no log contains it."""
        return f"KeySecret(id={self.id!r})"


_SCOPE: Final = Scope(feeds=("market",), symbols=("AAPL", "sector:Energy"), origins=("https://example.com",))
_SHOWN: Final = KeyShown(
    id="01a1fc87e0c47a905dd5d088",
    name="Price ticker",
    key="qc_live_01a1fc87e0c47a905dd5d088",
    plan=USER,
    scope=_SCOPE,
    created_at="2026-11-20T15:30:00.000Z",
    expires_at="2027-11-20T15:30:00.000Z",
    revoked_at=None,
    previous_until=None,
)
#: No valid key: a scanner for secrets must not take the document for a leak.
_SECRET: Final = KeySecret(secret_key=f"{_SHOWN.key}_...", **asdict(_SHOWN))
_FULL: Final = refused(
    "There are too many keys", Problem("You have the maximum of 20 API keys; delete one first", "full", ID)
)
DEFAULT_DAYS: Final = 30
MAX_USAGE_DAYS: Final = 400
FIRST_YEAR: Final = 2000

KeyId = Annotated[str, QueryParameter(description="Id of one of your API keys; all keys without it")]
First = Annotated[
    date | None,
    QueryParameter(name="from", description="First day in UTC; by default 29 days before the last one"),
]
Last = Annotated[date | None, QueryParameter(name="to", description="Last day in UTC; today by default")]

_USED: Final = UsageRow(
    key_id="01a1fc87e0c47a905dd5d088",
    name="Price ticker",
    day=date(2026, 11, 20),
    requests=1843,
    refused=12,
    socket_minutes=1439.9,
    quotes=981_204,
    bytes=143_002_551,
)
_TABLE: Final = CsvTable(columns(UsageRow))


@get(
    "/usage",
    operation_id="listApiKeyUsage",
    summary="What your API keys used",
    operation_class=AccountOperation,
    responses=outcomes(
        200,
        list[UsageRow],
        [_USED],
        "A row for each key and day with any use, the newest day first",
        422,
        others={404: not_found(KEY)},
    ),
)
async def usage(
    request: HttpRequest,
    key_id: KeyId = "",
    first: First = None,
    last: Last = None,
    form: Format = "json",
) -> Answer:
    """At most 400 days. Counts appear within 15 seconds of their use.

    A request counts when its answer starts; the handshake of a socket is one request. Answers of 401, 403 and
    429 count as refused too. Bytes are those of HTTP bodies as sent, and of messages on feeds before
    permessage-deflate or gzip.
    """
    if key_id:
        require_id(KEY, key_id)
    days = _days(first, last, services_of(request).wall_time().date())

    async def read(account: Account) -> list[UsageRow]:
        if key_id and not await account.select(ApiKey, ApiKey.id == key_id):
            raise NotFound(KEY)
        return await usage_of_account(account, *days, key_id or None)

    return await formatted_apart(answer(await with_account(request, read)), form, _TABLE)


def _days(first: date | None, last: date | None, today: date) -> tuple[date, date]:
    """Returns the first and the last day. Raises InvalidValue."""
    end = last or today
    if end.year < FIRST_YEAR:
        raise InvalidValue("to", f"Must be a day since {FIRST_YEAR}")
    begin = first or end - timedelta(days=DEFAULT_DAYS - 1)
    if not 0 <= (end - begin).days < MAX_USAGE_DAYS:
        raise InvalidValue("from", f"Must be at most {MAX_USAGE_DAYS - 1} days before `to`, and not after it")
    return begin, end


@get(
    "/",
    operation_id="listApiKeys",
    summary="Your API keys",
    operation_class=AccountOperation,
    responses=outcomes(200, list[KeyShown], [_SHOWN], "The newest first, at most 200"),
)
async def list_keys(request: HttpRequest) -> Answer:
    """Revoked and expired keys stay in the list until you have many newer ones; their usage stays."""

    async def read(account: Account) -> list[KeyShown]:
        return [KeyShown(**_fields(key)) for key in await storage.keys_of(account)]

    return answer(await with_account(request, read))


@post(
    "/",
    operation_id="createApiKey",
    summary="Make an API key",
    operation_class=taking(
        NewKey,
        {
            "name": "Price ticker",
            "scope": {
                "feeds": ["market"],
                "symbols": ["AAPL", "sector:Energy"],
                "origins": ["https://example.com"],
            },
            "expires_at": "2027-11-20T15:30:00Z",
        },
    ),
    responses=outcomes(
        201, KeySecret, _SECRET, "The key; this answer alone shows its secret", body=True, others={409: _FULL}
    ),
)
async def add(request: HttpRequest) -> Answer:
    """At most 20 keys that are neither revoked nor expired, and 1000 with ended ones used within 400 days.

    Store the secret: the service has a digest only.

    An unknown field of `scope` is an error, since a misspelt bound would leave that side open.
    """
    given = await body_of(request, NewKey)
    services = services_of(request)
    now = services.wall_time()
    name, scope = rules.name(given.name, MAX_NAME), normalise(given.scope)
    until = given.expires_at
    if until is not None and not now < until <= now + timedelta(days=MAX_DAYS):
        raise InvalidValue("expires_at", "Must be in the future, within 10 years")
    key_id, secret = new_id(services.clock), key_text.new_secret()

    async def write(account: Account) -> Key:
        ends = None if until is None else until.astimezone(UTC)
        return await storage.add(account, key_id, secret, name=name, scope=scope, now=now, until=ends)

    return _with_secret(await with_account(request, write, writing=True), secret, 201)


@patch(
    "/{key_id:str}",
    operation_id="updateApiKey",
    summary="Rename an API key, or change its scope",
    operation_class=taking(KeyChange, {"name": "Ticker of the lobby", "scope": {"feeds": ["market"]}}),
    responses=outcomes(200, KeyShown, _SHOWN, "The changed key", body=True, others={404: not_found(KEY)}),
)
async def change(request: HttpRequest, key_id: FromPath[str]) -> Answer:
    """The scope is replaced as a whole. A new scope closes the key's feeds: their clients connect again."""
    given = await body_of(request, KeyChange)
    name = None if given.name is None else rules.name(given.name, MAX_NAME)
    scope = None if given.scope is None else normalise(given.scope)
    require_id(KEY, key_id)
    now = services_of(request).wall_time()
    changed = await with_account(
        request,
        lambda account: storage.change(account, key_id, name=name, scope=scope, now=now),
        writing=True,
    )
    return answer(KeyShown(**_fields(changed)))


@post(
    "/{key_id:str}/rotate",
    status_code=200,
    operation_id="rotateApiKey",
    summary="Give an API key a new secret",
    operation_class=taking(KeyRotation, {"overlap_seconds": 3600}),
    responses=outcomes(
        200,
        KeySecret,
        _SECRET,
        "The key; this answer alone shows its new secret",
        body=True,
        others={404: not_found(KEY)},
    ),
)
async def rotate(request: HttpRequest, key_id: FromPath[str]) -> Answer:
    """The old secret works for `overlap_seconds` more; one of an earlier rotation ends at once."""
    given = await body_of(request, KeyRotation)
    require_id(KEY, key_id)
    now, secret = services_of(request).wall_time(), key_text.new_secret()
    until = now + timedelta(seconds=given.overlap_seconds)
    rotated = await with_account(
        request, lambda account: storage.rotate(account, key_id, secret, now=now, until=until), writing=True
    )
    return _with_secret(rotated, secret)


@delete(
    "/{key_id:str}",
    operation_id="deleteApiKey",
    summary="Revoke an API key",
    operation_class=AccountOperation,
    responses=none_left("Revoked", others={404: not_found(KEY)}),
)
async def revoke(request: HttpRequest, key_id: FromPath[str]) -> None:
    """The key ends within a second, with its open feeds, and stays in the list."""
    require_id(KEY, key_id)
    now = services_of(request).wall_time()
    await with_account(request, lambda account: storage.revoke(account, key_id, now), writing=True)


def _with_secret(key: Key, secret: str, status: int = 200) -> Answer:
    return secret_answer(KeySecret(secret_key=key_text.key_text(key.id, secret), **_fields(key)), status)


def _fields(key: Key) -> dict[str, Any]:
    """Returns the fields of a key that its user may see."""
    return {
        "id": key.id,
        "name": key.name,
        "key": shown_text(key),
        "plan": key.plan or USER,
        "scope": key.scope,
        "created_at": time_text(key.created_at),
        "expires_at": time_text(key.expires_at),
        "revoked_at": time_text(key.revoked_at),
        "previous_until": time_text(key.previous_until),
    }


def time_text(moment: datetime | None) -> str | None:
    """Returns a time as answers have it; None without one."""
    return None if moment is None else codec.iso_utc(moment.timestamp())


BODIES: Final[tuple[type[Struct], ...]] = (NewKey, KeyChange, KeyRotation)

ROUTER: Final = Router(
    "/api/keys",
    route_handlers=[usage, list_keys, add, change, rotate, revoke],
    guards=[require_token],
    security=SECURED,
    tags=["API keys"],
    opt={"tag": "Keys for programs and pages that read the market.", "feed": None, "limit": "terminal"},
)
