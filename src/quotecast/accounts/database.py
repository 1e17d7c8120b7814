"""PostgreSQL as the API uses it: a bounded pool, transactions that end in time, and Piccolo's queries.

Nothing outlasts a transaction but prepared statements, so that PgBouncer may give each one another session.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, Self, TypeVar

import asyncpg
from piccolo.query.base import Query

from quotecast.accounts.database_errors import count_errors
from quotecast.accounts.database_measurements import DatabaseMeasurements, time_block

#: From the question to the answer of a transaction; what is left of two seconds is for hanging up.
DEADLINE_SECONDS: Final = 1.6
#: For a rollback, and for giving a connection back; after that the connection is cut.
ROLLBACK_SECONDS: Final = 0.15
#: From hanging up to giving up what else a transaction waits for.
GRACE_SECONDS: Final = 0.05
#: Prepared statements that a connection keeps.
STATEMENT_CACHE: Final = 100
#: With the bounds that PostgreSQL keeps by itself, should this worker be gone. PgBouncer refuses them as
#: startup parameters; set for a session, they would hold for another client's transaction.
_BEGIN: Final = (
    "BEGIN; SET LOCAL statement_timeout = '2s'; SET LOCAL lock_timeout = '2s';"
    " SET LOCAL idle_in_transaction_session_timeout = '5s'"
)

T = TypeVar("T")

#: Runs a query in the transaction at hand and gives its rows.
Run = Callable[[Query[Any, Any]], Awaitable[list[Any]]]


class Database:
    """At most `pool_size` connections, made when they are needed and kept.

    It opens and works whether the server is there or not: each transaction finds out for itself.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int,
        statement_cache: int = STATEMENT_CACHE,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        self._url = url
        self._pool_size = pool_size
        self._statement_cache = statement_cache
        self._deadline_seconds = deadline_seconds
        self._tasks: set[asyncio.Task[Any]] = set()
        self.measurements = DatabaseMeasurements()

    async def __aenter__(self) -> Self:
        self._pool = await asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=self._pool_size,
            timeout=self._deadline_seconds,
            connect=self._connect,
            reset=_skip_reset,
            statement_cache_size=self._statement_cache,
            # PgBouncer knows this startup parameter, and few others.
            server_settings={"application_name": "quotecast"},
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        # Each ends in time by itself.
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ROLLBACK_SECONDS):
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

    async def _connect(self, *arguments: Any, **options: Any) -> Any:
        with self.measurements.measure_connect():
            return await asyncpg.connect(*arguments, **options)

    async def _transaction(self, work: Callable[[Run], Awaitable[T]]) -> T:
        deadline = asyncio.get_running_loop().time() + self._deadline_seconds
        with self.measurements.measure_transaction(), count_errors(self.measurements.errors):
            with time_block(self.measurements.waits):
                async with asyncio.timeout_at(deadline):
                    connection = await self._pool.acquire()
            try:
                return await self._run_work(connection, deadline, work)
            finally:
                with contextlib.suppress(Exception):
                    await self._pool.release(connection, timeout=ROLLBACK_SECONDS)

    async def _run_work(self, connection: Any, deadline: float, work: Callable[[Run], Awaitable[T]]) -> T:
        async def run(query: Query[Any, Any]) -> list[Any]:
            (querystring,) = query.querystrings
            sql, values = querystring.compile_string()
            with time_block(self.measurements.statements):
                rows: list[Any] = await connection.fetch(sql, *values)
            return rows

        with _hang_up_at(connection, deadline):
            try:
                async with asyncio.timeout_at(deadline + GRACE_SECONDS):
                    await connection.execute(_BEGIN)
                    result = await work(run)
                    await _commit(connection)
            except BaseException:
                await _roll_back(connection)
                raise
        return result


@contextlib.contextmanager
def _hang_up_at(connection: Any, deadline: float) -> Iterator[None]:
    """Hangs up at the deadline. Raises TimeoutError if it comes to that.

    Hanging up comes before cancelling: asyncpg would send a cancel request on another connection, which
    stays open while the server is frozen, and PgBouncer 1.18 crashes when it is cut.
    """
    expired = False

    def hang_up() -> None:
        nonlocal expired
        expired = True
        _terminate(connection)

    timer = asyncio.get_running_loop().call_at(deadline, hang_up)
    try:
        yield
    except BaseException as error:
        if expired:
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()


async def _commit(connection: Any) -> None:
    # After a query that failed and was passed over, PostgreSQL answers ROLLBACK, and no error.
    if await connection.execute("COMMIT") != "COMMIT":
        raise asyncpg.InFailedSQLTransactionError("a query failed, so nothing was committed")


async def _roll_back(connection: Any) -> None:
    """Undoes what was done, or hangs up: then the server undoes it."""
    try:
        async with asyncio.timeout(ROLLBACK_SECONDS):
            await connection.execute("ROLLBACK")
    except Exception:  # noqa: BLE001 - the reason was raised already
        _terminate(connection)


def _terminate(connection: Any) -> None:
    # A connection that broke has left the pool already, and refuses any call.
    with contextlib.suppress(asyncpg.InterfaceError):
        connection.terminate()


async def _skip_reset(_: Any) -> None:
    """Leaves a returned connection as it is: a transaction leaves no state of the session behind."""
