"""Trial transactions: they test a pooler in front of PostgreSQL, such as PgBouncer."""

from typing import Final

from quotecast.database.database import Database, Run
from quotecast.database.errors import PREPARED, error_kind
from quotecast.database.tables import User
from quotecast.errors import DatabaseAway
from quotecast.local import probes

#: The pooler may choose other sessions in each round.
ROUNDS: Final = 3
_BOUND: Final = "current_setting('statement_timeout')"
_ADVICE: Final = {
    PREPARED: "the pooler changes sessions between transactions: set QUOTECAST_DATABASE_STATEMENT_CACHE=0,"
    " or max_prepared_statements in PgBouncer 1.21 or later",
    "timeout": "no second connection came in time: raise PgBouncer's default_pool_size, or max_connections",
    "overload": "no connection is left: raise PgBouncer's max_client_conn, or PostgreSQL's max_connections",
}


async def transactions(url: str, statement_cache: int) -> None:
    """Runs transactions as API workers do. Raises NoAnswer with advice on settings."""
    # Two connections, so that a pooler has to switch sessions between them.
    async with (
        Database(url, pool_size=1, statement_cache=statement_cache) as one,
        Database(url, pool_size=1, statement_cache=statement_cache) as other,
    ):

        async def overlap(run: Run) -> None:
            await _check_bound(run)
            await one.transaction(_check_bound)

        try:
            for _ in range(ROUNDS):
                await one.transaction(_check_bound)
                await other.transaction(overlap)
        except DatabaseAway as error:
            raise probes.NoAnswer(_trouble(url, error.__cause__)) from error


async def _check_bound(run: Run) -> None:
    """Runs a prepared statement that reads `statement_timeout`, and checks its value."""
    [row] = await run(User.raw(f"SELECT {_BOUND} AS bound"))
    if row["bound"] != "2s":
        raise probes.NoAnswer(f"PostgreSQL ignores statement_timeout in a transaction: {row['bound']}")


def _trouble(url: str, cause: BaseException | None) -> str:
    # The driver appends a paragraph on poolers to some errors.
    reason = (str(cause) or type(cause).__name__).splitlines()[0]
    advice = _ADVICE.get(error_kind(cause) or "")
    explanation = f"{reason}; {advice}" if advice else probes.with_advice(reason)
    return f"{probes.place(url)} fails a transaction: {explanation}"
