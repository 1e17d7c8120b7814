"""`python -m benchmarks.reload URL`: a worker's load of the stocks at its start, and again after a gap.

Prints milliseconds as JSON: of both loads, and of the longest CPU time in which the event loop served nobody
else meanwhile.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import uvloop
from msgspec import Struct, convert

from benchmarks.processes import SERVER_CORE
from quotecast.bus.base import Batch, Message
from quotecast.bus.redis import RedisBus
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.mirror import Mirror
from quotecast.garbage import freeze_present_objects
from quotecast.market.feeds import Feed

GAPS: Final = 5


class ReloadResult(Struct):
    """Milliseconds; of gaps the median of loads, and the longest block of all."""

    symbols: int
    start: float
    start_block: float
    gap: float
    gap_block: float


def measure_reloads(url: str) -> ReloadResult:
    """Runs the program, on the core of the workers."""
    command = ["taskset", "-c", str(SERVER_CORE), sys.executable, "-m", "benchmarks.reload", url]
    place = Path(__file__).parent.parent
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=place).stdout
    return convert(json.loads(output), ReloadResult)


class Blocks:
    """The longest CPU time in milliseconds in which the event loop did nothing else."""

    def __init__(self) -> None:
        self.longest = 0.0

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Watches inside `async with`."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()

    async def _watch(self) -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.longest = max(self.longest, (now - before) * 1000)
            before = now


class _Timed(BusListener):
    """Times the loads of a state."""

    def __init__(self, bus: RedisBus, mirror: Mirror) -> None:
        super().__init__(bus, {Feed.STOCKS: mirror})
        self.took: list[float] = []
        self.loses = False

    async def _take(self, message: Message) -> None:
        if self.loses and isinstance(message, Batch):
            self.loses = False
            return
        await super()._take(message)

    async def _load_state(self, mirror: Mirror) -> None:
        began = time.perf_counter()
        await super()._load_state(mirror)
        self.took.append((time.perf_counter() - began) * 1000)


async def _main(url: str) -> None:
    mirror, first, later = Mirror(Feed.STOCKS), Blocks(), Blocks()
    bus = RedisBus(url, "quotecast")
    relay = _Timed(bus, mirror)
    async with first.watched():
        following = asyncio.create_task(relay.run())
        while not mirror.loaded:  # noqa: ASYNC110 - a mirror tells nobody
            await asyncio.sleep(0)
    freeze_present_objects()
    for _ in range(GAPS):
        count = len(relay.took)
        # A reader asks for the newest state four times a second.
        for _ in range(4):
            await asyncio.sleep(0.25)
            mirror.mark  # noqa: B018 - decodes what has arrived
        async with later.watched():
            relay.loses = True  # the next batch
            while len(relay.took) == count:  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0)
    start, *gaps = relay.took
    result = {
        "symbols": len(mirror),
        "start": start,
        "start_block": first.longest,
        "gap": sorted(gaps)[len(gaps) // 2],
        "gap_block": later.longest,
    }
    following.cancel()
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    uvloop.run(_main(sys.argv[1]))
