"""Statements that write bars: each function is the work of one transaction on asyncpg's connection."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from quotecast.history.partitions import TABLES, Partition, expired, partition_of
from quotecast.market.own_bars import Closing, LiveInterval

#: Milliseconds that a drop may wait for transactions which use its table: reads queue behind it meanwhile.
DROP_WAIT_MS: Final = 200
#: An arbitrary number, the same in every version: one transaction at a time makes partitions.
_LOCK: Final = 7_120_531_940_552_612
_BAR: Final = ("symbol", "opened", "open", "high", "low", "close", "volume", "updates")
_COLUMNS: Final = ", ".join(_BAR)

#: Reads the time up to which a feed is written, and locks it: writers of a feed take turns.
_TAKE_TURN: Final = (
    "INSERT INTO bars_written AS stored (feed, through) VALUES ($1, to_timestamp(0))"
    " ON CONFLICT (feed) DO UPDATE SET through = stored.through RETURNING through"
)
_PARTITIONS: Final = (
    "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid"
    " WHERE inhparent = ANY($1::text[]::regclass[])"
)
#: An ingest whose clock was wrong, or whose simulation ran fast, must not stop the next one from writing.
_FORGET_FUTURE: Final = (
    "UPDATE bars_written SET through = to_timestamp(0)"
    " WHERE feed = $1 AND through > now() + interval '1 hour'"
)
#: `through` of a closing may lie in the future, the server's clock may not: the earlier of both is the time.
_NOW: Final = "SELECT least(now(), max(through)) FROM bars_written"


async def written_through(connection: Any, series: str) -> int:
    """Returns the Unix time up to which a feed's closings are written; 0 before the first.

    It is 0 too if it lies in the future: then all closings in Redis are written once more.
    """
    await connection.execute(_FORGET_FUTURE, series)
    through = await connection.fetchval("SELECT through FROM bars_written WHERE feed = $1", series)
    return int(through.timestamp()) if through else 0


async def write(
    connection: Any, *, series: str, after: int, closings: Sequence[Closing]
) -> tuple[int, Mapping[LiveInterval, int]]:
    """Writes closings that follow the Unix time `after`, the oldest first.

    Returns the time up to which the feed is written then, and the number of new bars by interval. Writes
    nothing if the feed is written up to another time: another ingest wrote, or a server took over that lacks
    the last transactions.
    """
    stored = int((await connection.fetchval(_TAKE_TURN, series)).timestamp())
    if stored != after:
        return stored, {}
    rows = list(_rows(series, closings))
    intervals = {row[0]: None for row in rows}
    await _make_partitions(connection, {partition_of(row[0], row[3]) for row in rows})
    await connection.execute(
        "CREATE TEMPORARY TABLE bars_arriving (length text, LIKE bars_1m) ON COMMIT DROP"
    )
    await connection.copy_records_to_table(
        "bars_arriving", records=rows, columns=("length", "feed", *_BAR), schema_name="pg_temp"
    )
    written = {interval: await _insert(connection, interval) for interval in intervals}
    through = closings[-1].through
    await connection.execute(
        "UPDATE bars_written SET through = to_timestamp($2) WHERE feed = $1", series, through
    )
    return through, written


async def expired_partitions(connection: Any, days: Mapping[LiveInterval, int]) -> list[str]:
    """Returns the names of the partitions past retention."""
    now = await connection.fetchval(_NOW)
    names = await _partitions(connection)
    return [partition.name for partition in expired(names, days, now)] if now else []


async def drop_partition(connection: Any, name: str) -> None:
    """Drops a partition, or fails soon if a transaction uses the table."""
    await connection.execute(f"SET LOCAL lock_timeout = {DROP_WAIT_MS}")
    await connection.execute(f"DROP TABLE IF EXISTS {name}")


async def _insert(connection: Any, interval: LiveInterval) -> int:
    """Moves the arrived bars of an interval to its table; returns the number of new ones."""
    status: str = await connection.execute(
        f"INSERT INTO {TABLES[interval]} (feed, {_COLUMNS})"  # noqa: S608 - names of ours  # nosec B608
        f" SELECT feed, {_COLUMNS} FROM pg_temp.bars_arriving WHERE length = $1 ON CONFLICT DO NOTHING",
        interval,
    )
    return int(status.rpartition(" ")[2])


async def _make_partitions(connection: Any, wanted: set[Partition]) -> None:
    """Makes the partitions that do not exist.

    ATTACH lets others read and write the table meanwhile; `CREATE TABLE … PARTITION OF` would not.
    """
    existing = await _partitions(connection)
    if all(partition.name in existing for partition in wanted):
        return
    await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
    existing = await _partitions(connection)
    for partition in sorted(wanted):
        if partition.name not in existing:
            table, begin, end = TABLES[partition.interval], partition.begin, partition.end
            await connection.execute(f"CREATE TABLE {partition.name} (LIKE {table} INCLUDING ALL)")
            await connection.execute(
                f"ALTER TABLE {table} ATTACH PARTITION {partition.name}"
                f" FOR VALUES FROM ('{begin.isoformat()}') TO ('{end.isoformat()}')"
            )


async def _partitions(connection: Any) -> set[str]:
    rows = await connection.fetch(_PARTITIONS, list(TABLES.values()))
    return {row[0] for row in rows}


def _rows(series: str, closings: Sequence[Closing]) -> Iterator[tuple[Any, ...]]:
    for closing in closings:
        for interval, bars in closing.bars.items():
            for symbol, bar in bars.items():
                opened = datetime.fromtimestamp(bar.opened, UTC)
                prices = (bar.open, bar.high, bar.low, bar.close)
                yield interval, series, symbol, opened, *prices, bar.volume, bar.updates
