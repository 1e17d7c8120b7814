"""Reads the usage of API keys: of one user's keys, or of all."""

from datetime import date
from typing import Any, Final

from msgspec import Struct

from quotecast.database.database import Run, row_as
from quotecast.database.tables import ApiKey
from quotecast.users.account import Account

_ROWS: Final = (
    "SELECT used.*, api_keys.name FROM api_key_usage AS used JOIN api_keys ON api_keys.id = used.key_id"
    " WHERE used.day BETWEEN {}::date AND {}::date AND ({}::text IS NULL OR used.key_id = {})"
)
_OF_USER: Final = " AND api_keys.user_id = {}"
_NEWEST_FIRST: Final = " ORDER BY used.day DESC, used.key_id"


class UsageRow(Struct, frozen=True, kw_only=True):
    """What one key used on one day, in UTC."""

    key_id: str
    name: str
    day: date
    requests: int
    refused: int
    socket_minutes: float
    quotes: int
    bytes: int


async def usage_rows(run: Run, first: date, last: date, key_id: str | None = None) -> list[UsageRow]:
    """Returns the rows of some days, the newest day first: of one key or of all."""
    return _usage_of(await run(ApiKey.raw(_ROWS + _NEWEST_FIRST, first, last, key_id, key_id)))


async def usage_of_account(account: Account, first: date, last: date, key_id: str | None) -> list[UsageRow]:
    """Returns what a user's keys, or one of them, used on some days; the newest day first."""
    return _usage_of(await account.query(_ROWS + _OF_USER + _NEWEST_FIRST, first, last, key_id, key_id))


def _usage_of(rows: list[Any]) -> list[UsageRow]:
    return [row_as(UsageRow, row, socket_minutes=round(row["socket_ms"] / 60_000, 1)) for row in rows]
