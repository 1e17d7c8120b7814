"""Parts of the service leave a demoted master behind one address, whose connections stay open."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from quotecast.access.rollup import Reserve
from quotecast.access.shared import SharedAccess
from quotecast.bus.kept import RedisKept
from quotecast.market.feeds import Feed
from quotecast.operators.reports.store import ReportStore
from support.made.reports import report
from support.runs.deadlines import scaled
from support.servers.fault_proxy import FaultProxy
from support.servers.sentinel_set import running_pair

pytestmark = pytest.mark.usefixtures("patient_redis", "patient_bus")


async def test_one_refused_call_brings_each_part_to_the_new_master() -> None:
    """What only reads leaves as well: a replica's data may end."""
    async with AsyncExitStack() as stack:
        pair = stack.enter_context(running_pair())
        proxy = stack.enter_context(
            FaultProxy(lambda: socket.create_connection(("127.0.0.1", pair.master.port)))
        )
        url = f"redis://127.0.0.1:{proxy.port}"
        reports = await stack.enter_async_context(ReportStore(url, "t"))
        reserve = await stack.enter_async_context(Reserve(url, "t"))
        shared = await stack.enter_async_context(SharedAccess(url, "t", budget=scaled(5)))
        kept = RedisKept(url, "t")
        stack.push_async_callback(kept.close)
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: reports.put(report("1-a")),
            lambda: reserve.store("worker", []),
            lambda: shared.add_ticket("ticket", "key"),
            lambda: kept.released(Feed.STOCKS, "", 0),
        ]
        for call in calls:
            await call()
        await asyncio.to_thread(pair.swap)
        for call in calls:
            with pytest.raises(Exception, match=r"read only|not available"):
                await call()
            await call()
