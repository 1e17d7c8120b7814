"""The connection to PostgreSQL: a bounded pool, and transactions with a deadline.

Only prepared statements outlast a transaction, so that PgBouncer may give each transaction another session.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Self, TypeVar

import asyncpg
from msgspec import Struct
from piccolo.query.base import Query

from quotecast.database.errors import READ_ONLY, count_errors, error_kind
from quotecast.errors import DatabaseAway
from quotecast.observe.histograms import Histogram
from quotecast.observe.outages import OutageLog

OUTCOMES: Final = ("committed", "rolled_back", "away")
#: Seconds for a transaction, the wait for a connection included; the rest of two seconds is for its rollback.
DEADLINE_SECONDS: Final = 1.6
#: Seconds for a rollback, and for the return of a connection to the pool; then the connection is cut.
ROLLBACK_SECONDS: Final = 0.15
#: Seconds from cutting the connection at the deadline to cancelling the transaction's own waits.
GRACE_SECONDS: Final = 0.05
#: Prepared statements per connection.
STATEMENT_CACHE: Final = 100
#: Seconds after the deadline until PostgreSQL itself ends a statement, and the transaction of a dead client.
SERVER_SECONDS: Final = 0.4
IDLE_SECONDS: Final = 3.4

T = TypeVar("T")
RowStruct = TypeVar("RowStruct", bound=Struct)

#: Runs a query in the current transaction, and returns its rows.
Run = Callable[[Query[Any, Any]], Awaitable[list[Any]]]


class Database:
    """A pool of at most `pool_size` connections, which open on demand.

    It opens without a server too; each transaction then fails by itself.
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
        self._begin = _begin(deadline_seconds)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._outage = OutageLog()
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
        # Each task has a deadline of its own.
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ROLLBACK_SECONDS):
                await self._pool.close()
        self._pool.terminate()

    def statistics(self) -> dict[str, int]:
        """Returns the numbers of open, idle and allowed connections, and of unfinished transactions."""
        return {
            "connections": self._pool.get_size(),
            "idle": self._pool.get_idle_size(),
            "limit": self._pool_size,
            "transactions": len(self._tasks),
        }

    async def transaction(self, work: Callable[[Run], Awaitable[T]]) -> T:
        """Returns the result of `work`, whose queries are Piccolo's; see `session`."""

        async def with_queries(connection: Any) -> T:
            return await work(partial(self._run, connection))

        return await self.session(with_queries)

    async def session(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Returns the result of `work` after committing what it did; re-raises its error after a rollback.

        `work` gets asyncpg's connection, inside a transaction. It runs to its end even when the caller is
        cancelled, because a client may disconnect. Raises DatabaseAway within 0.4 s of the deadline when no
        connection is free or the server does not answer; the work may then be committed or not.
        """
        task = asyncio.create_task(self._transaction(work))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        # The caller got the error; reading it here silences asyncio's warning when the caller was cancelled.
        _ = task.cancelled() or task.exception()

    async def _connect(self, *arguments: Any, **options: Any) -> Any:
        try:
            connection = await asyncpg.connect(*arguments, **options)
        except BaseException:
            self.measurements.connects["failed"] += 1
            raise
        self.measurements.connects["opened"] += 1
        return connection

    async def _transaction(self, work: Callable[[Any], Awaitable[T]]) -> T:
        deadline = asyncio.get_running_loop().time() + self._deadline_seconds
        with self.measurements.measure_transaction(), count_errors(self.measurements.errors, self._outage):
            with time_block(self.measurements.waits):
                async with asyncio.timeout_at(deadline):
                    connection = await self._pool.acquire()
            try:
                with _hang_up_at(connection, deadline):
                    try:
                        async with asyncio.timeout_at(deadline + GRACE_SECONDS):
                            await connection.execute(self._begin)
                            result = await work(connection)
                            await _commit(connection)
                    except BaseException as error:
                        if error_kind(error) == READ_ONLY:
                            # The server became a standby, and its address may be that of the new primary.
                            await self._pool.expire_connections()
                        # Rolls back, or cuts the connection, whereupon the server rolls back.
                        try:
                            async with asyncio.timeout(ROLLBACK_SECONDS):
                                await connection.execute("ROLLBACK")
                        except Exception:  # noqa: BLE001 - the reason was raised already
                            _terminate(connection)
                        raise
                return result
            finally:
                with contextlib.suppress(Exception):
                    await self._pool.release(connection, timeout=ROLLBACK_SECONDS)

    async def _run(self, connection: Any, query: Query[Any, Any]) -> list[Any]:
        (querystring,) = query.querystrings
        sql, values = querystring.compile_string()
        with time_block(self.measurements.statements):
            rows: list[Any] = await connection.fetch(sql, *values)
        return rows


def _begin(deadline_seconds: float) -> str:
    """Returns the statements that begin a transaction, with the time-outs of the server's side.

    PgBouncer rejects them as startup parameters; set for a session, they would apply to another client's
    transaction.
    """
    bound = int((deadline_seconds + SERVER_SECONDS) * 1000)
    idle = int((deadline_seconds + IDLE_SECONDS) * 1000)
    return (
        f"BEGIN; SET LOCAL statement_timeout = {bound}; SET LOCAL lock_timeout = {bound};"
        f" SET LOCAL idle_in_transaction_session_timeout = {idle}"
    )


@contextlib.contextmanager
def _hang_up_at(connection: Any, deadline: float) -> Iterator[None]:
    """Cuts the connection at the deadline, and then raises TimeoutError.

    The cut comes before the cancellation: asyncpg would send a cancel request on another connection, which
    stays open while the server is frozen, and PgBouncer 1.18 crashes when that one is cut.
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
    # After a failed query whose error `work` ignored, PostgreSQL answers ROLLBACK without an error.
    if await connection.execute("COMMIT") != "COMMIT":
        raise asyncpg.InFailedSQLTransactionError("a query failed, so nothing was committed")


def _terminate(connection: Any) -> None:
    # A broken connection has already left the pool, and raises on any call.
    with contextlib.suppress(asyncpg.InterfaceError):
        connection.terminate()


async def _skip_reset(_: Any) -> None:
    """Skips asyncpg's reset of a returned connection: our transactions leave no session state behind."""


class DatabaseMeasurements:
    """Measurements of one pool since it opened; times are seconds."""

    def __init__(self) -> None:
        #: Durations by outcome, each with the wait for a connection.
        self.transactions = {outcome: Histogram() for outcome in OUTCOMES}
        #: Durations of statements, failed ones included, without BEGIN and COMMIT.
        self.statements = Histogram()
        #: Each transaction's wait for a connection, including the opening of a new one.
        self.waits = Histogram()
        self.connects = {"opened": 0, "failed": 0}
        #: Errors by their kinds in `quotecast.database.errors`.
        self.errors = Counter[str]()

    @contextlib.contextmanager
    def measure_transaction(self) -> Iterator[None]:
        """Measures a transaction, by outcome."""
        began = time.perf_counter()
        outcome = "rolled_back"
        try:
            yield
            outcome = "committed"
        except DatabaseAway:
            outcome = "away"
            raise
        finally:
            self.transactions[outcome].observe(time.perf_counter() - began)


@contextlib.contextmanager
def time_block(histogram: Histogram) -> Iterator[None]:
    """Observes the duration of a block, even if it raises."""
    began = time.perf_counter()
    try:
        yield
    finally:
        histogram.observe(time.perf_counter() - began)


def row_as(kind: type[RowStruct], row: Mapping[str, Any], **others: Any) -> RowStruct:
    """Returns a row as a struct: a field is the column of its name, or one of `others`."""
    columns = {name: row[name] for name in kind.__struct_fields__ if name not in others}
    return kind(**columns, **others)
