"""Services behind the terminal page: one ingest and one worker each, and databases on one PostgreSQL.

Playwright runs an event loop in the thread of the tests, so all that needs another one starts in a thread.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import asyncpg

from quotecast.database import migrations
from support.servers.processes import Postgres, running_postgres, running_valkey
from support.servers.service import Service

TEMPLATE: Final = "template_of_services"


def beside(work: Coroutine[Any, Any, object]) -> None:
    """Runs a coroutine in an event loop of another thread, to its end."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


class Databases:
    """Makes databases with all tables."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres
        self._numbers = itertools.count(1)
        beside(self._run(f"CREATE DATABASE {TEMPLATE}"))
        beside(migrations.apply(postgres.database_url(TEMPLATE)))

    def new(self) -> str:
        """Makes an empty one; returns its URL."""
        name = f"service_{next(self._numbers)}"
        beside(self._run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}"))
        return self._postgres.database_url(name)

    async def _run(self, command: str) -> None:
        connection = await asyncpg.connect(self._postgres.url)
        try:
            await connection.execute(command)
        finally:
            await connection.close()


@contextlib.contextmanager
def running_databases() -> Iterator[Databases]:
    """Runs a PostgreSQL for the databases of services."""
    with contextlib.ExitStack() as stack:
        with ThreadPoolExecutor(1) as pool:
            postgres = pool.submit(stack.enter_context, running_postgres()).result()
        yield Databases(postgres)


@contextlib.contextmanager
def terminal_service(settings: Mapping[str, str]) -> Iterator[Service]:
    """Runs a service with these settings, over a Valkey of its own."""
    with running_valkey() as valkey, Service(valkey, settings) as running:
        running.start("ingest", "api")
        yield running


def fast_market(databases: Databases, speed: int) -> contextlib.AbstractContextManager[Service]:
    """Runs a service whose market is that many times faster than the clock."""
    settings = {
        "QUOTECAST_DATABASE_URL": databases.new(),
        "QUOTECAST_SIMULATOR_SPEED": str(speed),
        "QUOTECAST_LIMITS": "off",
    }
    return terminal_service(settings)
