"""Loops that wait for a task which somebody cancels: no loop ends unseen with it."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from quotecast.api.worker.lifetime import run_loops
from quotecast.background import run_beside
from quotecast.ingest.supervise import pump
from quotecast.market.feeds import Feed
from quotecast.providers.base import QuoteProvider, Update
from support.made.market import pair


async def wait_for_cancelled_task() -> None:
    task = asyncio.create_task(asyncio.Event().wait())
    asyncio.get_running_loop().call_soon(task.cancel)
    await task


class Upstream:
    """A QuoteProvider whose first connection waits for a task that somebody cancels."""

    feed = Feed.CRYPTO
    name = "cancelling"

    def __init__(self) -> None:
        self.connections = 0

    async def updates(self) -> AsyncGenerator[Update, None]:
        """See QuoteProvider."""
        self.connections += 1
        if self.connections == 1:
            await wait_for_cancelled_task()
        yield Update([pair("BTC/USDT", 100.0)])


async def test_worker_ends_with_a_loop_whose_task_was_cancelled() -> None:
    with pytest.raises(RuntimeError, match="a task that this one waited for was cancelled"):
        async with asyncio.timeout(60), run_loops(wait_for_cancelled_task()):
            await asyncio.Event().wait()


async def test_loops_of_a_worker_that_stops_are_cancelled_without_an_error() -> None:
    async with run_loops(cast("Any", asyncio.Event().wait())):
        pass


async def test_upstream_is_dialled_again_after_a_task_of_its_adapter_was_cancelled() -> None:
    upstream = Upstream()
    heard: asyncio.Queue[Update] = asyncio.Queue()

    async def no_pause(_: float) -> None:
        await asyncio.sleep(0)

    with capture_logs() as logs:
        feed = asyncio.create_task(pump(cast("QuoteProvider", upstream), heard.put_nowait, sleep=no_pause))
        async with asyncio.timeout(60):
            await heard.get()
        feed.cancel()
        with pytest.raises(asyncio.CancelledError):
            await feed
    assert upstream.connections > 1
    assert logs[0]["event"] == "provider failed"


async def test_end_of_work_beside_other_work_is_logged() -> None:
    with capture_logs() as logs:
        async with run_beside(wait_for_cancelled_task(), asyncio.Event().wait()):
            while not logs:  # noqa: ASYNC110 - no event tells of a line
                await asyncio.sleep(0)
    assert [line["event"] for line in logs] == [
        "background work ended: a task that it waited for was cancelled"
    ]
