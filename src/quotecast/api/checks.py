"""What readiness asks of Redis and PostgreSQL, however often it is asked itself."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import asyncpg

Check = Callable[[], Awaitable[str]]

REMEMBERED_SECONDS: Final = 2.0
CONNECT_SECONDS: Final = 0.9


def cached_check(check: Check, clock: Callable[[], float] = time.monotonic) -> Check:
    """Asks at most once in two seconds, and once for all who ask at the same time."""
    asked: asyncio.Future[str] | None = None
    asked_at = 0.0

    async def ask() -> str:
        nonlocal asked, asked_at
        if asked is None or clock() - asked_at > REMEMBERED_SECONDS:
            asked, asked_at = asyncio.ensure_future(check()), clock()
            # Whoever asked hears of the failure; if nobody waits any more, nobody needs to.
            asked.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(asked)

    return ask


def postgres_check(database_url: str) -> Check:
    """Whether PostgreSQL answers: PgBouncer lets clients in also while it is away."""

    async def check() -> str:
        connection = await asyncpg.connect(database_url, timeout=CONNECT_SECONDS)
        try:
            await connection.execute("SELECT 1", timeout=CONNECT_SECONDS)
        finally:
            await connection.close(timeout=CONNECT_SECONDS)
        return "ok"

    return check
