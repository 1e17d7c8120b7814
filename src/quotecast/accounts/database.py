"""PostgreSQL as the API uses it: a bounded pool, transactions that end in time, and Piccolo's queries."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, Self, TypeVar

import asyncpg
import structlog
from piccolo.query.base import Query

from quotecast.errors import DatabaseAway

#: From the question to the answer of a transaction; what is left of two seconds is for hanging up.
DEADLINE_SECONDS: Final = 1.6
#: For a rollback, and for giving a connection back; after that the connection is cut.
FAREWELL_SECONDS: Final = 0.15
#: What PostgreSQL itself ends, in milliseconds, should this worker be gone.
_SERVER_LIMITS: Final = {
    "statement_timeout": "2000",
    "lock_timeout": "2000",
    "idle_in_transaction_session_timeout": "5000",
}

#: What a broken, restarting, overloaded, read-only or migrating server answers, by class of SQLSTATE or as
#: a whole.
_AWAY_CODES: Final = ("08", "0A000", "25006", "28", "3D", "40", "42P01", "42501", "53", "55", "57", "58")

T = TypeVar("T")

#: Runs a query in the transaction at hand and gives its rows.
Run = Callable[[Query[Any, Any]], Awaitable[list[Any]]]

log = structlog.get_logger()


class Database:
    """At most `pool_size` connections, made when they are needed and kept.

    It opens and works whether the server is there or not: each transaction finds out for itself.
    """

    def __init__(self, url: str, *, pool_size: int, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self._url = url
        self._pool_size = pool_size
        self._deadline_seconds = deadline_seconds
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self._pool = await asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=self._pool_size,
            timeout=self._deadline_seconds,
            server_settings={"application_name": "quotecast", **_SERVER_LIMITS},
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        # Each ends in time by itself.
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self._pool.close()
        self._pool.terminate()

    def statistics(self) -> dict[str, int]:
        """Connections there are, are idle and may be at most; transactions under way or waiting for one."""
        return {
            "connections": self._pool.get_size(),
            "idle": self._pool.get_idle_size(),
            "limit": self._pool_size,
            "transactions": len(self._tasks),
        }

    async def transaction(self, work: Callable[[Run], Awaitable[T]]) -> T:
        """What `work` gives, once its queries are committed; what it raises, once they are undone.

        Goes on to its end when the caller is cancelled, so that a client that goes away leaves nothing
        half done. Raises DatabaseAway within two seconds when no connection is free, the server is away or
        does not answer; whether the queries were committed is then not known.
        """
        task = asyncio.create_task(self._transaction(work))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        # Whoever waited was told; if nobody waits any more, nobody needs to be.
        _ = task.cancelled() or task.exception()

    async def _transaction(self, work: Callable[[Run], Awaitable[T]]) -> T:
        deadline = asyncio.get_running_loop().time() + self._deadline_seconds
        with _outages():
            async with asyncio.timeout_at(deadline):
                connection = await self._pool.acquire()
            try:
                return await _within(connection, deadline, work)
            finally:
                with contextlib.suppress(Exception):
                    await self._pool.release(connection, timeout=FAREWELL_SECONDS)


async def _within(connection: Any, deadline: float, work: Callable[[Run], Awaitable[T]]) -> T:
    async def run(query: Query[Any, Any]) -> list[Any]:
        (querystring,) = query.querystrings
        sql, values = querystring.compile_string()
        rows: list[Any] = await connection.fetch(sql, *values)
        return rows

    try:
        async with asyncio.timeout_at(deadline):
            await connection.execute("BEGIN")
            result = await work(run)
            await _commit(connection)
    except BaseException:
        await _abandon(connection)
        raise
    return result


async def _commit(connection: Any) -> None:
    # After a query that failed and was passed over, PostgreSQL answers ROLLBACK, and no error.
    if await connection.execute("COMMIT") != "COMMIT":
        raise asyncpg.InFailedSQLTransactionError("a query failed, so nothing was committed")


async def _abandon(connection: Any) -> None:
    """Undoes what was done, or hangs up: then the server undoes it."""
    try:
        async with asyncio.timeout(FAREWELL_SECONDS):
            await connection.execute("ROLLBACK")
    except Exception:  # noqa: BLE001 - the reason was raised already
        connection.terminate()


@contextlib.contextmanager
def _outages() -> Iterator[None]:
    """Tells what is the server's trouble from what is the query's."""
    try:
        yield
    except (TimeoutError, OSError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        log.warning("database away", error=type(error).__name__)
        raise DatabaseAway from error
    except asyncpg.PostgresError as error:
        if not str(error.sqlstate).startswith(_AWAY_CODES):
            # It quotes the row that was refused, and with it the hash of a password.
            error.detail = None
            raise
        log.warning("database away", error=type(error).__name__, sqlstate=error.sqlstate)
        raise DatabaseAway from error
