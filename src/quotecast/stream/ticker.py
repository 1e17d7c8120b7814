"""The worker's timers: each interval of every hub ticks, and each hub is swept twice a second."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final

from quotecast.feed.commands import INTERVALS
from quotecast.feed.hub import Hub

SWEEP_SECONDS: Final = 0.5


async def run(hubs: Iterable[Hub]) -> None:
    """Ticks and sweeps the hubs indefinitely; an interval without connections rests."""
    served = tuple(hubs)
    entered = asyncio.Event()
    for hub in served:
        hub.on_enter = entered.set

    async def wait_until(is_needed: Callable[[], bool]) -> None:
        while not is_needed():
            entered.clear()
            await entered.wait()

    async with asyncio.TaskGroup() as tasks:
        for interval in INTERVALS:
            steps = [partial(hub.tick, interval) for hub in served]
            is_served = partial(_any_serves, served, interval)
            tasks.create_task(_every(interval / 1000, steps, partial(wait_until, is_served)))
        sweeps = [hub.sweep for hub in served]
        tasks.create_task(_every(SWEEP_SECONDS, sweeps, partial(wait_until, lambda: any(map(len, served)))))


def _any_serves(hubs: Iterable[Hub], interval: int) -> bool:
    return any(hub.serves(interval) for hub in hubs)


async def _every(
    seconds: float, steps: Sequence[Callable[[], None]], wait_for_clients: Callable[[], Awaitable[None]]
) -> None:
    """Runs the steps at multiples of `seconds` on the loop's clock, while `wait_for_clients` returns at once.

    After steps that took longer than the interval the next ones follow at a quarter of it: at once would
    leave no time to other tasks, and the next multiple would waste half of the time.
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
