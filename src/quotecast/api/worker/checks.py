"""Readiness checks of Redis and PostgreSQL, cached for a moment."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import asyncpg

Check = Callable[[], Awaitable[str]]

REMEMBERED_SECONDS: Final = 2.0
CONNECT_SECONDS: Final = 0.9


def cached_check(check: Check, clock: Callable[[], float] = time.monotonic) -> Check:
    """Calls the check at most once in REMEMBERED_SECONDS; concurrent callers share one call."""
    asked: asyncio.Future[str] | None = None
    asked_at = 0.0

    async def ask() -> str:
        nonlocal asked, asked_at
        if asked is None or clock() - asked_at > REMEMBERED_SECONDS:
            asked, asked_at = asyncio.ensure_future(check()), clock()
            # The callers get the failure; reading it here silences asyncio when none of them waits any more.
            asked.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(asked)

    return ask


def postgres_check(database_url: str) -> Check:
    """Returns a check that runs a statement: PgBouncer accepts clients even while PostgreSQL is away."""

    async def check() -> str:
        connection = await asyncpg.connect(database_url, timeout=CONNECT_SECONDS)
        try:
            await connection.execute("SELECT 1", timeout=CONNECT_SECONDS)
        finally:
            await connection.close(timeout=CONNECT_SECONDS)
        return "ok"

    return check
