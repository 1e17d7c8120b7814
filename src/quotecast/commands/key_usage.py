"""`quotecast keys usage`: prints what API keys used, by key and day."""

import asyncio
import sys
from datetime import date, timedelta
from functools import partial
from typing import Final, Literal

from msgspec.structs import astuple, fields

from quotecast.access.key_usage import UsageRow, usage_rows
from quotecast.access.storage import KEY
from quotecast.api.answers.csv import write_csv
from quotecast.commands.account_database import open_database, plain
from quotecast.commands.json_lines import json_lines
from quotecast.database.database import Run
from quotecast.database.tables import ApiKey
from quotecast.errors import NotFound

COLUMNS: Final = tuple(field.name for field in fields(UsageRow))
_HEAD: Final = (
    "day         key                       requests  refused   minutes       quotes           bytes  name"
)


#: How rows are printed.
Form = Literal["text", "csv", "json"]


def show(url: str, *, key_id: str | None, days: int, today: date, form: Form) -> None:
    """Prints the rows of the last days in UTC, the newest day first: of one key or of all.

    Raises NotFound.
    """
    asyncio.run(_show(url, key_id, [today - timedelta(days=number) for number in range(days)], form))


async def _show(url: str, key_id: str | None, days: list[date], form: Form) -> None:
    """Reads a day at a time: all keys of a year would not fit into one transaction."""
    async with open_database(url) as database:
        if key_id is not None:
            await database.transaction(partial(_require, key_id=key_id))
        sys.stdout.write(_HEADS[form])
        for day in days:
            rows = await database.transaction(partial(usage_rows, first=day, last=day, key_id=key_id))
            sys.stdout.write(_text_of(rows, form))
        sys.stdout.flush()


async def _require(run: Run, key_id: str) -> None:
    if not await run(ApiKey.select(ApiKey.id).where(ApiKey.id == key_id)):
        raise NotFound(KEY)


def _text_of(rows: list[UsageRow], form: Form) -> str:
    """Returns the rows as text, CSV without its header, or JSON."""
    if form == "csv":
        return write_csv(COLUMNS, map(astuple, rows)).decode().partition("\r\n")[2]
    lines = json_lines(rows) if form == "json" else map(_line, rows)
    return "".join(f"{line}\n" for line in lines)


def _line(row: UsageRow) -> str:
    # Names come last, because their width on a terminal is unknown.
    return (
        f"{row.day}  {row.key_id}  {row.requests:>8}  {row.refused:>7}  {row.socket_minutes:>8.1f}"
        f"  {row.quotes:>11}  {row.bytes:>14}  {plain(row.name)}"
    )


_HEADS: Final = {"text": f"{_HEAD}\n", "csv": f"{','.join(COLUMNS)}\r\n", "json": ""}
