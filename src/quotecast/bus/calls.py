"""Calls of Redis by the bus: each has a deadline, after which the connections are dropped."""

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar

from quotecast.bus.answers import raise_bus_errors
from quotecast.redis.client import Client, drop_connections
from quotecast.redis.commands import MeasuredCommand
from quotecast.redis.counts import Part

#: Seconds for each call; after that it fails and is not repeated, because the script may have run.
DEADLINE_SECONDS: Final = 2.0

T = TypeVar("T")


async def within_deadline(client: Client, part: Part, call: Awaitable[T]) -> T:
    """Returns what a call of Redis returns; metrics count it for a part. Raises BusError."""
    with raise_bus_errors():
        try:
            async with MeasuredCommand(client, part), asyncio.timeout(DEADLINE_SECONDS):
                return await call
        except TimeoutError:
            await drop_connections(client, part)
            raise
