"""A circuit breaker: commands to a Redis that keeps failing stop until a probe succeeds."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from quotecast.observe.outages import OutageLog

#: Failures in a row that open the circuit.
FAILURES_TO_OPEN: Final = 3
#: Seconds that one probe may take, connecting included; no request waits for it.
PROBE_SECONDS: Final = 1.0


class CircuitBreaker:
    """Counts failures in a row; while the circuit is open, callers do without Redis.

    Callers test `is_open` before a command and record its outcome. Three failures in a row open the circuit.
    `probe` then runs every `pause` seconds, beside the requests, and closes the circuit when it succeeds; it
    raises when Redis is unusable. `opened` and `closed` are the log events of an outage and of its end.
    `clock` gives monotonic seconds.
    """

    def __init__(
        self,
        probe: Callable[[], Awaitable[object]],
        *,
        pause: float,
        opened: str,
        closed: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._probe = probe
        self._pause = pause
        self._opened = opened
        self._closed = closed
        self._outage = OutageLog(clock)
        self._failures_in_a_row = 0
        self._probing: asyncio.Task[None] | None = None
        #: An attribute, not a property: every rate-limited request reads it.
        self.is_open = False
        #: Times that the circuit opened, since the start.
        self.openings = 0

    async def start(self) -> None:
        """Probes once, and opens the circuit when the probe fails."""
        if error := await self._probe_error():
            self._open(error)

    async def stop(self) -> None:
        """Ends the probes."""
        if self._probing:
            self._probing.cancel()
            await asyncio.gather(self._probing, return_exceptions=True)

    def record_success(self) -> None:
        """Resets the count of failures."""
        self._failures_in_a_row = 0
        self._outage.log_end(self._closed)

    def record_failure(self, error: Exception) -> None:
        """Counts a failure; the third in a row opens the circuit."""
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= FAILURES_TO_OPEN and not self.is_open:
            self._open(error)

    def _open(self, error: Exception) -> None:
        self._outage.log_failure(self._opened, error=repr(error))
        self.openings += 1
        self.is_open = True
        self._probing = asyncio.get_running_loop().create_task(self._probe_until_closed())

    async def _probe_until_closed(self) -> None:
        while self.is_open:
            await asyncio.sleep(self._pause)
            if await self._probe_error() is None:
                self._failures_in_a_row = 0
                self.is_open = False

    async def _probe_error(self) -> Exception | None:
        """Returns the error of one probe, or None when it succeeds."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await self._probe()
        except Exception as error:  # noqa: BLE001 - a broken connection raises more than RedisError
            return error
        return None
