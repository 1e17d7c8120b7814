"""Transactions on a real PostgreSQL: atomic, and with a deadline."""

import asyncio
import contextlib
import random

import asyncpg
import pytest

from quotecast.database.database import DEADLINE_SECONDS, Run
from quotecast.database.tables import User
from quotecast.errors import DatabaseAway, EmailTaken
from quotecast.users import users
from support.oracles.transactions import (
    check_pool,
    hold_connection,
    open_database,
    raises_in_time,
    register_user,
    sessions,
    until_idle,
    until_sessions,
    visible_users,
)


async def test_what_work_gives_is_given_once_it_is_committed(accounts_url: str) -> None:
    """Other sessions see the committed rows."""
    async with open_database(accounts_url) as database:
        assert await database.transaction(register_user(1)) == f"{1:024x}"
        assert await visible_users(accounts_url) == [1]


@pytest.mark.parametrize("error", [RuntimeError, EmailTaken, asyncio.CancelledError, DatabaseAway])
async def test_what_work_raises_is_raised_once_it_is_undone(
    accounts_url: str, error: type[BaseException]
) -> None:
    """A failed transaction leaves no row, and its connection serves the next one."""

    async def work(run: Run) -> None:
        await register_user(1)(run)
        raise error

    async with open_database(accounts_url, pool_size=1) as database:
        with pytest.raises(error):
            await database.transaction(work)
        assert await visible_users(accounts_url) == []
        assert await database.transaction(register_user(2))
        assert await sessions(accounts_url) == ["idle"]


async def test_a_query_that_fails_undoes_what_went_before(accounts_url: str) -> None:
    """A refused query is not an outage: the caller gets its error."""

    async def work(run: Run) -> None:
        await register_user(2)(run)
        await register_user(1)(run)

    async with open_database(accounts_url, pool_size=1) as database:
        await database.transaction(register_user(1))
        with pytest.raises(asyncpg.UniqueViolationError) as raised:
            await database.transaction(work)
        assert raised.value.constraint_name == "users_pkey"
        assert await visible_users(accounts_url) == [1]


async def test_an_error_does_not_tell_of_the_row(accounts_url: str) -> None:
    """PostgreSQL quotes the refused row, which holds the hash of the password."""

    async def work(run: Run) -> None:
        await users.create(run, user_id="x", name="Ayşe", email="a@example.com", password_hash="canary")

    async with open_database(accounts_url) as database:
        with pytest.raises(asyncpg.CheckViolationError) as raised:
            await database.transaction(work)
        assert "canary" not in f"{raised.value} {raised.value!r} {raised.value.detail}"


async def test_a_query_that_was_refused_and_passed_over_is_not_acknowledged(accounts_url: str) -> None:
    """PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, without an error."""

    async def work(run: Run) -> str:
        await register_user(2)(run)
        with contextlib.suppress(asyncpg.UniqueViolationError):
            await register_user(1)(run)
        return "done"

    async with open_database(accounts_url) as database:
        await database.transaction(register_user(1))
        with pytest.raises(asyncpg.InFailedSQLTransactionError):
            await database.transaction(work)
        assert await visible_users(accounts_url) == [1]


async def test_the_server_too_knows_the_bounds(accounts_url: str) -> None:
    """PostgreSQL itself ends the transaction of a dead worker."""

    async def work(run: Run) -> list[str]:
        names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
        return [(await run(User.raw(f"SHOW {name}")))[0][name] for name in names]

    async with open_database(accounts_url, deadline_seconds=DEADLINE_SECONDS) as database:
        assert await database.transaction(work) == ["2s", "2s", "5s"]


async def test_without_a_free_connection_the_answer_comes_in_time(accounts_url: str) -> None:
    """Running transactions go on; a waiting one that timed out occupied no connection."""
    release = asyncio.Event()
    async with open_database(accounts_url, pool_size=2, deadline_seconds=60) as database:
        holding = [asyncio.create_task(database.transaction(hold_connection(release))) for _ in range(2)]
        await until_sessions(accounts_url, lambda states: states == ["idle in transaction"] * 2)
        database._deadline_seconds = 0.1
        for _ in range(3):
            with raises_in_time():
                await database.transaction(register_user(1))
        release.set()
        await asyncio.gather(*holding)
        database._deadline_seconds = 5
        await check_pool(database, 2)
        assert await visible_users(accounts_url) == []


async def test_the_deadline_is_that_of_the_promise(accounts_url: str) -> None:
    """A slow query ends at the deadline, on the server too."""
    async with open_database(accounts_url, deadline_seconds=DEADLINE_SECONDS, pool_size=1) as database:

        async def work(run: Run) -> None:
            await register_user(1)(run)
            await run(User.raw("SELECT pg_sleep(30)"))

        with raises_in_time():
            await database.transaction(work)
        await until_idle(accounts_url, at_most=1)
        assert await visible_users(accounts_url) == []
        await database.transaction(register_user(2))


async def test_a_row_that_another_has_locked_is_not_waited_for_without_end(accounts_url: str) -> None:
    """The waiting transaction raises; the running one goes on."""
    release = asyncio.Event()

    async def lock(run: Run) -> None:
        await run(User.select().lock_rows("NO KEY UPDATE"))
        await release.wait()

    async with (
        open_database(accounts_url, deadline_seconds=DEADLINE_SECONDS) as waiter,
        open_database(accounts_url, deadline_seconds=60) as owner,
    ):
        await owner.transaction(register_user(1))
        locking = asyncio.create_task(owner.transaction(lock))
        await until_sessions(accounts_url, lambda states: "idle in transaction" in states)
        with raises_in_time():
            await waiter.transaction(lambda run: run(User.select().lock_rows("NO KEY UPDATE")))
        release.set()
        await locking


async def test_work_goes_on_when_the_caller_goes_away(accounts_url: str) -> None:
    """A transaction commits even if its caller is cancelled in the middle."""
    inside, release = asyncio.Event(), asyncio.Event()

    async def work(run: Run) -> None:
        await register_user(1)(run)
        inside.set()
        await release.wait()
        await register_user(2)(run)

    async with open_database(accounts_url, pool_size=1) as database:
        calling = asyncio.create_task(database.transaction(work))
        await inside.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        release.set()
        await check_pool(database, 1)
        assert await visible_users(accounts_url) == [1, 2]


async def test_callers_that_go_away_at_any_moment_cost_no_connection(accounts_url: str) -> None:
    """Cancelled callers' transactions commit; the pool stays complete; no session stays open."""
    moments = random.Random(20)
    async with open_database(accounts_url) as database:
        await check_pool(database, 4)
        for number in range(100):
            calling = asyncio.create_task(database.transaction(register_user(number)))
            await asyncio.sleep(moments.uniform(0, 0.004))
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
        await check_pool(database, 4)
        await until_idle(accounts_url, at_most=4)
    assert await visible_users(accounts_url) == list(range(100))


async def test_closing_waits_for_what_is_under_way(accounts_url: str) -> None:
    """A stopping worker finishes its last transactions."""
    async with open_database(accounts_url) as database:
        await check_pool(database, 4)
        calling = [asyncio.create_task(database.transaction(register_user(number))) for number in range(8)]
        await asyncio.sleep(0)
        for each in calling:
            each.cancel()
    assert await visible_users(accounts_url) == list(range(8))
    await until_sessions(accounts_url, lambda states: not states)
