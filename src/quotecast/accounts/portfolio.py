"""Holdings, and the idempotency keys of the requests that added them."""

import hashlib
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import Struct

from quotecast.accounts.account import Account
from quotecast.accounts.tables import Holding as Table
from quotecast.accounts.tables import IdempotencyKey
from quotecast.errors import Full, KeyReused, NotFound

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
    return [_to_holding(row) for row in rows]


async def add(account: Account, holding: Holding) -> None:
    """Adds a holding. Raises Full at the maximum.

    The account must be opened with `writing`, or two requests could both add the last one.
    """
    if await account.count(Table) >= MAX_HOLDINGS:
        raise Full(MAX_HOLDINGS, "holdings")
    await account.insert(Table, **msgspec.structs.asdict(holding))


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


def _to_holding(row: Any) -> Holding:
    return Holding(**{name: row[name] for name in Holding.__struct_fields__})
