"""Holdings, and the idempotency keys of the requests that added them."""

import hashlib
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import Struct

from quotecast.database.database import row_as
from quotecast.database.tables import Holding as Table
from quotecast.database.tables import IdempotencyKey
from quotecast.errors import Full, KeyReused, NotFound
from quotecast.users.account import Account

MAX_HOLDINGS: Final = 1000
#: How long an idempotency key stays valid.
REPEAT_PERIOD: Final = timedelta(hours=24)


class Holding(Struct, frozen=True):
    """A number of shares bought at an average cost per share, in `currency`."""

    id: str
    ticker: str
    shares: Decimal
    avg_cost: Decimal
    bought_at: date
    currency: str
    created_at: datetime


async def holdings(account: Account) -> list[Holding]:
    """Returns the user's holdings, newest first."""
    rows = await account.select(Table, order_by=Table.id, ascending=False)
    return [row_as(Holding, row) for row in rows]


async def add(account: Account, *holdings: Holding) -> None:
    """Adds holdings. Raises Full for more than the maximum, and then adds none.

    The account must be opened with `writing`, or two requests could both add the last one.
    """
    await check_room(account, len(holdings))
    await account.insert_many(Table, [msgspec.structs.asdict(each) for each in holdings])


async def check_room(account: Account, count: int) -> None:
    """Raises Full if the user cannot have so many more holdings."""
    if await account.count(Table) + count > MAX_HOLDINGS:
        raise Full(MAX_HOLDINGS, "holdings")


async def change(account: Account, holding_id: str, values: Mapping[str, Any]) -> Holding:
    """Changes a holding's columns, and returns the holding. Raises NotFound."""
    rows = await account.update(Table, values, Table.id == holding_id)
    if not rows:
        raise NotFound("Holding")
    return row_as(Holding, rows[0])


async def remove(account: Account, holding_id: str) -> None:
    """Deletes a holding. Raises NotFound."""
    if not await account.delete(Table, Table.id == holding_id):
        raise NotFound("Holding")


async def earlier_answer(account: Account, key: str, request: bytes, now: datetime) -> bytes | None:
    """Returns the answer to an earlier request with the key; None without one in the past 24 hours.

    Raises KeyReused if the earlier request had other content.
    """
    await account.delete(IdempotencyKey, IdempotencyKey.created_at <= now - REPEAT_PERIOD)
    rows = await account.select(IdempotencyKey, IdempotencyKey.key == key)
    if not rows:
        return None
    if rows[0]["fingerprint"] != _fingerprint(request):
        raise KeyReused
    return str(rows[0]["answer"]).encode()


async def remember_answer(account: Account, key: str, request: bytes, answer: bytes, now: datetime) -> None:
    """Stores the answer to a request, for its repetitions."""
    await account.insert(
        IdempotencyKey, key=key, fingerprint=_fingerprint(request), answer=answer.decode(), created_at=now
    )


def _fingerprint(request: bytes) -> str:
    return hashlib.blake2b(request, digest_size=32).hexdigest()
