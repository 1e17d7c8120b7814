"""Queries on the usage of API keys: a worker's batches, the rows of a user's keys, and those of all keys."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from msgspec import Struct

from quotecast.access.usage import Taken
from quotecast.database.database import Run, row_as
from quotecast.database.tables import ApiKey
from quotecast.users.account import Account

#: Days for which usage stays.
KEEP_DAYS: Final = 400
#: Rows that one transaction deletes.
PART: Final = 5000
#: Days after which a worker that added nothing is gone, with its number.
_WORKER_DAYS: Final = 30

_ROWS: Final = (
    "SELECT used.*, api_keys.name FROM api_key_usage AS used JOIN api_keys ON api_keys.id = used.key_id"
    " WHERE used.day BETWEEN {}::date AND {}::date AND ({}::text IS NULL OR used.key_id = {})"
)
_OF_USER: Final = " AND api_keys.user_id = {}"
_NEWEST_FIRST: Final = " ORDER BY used.day DESC, used.key_id"


class Used(Struct, frozen=True):
    """The usage of one key on one day, in UTC."""

    key_id: str
    day: date
    counts: Taken


class UsageBatch(Struct, frozen=True):
    """Rows that a worker adds in one transaction; the numbers of a worker's batches rise."""

    worker: str
    number: int
    rows: list[Used]


#: A batch with a number that is not new adds nothing. Workers lock rows in one order, so that none deadlocks.
_ADD: Final = """
WITH fresh AS (
  INSERT INTO api_key_usage_batches AS known (worker, number) VALUES ($1, $2)
  ON CONFLICT (worker) DO UPDATE SET number = EXCLUDED.number, added_at = now()
  WHERE known.number < EXCLUDED.number
  RETURNING number
)
INSERT INTO api_key_usage AS used (key_id, day, requests, refused, socket_ms, quotes, bytes)
SELECT given.* FROM unnest($3::text[], $4::date[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
  $9::bigint[]) AS given (key_id, day, requests, refused, socket_ms, quotes, bytes)
JOIN api_keys ON api_keys.id = given.key_id
WHERE EXISTS (SELECT 1 FROM fresh)
ORDER BY given.key_id, given.day
ON CONFLICT (key_id, day) DO UPDATE SET
  requests = used.requests + EXCLUDED.requests,
  refused = used.refused + EXCLUDED.refused,
  socket_ms = used.socket_ms + EXCLUDED.socket_ms,
  quotes = used.quotes + EXCLUDED.quotes,
  bytes = used.bytes + EXCLUDED.bytes
"""
#: One worker deletes a row; the others skip it.
_DELETE_OLD: Final = """
DELETE FROM api_key_usage WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM api_key_usage WHERE day < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
))
"""
_DELETE_WORKERS: Final = (
    "DELETE FROM api_key_usage_batches WHERE added_at < now() - make_interval(days => $1)"
)


async def add(connection: Any, batch: UsageBatch) -> None:
    """Adds a batch once: a repeated one adds nothing. Rows of keys that were deleted go with them."""
    counts = [row.counts for row in batch.rows]
    await connection.execute(
        _ADD,
        batch.worker,
        batch.number,
        [row.key_id for row in batch.rows],
        [row.day for row in batch.rows],
        [each.requests for each in counts],
        [each.refused for each in counts],
        [each.milliseconds for each in counts],
        [each.quotes for each in counts],
        [each.bytes for each in counts],
    )


async def delete_before(connection: Any, day: date) -> bool:
    """Deletes some rows of days before a day. Returns whether there may be more."""
    status: str = await connection.execute(_DELETE_OLD, day, PART)
    await connection.execute(_DELETE_WORKERS, _WORKER_DAYS)
    return status == f"DELETE {PART}"


def merged(batches: Sequence[Used]) -> list[Used]:
    """Returns one row for each key and day."""
    sums: dict[tuple[str, date], Taken] = {}
    for row in batches:
        counts = row.counts
        if before := sums.get((row.key_id, row.day)):
            counts = Taken(
                *(getattr(before, name) + getattr(counts, name) for name in Taken.__struct_fields__)
            )
        sums[row.key_id, row.day] = counts
    return [Used(key_id, day, counts) for (key_id, day), counts in sums.items()]


class UsageRow(Struct, frozen=True, kw_only=True):
    """The usage of one key on one day, in UTC."""

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
