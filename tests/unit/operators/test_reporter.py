"""A process's loop of reports."""

import asyncio
from typing import Any, cast

import pytest

from quotecast.operators.reports.model import Report, WorkerReport
from quotecast.operators.reports.reporter import REPORT_SECONDS, Reporter
from quotecast.operators.reports.store import ReportStore
from support.made.reports import worker_report


class Kept:
    """A store that keeps reports; it fails while `away`."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.removed: list[str] = []
        self.away = False

    async def put(self, report: Report) -> None:
        if self.away:
            raise TimeoutError
        self.reports.append(report)

    async def remove(self, process: str) -> None:
        self.removed.append(process)
        raise TimeoutError


class Time:
    """A clock whose sleeps take 0.1 s longer than asked; the fourth one never ends."""

    def __init__(self) -> None:
        self.now = 100.0
        self.sleeps = 0
        self.done = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.sleeps += 1
        if self.sleeps > 3:
            self.done.set()
            await asyncio.Event().wait()
        self.now += seconds + 0.1


async def test_report_comes_until_the_end() -> None:
    """The lag is that of the process's own timer; at the end the report goes, and Redis may be away."""
    store, time, lags = Kept(), Time(), []

    def make(seconds: float, lag: float) -> WorkerReport:
        lags.append((round(seconds, 3), round(lag, 3)))
        return worker_report(sockets=len(lags))

    reporter = Reporter(
        cast("ReportStore", store),
        "7-a",
        make,
        clock=lambda: time.now,
        wall_clock=lambda: 5.0,
        sleep=time.sleep,
    )
    running = asyncio.create_task(reporter.run())
    await time.done.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert lags == [(REPORT_SECONDS + 0.1, 0.1)] * 3
    assert [each.worker and each.worker.sockets for each in store.reports] == [1, 2, 3]
    assert store.removed == ["7-a"]


async def test_failure_ends_nothing() -> None:
    """Neither Redis nor a bug in a report is a reason for a process to end."""
    store = Kept()

    def broken(_seconds: float, _lag: float) -> Any:
        raise RuntimeError

    store.away = True
    await Reporter(cast("ReportStore", store), "7-a", lambda *_: worker_report()).step(2.0)
    await Reporter(cast("ReportStore", store), "7-a", broken).step(2.0)
    assert store.reports == []
