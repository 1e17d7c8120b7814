"""The worker's clockwork: ticks each interval of every hub, and sweeps them twice a second."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final

from quotecast.feed.commands import INTERVALS
from quotecast.feed.hub import Hub

SWEEP_SECONDS: Final = 0.5


async def run(hubs: Iterable[Hub]) -> None:
    """Runs for ever; rests while nobody is connected."""
    served = tuple(hubs)
    joined = asyncio.Event()
    for hub in served:
        hub.on_join = joined.set

    async def wait_for_clients() -> None:
        if not any(map(len, served)):
            joined.clear()
            await joined.wait()

    async with asyncio.TaskGroup() as tasks:
        for interval in INTERVALS:
            steps = [partial(hub.tick, interval) for hub in served]
            tasks.create_task(_every(interval / 1000, steps, wait_for_clients))
        tasks.create_task(_every(SWEEP_SECONDS, [hub.sweep for hub in served], wait_for_clients))


async def _every(
    seconds: float, steps: Sequence[Callable[[], None]], wait_for_clients: Callable[[], Awaitable[None]]
) -> None:
    """Keeps to the grid of the loop's clock, once there is wait_for_clients.

    After a tick that took longer than its interval the next is at a quarter of the grid: at once it would
    leave no time to anybody else, and at the next point of the grid half of the time would be lost.
    """
    loop = asyncio.get_running_loop()
    grid = seconds
    while True:
        await wait_for_clients()
        await asyncio.sleep(grid - loop.time() % grid)
        began = loop.time()
        for step in steps:
            step()
        grid = seconds if loop.time() - began < seconds else seconds / 4
