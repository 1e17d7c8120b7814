"""Kinds of database errors, for metrics and logs, and the distinction of outages from refused queries."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

import asyncpg

from quotecast.errors import DatabaseAway
from quotecast.observe.outages import OutageLog

#: The kind of a statement that PostgreSQL refused; every other kind is an outage.
QUERY: Final = "query"
#: The kind of a prepared statement that the session lacks, or already has.
PREPARED: Final = "prepared_statement"
#: The kind of a standby's refusal to write.
READ_ONLY: Final = "read_only"

#: Kinds of a broken, restarting, overloaded, read-only or migrating server's errors, by SQLSTATE or its
#: class.
_KINDS: Final = {
    "08": "connection",
    "0A000": "schema",
    "25006": READ_ONLY,
    "26000": PREPARED,
    "28": "access",
    "3D": "access",
    "40": "conflict",
    "42501": "access",
    "42P01": "schema",
    "42P05": PREPARED,
    "53": "overload",
    "55": "lock",
    "57": "shutdown",
    "57014": "timeout",
    "58": "server",
}
_HINTS: Final = {
    PREPARED: "a pooler changes sessions between transactions: set QUOTECAST_DATABASE_STATEMENT_CACHE=0",
    "schema": "a table is missing or an old one: run `quotecast migrate`",
}


def error_kind(error: BaseException | None) -> str | None:
    """Returns the kind of a driver's or server's error; None for other exceptions."""
    match error:
        case TimeoutError():
            return "timeout"
        case asyncpg.PostgresError():
            state = str(error.sqlstate)
            return _KINDS.get(state) or _KINDS.get(state[:2]) or QUERY
        case OSError() | asyncpg.InterfaceError() | asyncpg.InternalClientError():
            return "connection"
    return None


@contextlib.contextmanager
def count_errors(counts: Counter[str], outage: OutageLog) -> Iterator[None]:
    """Counts errors by kind, and logs outages; the end of a block without an error ends the outage.

    Raises DatabaseAway for an outage, and the error itself for a refused query.
    """
    try:
        yield
    except Exception as error:
        kind = error_kind(error)
        if kind is None:
            raise
        counts[kind] += 1
        if isinstance(error, asyncpg.PostgresError) and kind == QUERY:
            # The detail quotes the refused row, which may hold the hash of a password.
            error.detail = None
            raise
        hint = {"hint": _HINTS[kind]} if kind in _HINTS else {}
        outage.log_failure(
            "database is unavailable",
            kind=kind,
            error=type(error).__name__,
            sqlstate=getattr(error, "sqlstate", None),
            **hint,
        )
        raise DatabaseAway from error
    else:
        outage.log_end("database answers again")
