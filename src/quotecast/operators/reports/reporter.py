"""A process's loop of reports: every two seconds, and never a reason for the process to end."""

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Final

import structlog

from quotecast.observe.outages import OutageLog
from quotecast.operators.reports.model import IngestReport, Report, WorkerReport
from quotecast.operators.reports.store import ReportStore

REPORT_SECONDS: Final = 2.0

#: Makes the parts of a report, by the seconds since the last one and the lag of the event loop.
Parts = Callable[[float, float], WorkerReport | IngestReport]

log = structlog.get_logger()


class Reporter:
    """Reports for one process. `clock` gives monotonic seconds, `wall_clock` Unix time."""

    def __init__(
        self,
        store: ReportStore,
        process: str,
        parts: Parts,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._process = process
        self._parts = parts
        self._clock = clock
        self._wall_clock = wall_clock
        self._sleep = sleep
        self._started_at = wall_clock()
        self._version = version("quotecast")
        self._outage = OutageLog(clock)

    async def run(self) -> None:
        """Reports without end; removes the report at the end."""
        try:
            while True:
                before = self._clock()
                await self._sleep(REPORT_SECONDS)
                await self.step(self._clock() - before)
        finally:
            try:
                await self._store.remove(self._process)
            except Exception as error:  # noqa: BLE001 - the report expires
                log.debug("could not remove report", error=str(error))

    async def step(self, seconds: float) -> None:
        """Reports once, `seconds` after the last time. Never raises."""
        try:
            parts = self._parts(seconds, max(0.0, seconds - REPORT_SECONDS))
            await self._store.put(
                Report(
                    id=self._process,
                    kind="api" if isinstance(parts, WorkerReport) else "ingest",
                    host=socket.gethostname()[:100],
                    pid=os.getpid(),
                    version=self._version,
                    started_at=self._started_at,
                    at=self._wall_clock(),
                    worker=parts if isinstance(parts, WorkerReport) else None,
                    ingest=parts if isinstance(parts, IngestReport) else None,
                )
            )
        except Exception as error:  # noqa: BLE001 - the page lacks this process, which goes on
            self._outage.log_failure("could not write the report for the operator's page", error=str(error))
        else:
            self._outage.log_end("reports for the operator's page are written again")
