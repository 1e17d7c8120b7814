"""The worker's clockwork: ticks each interval of every hub, and sweeps them twice a second."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from quotecast.feed.commands import INTERVALS
from quotecast.feed.hub import Hub

SWEEP_SECONDS: Final = 0.5


async def run(hubs: Iterable[Hub]) -> None:
    """Runs for ever."""
    served = tuple(hubs)
    async with asyncio.TaskGroup() as tasks:
        for interval in INTERVALS:
            steps = [partial(hub.tick, interval) for hub in served]
            tasks.create_task(_every(interval / 1000, steps))
        tasks.create_task(_every(SWEEP_SECONDS, [hub.sweep for hub in served]))


async def _every(seconds: float, steps: Sequence[Callable[[], None]]) -> None:
    """Keeps to the grid of the loop's clock; a late tick is not followed by a hurried one."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(seconds - loop.time() % seconds)
        for step in steps:
            step()
