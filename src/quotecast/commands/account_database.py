"""The database, long lists and failures of the commands on users, keys, plans and operators.

The database is that of the settings, or of the `up` that runs.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import asyncpg

from quotecast.database.database import Database, Run
from quotecast.errors import DatabaseAway, InvalidValue, QuotecastError, SettingsError
from quotecast.local import console, postgres, probes
from quotecast.observe.logs import configure_logs
from quotecast.settings.model import Settings

#: Rows that one transaction reads.
PAGE: Final = 500

T = TypeVar("T")


def answering_url(settings: Settings) -> str:
    """Returns the URL of a database that answers: the settings' one, or that of the running `up`.

    Raises SettingsError if there is neither.
    """
    url = _url(settings)
    try:
        asyncio.run(probes.postgres(url))
    except probes.NoAnswer as error:
        if settings.database_url:
            raise
        # A killed PostgreSQL leaves its pid file behind.
        raise _nothing_runs(settings) from error
    return url


def open_database(url: str) -> Database:
    """Returns a database of one connection, without prepared statements, so that it works with any pooler."""
    return Database(url, pool_size=1, statement_cache=0)


def in_transaction(url: str, work: Callable[[Run], Awaitable[T]]) -> T:
    """Returns the result of `work` after its commit."""

    async def once() -> T:
        async with open_database(url) as database:
            return await database.transaction(work)

    return asyncio.run(once())


def print_pages(
    url: str, read: Callable[..., Awaitable[list[Any]]], lines_of: Callable[[list[Any]], Iterator[str]]
) -> None:
    """Prints the lines of all rows; `read` returns up to `limit` rows after an id, in the order of ids."""

    async def print_all() -> None:
        after = ""
        async with open_database(url) as database:
            while page := await database.transaction(partial(read, after=after, limit=PAGE)):
                console.say_all(lines_of(page))
                after = page[-1].id

    asyncio.run(print_all())


@contextlib.contextmanager
def failures_in_a_line() -> Iterator[None]:
    """Raises QuotecastError for a wrong value, an outage or an interruption.

    A closed pipe ends the output without an error.
    """
    # The error reports an outage; the log would repeat it.
    configure_logs(level="error", as_json=False)
    try:
        yield
    except InvalidValue as error:
        raise QuotecastError(f"{error.field}: {error}") from error
    except DatabaseAway as error:
        cause = error.__cause__
        if isinstance(cause, asyncpg.UndefinedTableError):
            raise QuotecastError("The database has no tables yet: run `quotecast migrate`") from error
        raise QuotecastError(
            f"The database failed ({type(cause).__name__}); whether anything was done is not known"
        ) from error
    except (KeyboardInterrupt, EOFError) as error:
        raise QuotecastError("Interrupted") from error
    except BrokenPipeError:
        # The reader closed the pipe. Without this, Python would flush the rest at exit and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def plain(text: str) -> str:
    """Returns the text without characters that a terminal interprets."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _url(settings: Settings) -> str:
    if settings.database_url:
        return settings.database_url
    pid_file = postgres.pid_file(settings.data_dir.resolve() / "postgres")
    try:
        # PostgreSQL writes the folder of its socket to the fifth line.
        return postgres.url(Path(pid_file.read_text().splitlines()[4]))
    except (OSError, IndexError) as error:
        raise _nothing_runs(settings) from error


def _nothing_runs(settings: Settings) -> SettingsError:
    return SettingsError(
        "QUOTECAST_DATABASE_URL: name a PostgreSQL, or start `quotecast up`, which brings one;"
        f" none answers in {settings.data_dir.resolve()}"
    )
