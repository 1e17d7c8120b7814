"""Throughput and latency from the simulator to a worker's mirror.

As a program, `python -m benchmarks.bus URL SECONDS` follows the bus as a worker does and prints what
arrived.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import run

import uvloop

from benchmarks.contenders import folder, redis
from benchmarks.figures import OURS, Round
from benchmarks.processes import SERVER_CORE, running
from quotecast.bus.base import Batch, Message
from quotecast.bus.redis import RedisBus
from quotecast.feed.mirror import Mirror
from quotecast.feed.relay import Relay
from quotecast.market.feeds import Feed


def updates(seconds: float) -> Iterator[Round]:
    """Yields updates per second that reach the mirror when the simulator makes 100,000 a second."""
    while True:
        result = _follow(100_000, seconds)
        yield {OURS: result["updates"] / seconds, "holes": result["holes"]}


def lag(seconds: float) -> Iterator[Round]:
    """Yields the 99th percentile in ms from publishing to the mirror at 2,000 updates a second."""
    while True:
        yield {OURS: _follow(2000, seconds)["lag_p99"]}


def _follow(rate: int, seconds: float) -> dict[str, float]:
    with folder() as place, redis(place, core=None) as port:
        url = f"redis://127.0.0.1:{port}"
        settings = {
            "QUOTECAST_REDIS_URL": url,
            "QUOTECAST_SIMULATOR_RATE": str(rate),
            "QUOTECAST_SIMULATOR_HOURS": "always",
            "QUOTECAST_CRYPTO": "none",
            "QUOTECAST_DOVIZ": "none",
        }
        ingest = [sys.executable, "-m", "quotecast", "ingest"]
        with running(ingest, environment=settings, log=place / "ingest.log"):
            reader = [sys.executable, "-m", "benchmarks.bus", url, str(seconds)]
            result = run(
                ["taskset", "-c", str(SERVER_CORE), *reader],
                capture_output=True,
                check=True,
                cwd=Path(__file__).parent.parent,
            )
    found: dict[str, float] = json.loads(result.stdout)
    return found


class _Timed(RedisBus):
    """Notes the time at which the mirror has applied a batch: when the relay asks for the next message."""

    def __init__(self, url: str) -> None:
        super().__init__(url, "quotecast")
        self.lags: list[float] = []
        self.updates = 0

    @asynccontextmanager
    async def listen(self, feeds: Sequence[Feed]) -> AsyncIterator[AsyncIterator[Message | None]]:
        async with super().listen(feeds) as messages:
            yield self._note_times(messages)

    async def _note_times(self, messages: AsyncIterator[Message | None]) -> AsyncIterator[Message | None]:
        async for message in messages:
            yield message
            if isinstance(message, Batch):
                self.lags.append((time.time() - message.sent_at) * 1000)
                self.updates += len(message.changes)


async def _main(url: str, seconds: float) -> None:
    bus, mirror = _Timed(url), Mirror(Feed.STOCKS)
    relay = Relay(bus, {Feed.STOCKS: mirror})
    following = asyncio.create_task(relay.run())
    while not mirror.mark.epoch:  # noqa: ASYNC110 - a mirror tells nobody
        await asyncio.sleep(0.05)
    await asyncio.sleep(1)
    bus.lags.clear()
    before, bus.updates = relay.statistics(), 0
    await asyncio.sleep(seconds)
    after, lags = relay.statistics(), sorted(bus.lags)
    following.cancel()
    with suppress(asyncio.CancelledError):
        await following
    holes = after["reloads"] - before["reloads"]
    result = {"updates": bus.updates, "holes": holes, "lag_p99": lags[int(len(lags) * 0.99)]}
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    uvloop.run(_main(sys.argv[1], float(sys.argv[2])))
