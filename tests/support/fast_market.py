"""A service whose simulated market is faster than the clock, with a database for its bars."""

import asyncio
import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from quotecast.accounts import migrations
from support.servers import running_postgres, running_valkey
from support.service import Service


@contextlib.contextmanager
def fast_market(speed: int) -> Iterator[Service]:
    """Runs a service whose market is that many times faster than the clock."""
    with contextlib.ExitStack() as stack, ThreadPoolExecutor() as pool:
        # Playwright has an event loop in the thread of the tests.
        database = pool.submit(_start_database, stack).result()
        settings = {
            "QUOTECAST_DATABASE_URL": database,
            "QUOTECAST_SIMULATOR_SPEED": str(speed),
            "QUOTECAST_LIMITS": "off",
        }
        running = stack.enter_context(Service(stack.enter_context(running_valkey()), settings))
        running.start("ingest", "api")
        yield running


def _start_database(stack: contextlib.ExitStack) -> str:
    """Returns the URL of a database with tables."""
    postgres = stack.enter_context(running_postgres())
    asyncio.run(migrations.apply(postgres.url))
    return postgres.url
