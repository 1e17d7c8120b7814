"""Throughput and latency from ingest to a worker's mirror.

As a program, `python -m benchmarks.bus URL SECONDS` follows the bus as a worker does and prints what
arrived; with the word `lag` at the end it reads each change at once.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from subprocess import PIPE, run
from typing import Final

import uvloop

from benchmarks.contenders import folder, redis
from benchmarks.figures import OURS, Round
from benchmarks.processes import SERVER_CORE, running
from quotecast.bus.base import Batch, Message
from quotecast.bus.redis import RedisBus
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.commands import INTERVALS
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed

LAG: Final = "lag"


def updates(seconds: float) -> Iterator[Round]:
    """Yields updates per second that a worker takes in from a prepared publisher; none after a hole.

    Meanwhile the worker reads all changes as often as its clients can want them.
    """
    while True:
        result = _follow("flood", seconds)
        per_second = 0.0 if result["holes"] else result["updates"] / seconds
        yield {OURS: per_second, "holes": result["holes"], "share of a core": result["cpu"] / seconds}


def quiet_lag(seconds: float) -> Iterator[Round]:
    """Yields the 99th percentile in ms from the upstream to the mirror: 200 updates, ten times a second."""
    while True:
        yield {OURS: _follow("bursts", seconds, LAG)["lag_p99"]}


def busy_lag(seconds: float) -> Iterator[Round]:
    """Yields the same of 2,000 updates a second that come one by one."""
    while True:
        yield {OURS: _follow("steady", seconds, LAG)["lag_p99"]}


def _follow(shape: str, seconds: float, *words: str) -> dict[str, float]:
    with folder() as place, redis(place, core=None) as port:
        url = f"redis://127.0.0.1:{port}"
        ingest = [sys.executable, "-m", "benchmarks.prepared", url, shape]
        with running(ingest, log=place / "ingest.log"):
            reader = [sys.executable, "-m", "benchmarks.bus", url, str(seconds), *words]
            result = run(
                ["taskset", "-c", str(SERVER_CORE), *reader],
                stdout=PIPE,
                check=True,
                cwd=Path(__file__).parent.parent,
            )
    found: dict[str, float] = json.loads(result.stdout)
    return found


class _Measured(RedisBus):
    """Counts updates, and reads a batch when the mirror has it: the relay then asks for the next message."""

    def __init__(self, url: str, mirror: Mirror, *, lag: bool) -> None:
        super().__init__(url, "quotecast")
        self.lags: list[float] = []
        self.updates = 0
        self._mirror = mirror
        self._lag = lag
        self._revision = 0

    @asynccontextmanager
    async def listen(self, feeds: Sequence[Feed]) -> AsyncIterator[AsyncIterator[Message | None]]:
        async with super().listen(feeds) as messages:
            yield self._measure(messages)

    async def read_often(self) -> None:
        """Reads the changes at each tick of the shortest interval."""
        while True:
            await asyncio.sleep(INTERVALS[0] / 1000)
            self._mirror.changes_since(self._revision)
            self._revision = self._mirror.mark.revision

    async def _measure(self, messages: AsyncIterator[Message | None]) -> AsyncIterator[Message | None]:
        async for message in messages:
            yield message
            if isinstance(message, Batch):
                self.updates += len(message.changes)
                if self._lag:
                    self._note_lags()

    def _note_lags(self) -> None:
        changed = self._mirror.changes_since(self._revision)
        now, self._revision = time.time(), self._mirror.mark.revision
        times = [entry.quote.timestamp for entry in changed if entry.quote is not None]
        self.lags += [
            (now - datetime.fromisoformat(each).timestamp()) * 1000 for each in times if each is not None
        ]


async def _main(url: str, seconds: float, *, lag: bool) -> None:
    mirror = Mirror(Feed.STOCKS)
    bus = _Measured(url, mirror, lag=lag)
    relay = BusListener(bus, {Feed.STOCKS: mirror})
    tasks = [asyncio.create_task(relay.run())]
    while not mirror.mark.epoch:  # noqa: ASYNC110 - a mirror tells nobody
        await asyncio.sleep(0.05)
    if not lag:
        tasks.append(asyncio.create_task(bus.read_often()))
    await asyncio.sleep(1)
    bus.lags.clear()
    before, used, bus.updates = relay.statistics(), time.process_time(), 0
    await asyncio.sleep(seconds)
    after, used, lags = relay.statistics(), time.process_time() - used, sorted(bus.lags)
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    result = {
        "updates": bus.updates,
        "holes": after["reloads"] - before["reloads"],
        "cpu": used,
        "lag_p99": lags[int(len(lags) * 0.99)] if lags else 0.0,
    }
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    uvloop.run(_main(sys.argv[1], float(sys.argv[2]), lag=LAG in sys.argv))
