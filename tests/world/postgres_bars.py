"""The statements on stored bars of a simulated PostgreSQL."""

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from quotecast.history import feed_days, reader, recall, storage
from quotecast.history.partitions import TABLES
from quotecast.market.own_bars import LIVE_INTERVALS
from world.postgres_data import SHAPES, STATEMENTS, PostgresError, Statement, Tables, reads, writes
from world.postgres_types import DATE, FLOAT8, INT4, INT8, TEXT, TEXTS, TIME

_BEGINNING: Final = datetime.fromtimestamp(0, UTC)
_COLUMNS: Final = {
    "length": TEXT, "feed": TEXT, "symbol": TEXT, "opened": TIME,
    "open": FLOAT8, "high": FLOAT8, "low": FLOAT8, "close": FLOAT8, "volume": FLOAT8, "updates": INT4,
}  # fmt: skip
_QUOTED: Final = ", ".join(f'"{name}"' for name in _COLUMNS)
_LOCKED: Final[dict[str, Any]] = {"through": TIME}


@writes(storage._TAKE_TURN, TEXT, **_LOCKED)
def _take_turn(tables: Tables, feed: str) -> list[Any]:
    return [(tables.bars_written.setdefault(feed, _BEGINNING),)]


@writes(storage._FORGET_FUTURE, TEXT, tag="UPDATE ")
def _forget_future(tables: Tables, feed: str) -> list[Any]:
    if tables.bars_written.get(feed, _BEGINNING) <= tables.now + timedelta(hours=1):
        return []
    tables.bars_written[feed] = _BEGINNING
    return [feed]


@reads("SELECT through FROM bars_written WHERE feed = $1", TEXT, through=TIME)
def _through(tables: Tables, feed: str) -> list[Any]:
    return [(tables.bars_written[feed],)] if feed in tables.bars_written else []


@writes("UPDATE bars_written SET through = to_timestamp($2) WHERE feed = $1", TEXT, FLOAT8, tag="UPDATE ")
def _set_through(tables: Tables, feed: str, through: float) -> list[Any]:
    tables.bars_written[feed] = datetime.fromtimestamp(through, UTC)
    return [feed]


@reads(storage._NOW, least=TIME)
def _now(tables: Tables) -> list[Any]:
    return [(min([tables.now, *([max(tables.bars_written.values())] if tables.bars_written else [])]),)]


@reads(storage._PARTITIONS, TEXTS, relname=TEXT)
def _partitions(tables: Tables, _: list[str]) -> list[Any]:
    return [(name,) for name, table in tables.partitions.items() if table]


@writes("CREATE TEMPORARY TABLE bars_arriving (length text, LIKE bars_1m) ON COMMIT DROP", tag="CREATE TABLE")
def _make_temporary(_: Tables) -> list[Any]:
    return []


@writes(f'COPY "pg_temp"."bars_arriving"({_QUOTED}) FROM STDIN (FORMAT binary)', *_COLUMNS.values())
def _copy_bars(tables: Tables, rows: list[tuple[Any, ...]]) -> list[Any]:
    tables.arriving |= dict(enumerate(rows, len(tables.arriving)))
    return rows


@writes(feed_days._WRITE, TEXT, DATE, TEXT, TEXT)
def _write_day(tables: Tables, feed: str, day: Any, process: str, figures: str) -> list[Any]:
    tables.feed_days[feed, day, process] = figures
    return [feed]


@writes(feed_days._DELETE, INT4, tag="DELETE ")
def _delete_days(tables: Tables, days: int) -> list[Any]:
    today = tables.now.date()
    first, last = today - timedelta(days=days + 1), today + timedelta(days=1)
    return [tables.feed_days.pop(key) for key in [*tables.feed_days] if not first <= key[1] <= last]


@reads(recall._SYMBOLS, TEXT, TIME, TIME, symbol=TEXT)
def _symbols(tables: Tables, feed: str, first: datetime, last: datetime) -> list[Any]:
    found = {
        (symbol,)
        for interval, series, symbol, opened in tables.bars
        if (interval, series) == ("1m", feed) and first <= opened < last
    }
    return sorted(found)


def _create(name: str, _: str) -> Statement:
    def run(tables: Tables) -> list[Any]:
        if name in tables.partitions:
            raise PostgresError("42P07", f"relation {name} already exists")
        tables.partitions[name] = ""
        return []

    return Statement(run, tag="CREATE TABLE", writes=True)


def _attach(table: str, name: str, *_: str) -> Statement:
    def run(tables: Tables) -> list[Any]:
        tables.partitions[name] = table
        return []

    return Statement(run, tag="ALTER TABLE", writes=True)


def _insert(interval: str, tables: Tables, _: str) -> list[Any]:
    added = []
    for length, feed, symbol, opened, *values in tables.arriving.values():
        key = length, feed, symbol, opened
        if length == interval and key not in tables.bars:
            tables.bars[key] = tuple(values)
            added.append(key)
    return added


def _read(interval: str, tables: Tables, feed: str, symbols: list[str], *span: datetime) -> list[Any]:
    first, last = span
    return [
        (symbol, int(opened.timestamp()), *values)
        for (length, series, symbol, opened), values in sorted(tables.bars.items())
        if (length, series) == (interval, feed) and symbol in symbols and first <= opened < last
    ]


_READ_COLUMNS: Final = {
    "symbol": TEXT, "extract": INT8,
    "open": FLOAT8, "high": FLOAT8, "low": FLOAT8, "close": FLOAT8, "volume": FLOAT8, "updates": INT4,
}  # fmt: skip
for _interval in LIVE_INTERVALS:
    STATEMENTS[
        f"INSERT INTO {TABLES[_interval]} (feed, {storage._COLUMNS})"  # noqa: S608 - names of ours
        f" SELECT feed, {storage._COLUMNS} FROM pg_temp.bars_arriving"
        " WHERE length = $1 ON CONFLICT DO NOTHING"
    ] = Statement(partial(_insert, _interval), (TEXT,), tag="INSERT 0 ", writes=True)
    STATEMENTS[reader._query(_interval)] = Statement(
        partial(_read, _interval), (TEXT, TEXTS, TIME, TIME), _READ_COLUMNS
    )
STATEMENTS[f'SELECT {_QUOTED} FROM "pg_temp"."bars_arriving" LIMIT 1'] = Statement(  # noqa: S608 - names of ours
    lambda _: [], (), _COLUMNS, writes=True
)
SHAPES[re.compile(r"CREATE TABLE (\w+) \(LIKE (\w+) INCLUDING ALL\)")] = _create
SHAPES[re.compile(r"ALTER TABLE (\w+) ATTACH PARTITION (\w+) FOR VALUES FROM \('(.+)'\) TO \('(.+)'\)")] = (
    _attach
)
