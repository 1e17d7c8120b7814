"""Measurement of commands, and reconnection after the answer of a former master."""

import asyncio
import time
from collections.abc import Awaitable
from types import TracebackType
from typing import Final, TypeVar

from redis.exceptions import ConnectionError as RedisConnectionError

from quotecast.background import is_cancelled
from quotecast.redis import counts
from quotecast.redis.client import Client, drop_connections, leads_nowhere_else
from quotecast.redis.counts import Part

#: Kinds of errors that suggest another server is the master.
ELSEWHERE: Final = {"readonly", "loading", "masterdown", "noreplicas"}
#: Seconds of a call whose part has no deadline of its own.
_CALL_SECONDS: Final = 0.5

T = TypeVar("T")


def observe(part: Part, began: float) -> None:
    """Counts a command that began at a time of `time.perf_counter`."""
    counts.latencies[part,].observe(time.perf_counter() - began)


class MeasuredCommand:
    """A context manager that measures one command, and drops all connections on a former master's error.

    A demoted master keeps its clients' connections open and refuses their writes: only new connections reach
    the new master.
    """

    __slots__ = ("_began", "_client", "_part")

    def __init__(self, client: Client, part: Part, *, began: float = 0.0) -> None:
        """`began` is a time of `time.perf_counter`; by default that at which the context begins."""
        self._client = client
        self._part = part
        self._began = began

    async def __aenter__(self) -> None:
        if not self._began:
            self._began = time.perf_counter()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        observe(self._part, self._began)
        if isinstance(error, asyncio.CancelledError) and not is_cancelled():
            # The command waited for a connection to close, and another task gave up waiting for that.
            counts.errors[self._part, "connection"] += 1
            raise RedisConnectionError("another task closed the connection") from error
        if isinstance(error, Exception):
            problem = counts.error_kind(error)
            counts.errors[self._part, problem] += 1
            # A master without replicas is left only for another one that takes writes.
            if problem in ELSEWHERE and not (
                problem == "noreplicas" and await leads_nowhere_else(self._client)
            ):
                await drop_connections(self._client, self._part)


async def within_budget(client: Client, part: Part, call: Awaitable[T]) -> T:
    """Returns the answer to a call. Raises TimeoutError after half a second."""
    async with MeasuredCommand(client, part), asyncio.timeout(_CALL_SECONDS):
        return await call
