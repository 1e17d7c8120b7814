"""A leader, its delayed feed and a worker's mirror of it in one process; time passes at once.

The price of each quote is the time of its publication, so whatever shows a price tells how late it is.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from quotecast.feed.bus_listener import BusListener
from quotecast.feed.mirror import Mirror
from quotecast.ingest import lease
from quotecast.ingest.delaying import FeedKeeper, publish_delayed
from quotecast.ingest.publish import FeedPublisher, IngestStatistics
from quotecast.market.feeds import Feed
from support.made.kept import MemoryKept
from support.made.market import pair
from support.runs import virtual_time
from support.stages.following import ScriptedProvider
from support.stages.region import Region

FEED = Feed.CRYPTO
DELAY = 120
#: 2026-11-20T15:00:00Z.
NOON = 1_795_186_800.0
SYMBOLS = tuple(f"C{number}/USDT" for number in range(20))


def now() -> float:
    return asyncio.get_running_loop().time()


class Upstream(ScriptedProvider):
    feed = FEED
    silence_seconds = 1e9


class DelayedStage:
    """The parts, each of which the test may stop, lose and start again."""

    def __init__(self, seed: int = 1) -> None:
        self.random = Random(seed)
        self.bus, self.late_bus = Region(), Region()
        self.kept = MemoryKept(now)
        self.keeper = FeedKeeper(FEED, self.bus, self.kept, "leader", DELAY, clock=now)
        self.upstream = Upstream()
        self.mirror = Mirror(FEED)
        self.deliveries = 0
        #: Prices by symbol, as published: the time of each change.
        self.published: dict[str, list[float]] = {symbol: [] for symbol in SYMBOLS}
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    def start(self, *names: str) -> None:
        makes: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
            "leader": self._lead,
            "keeper": self.keeper.run,
            "delayed": lambda: publish_delayed(
                FEED, self.kept, self.late_bus, "late", DELAY, statistics=IngestStatistics(), clock=now
            ),
            "worker": self._work,
        }
        for name in names or makes:
            assert name not in self._tasks
            self._tasks[name] = asyncio.create_task(makes[name]())

    async def stop(self, *names: str) -> None:
        for name in names or [*self._tasks]:
            task = self._tasks.pop(name)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def pass_time(self, seconds: float) -> None:
        """Changes quotes at random for a while, and checks the delayed mirror after each step."""
        until = now() + seconds
        while now() < until:
            await asyncio.sleep(self.random.uniform(0.2, 3.0))
            names = self.random.sample(SYMBOLS, self.random.randint(1, 5))
            for name in names:
                self.published[name].append(now())
            self.upstream.send(*(pair(name, 1.0 + now()) for name in names))
            self.check()

    def check(self) -> None:
        """Fails if the mirror, the delayed bus or its bars show what is younger than the delay."""
        latest = 1.0 + now() - DELAY
        for key, quote in self.mirror.quotes().items():
            self.deliveries += 1
            assert quote.price <= latest, f"{key} leaked {quote.price - latest} s"
        for entry in self.mirror.live():
            minute = entry.progress.minute if entry.progress else None
            assert minute is None or minute.high <= latest
        for message in self.late_bus.sent:
            for closing in getattr(message, "closings", ()):
                assert all(bar.high <= latest for bars in closing.bars.values() for bar in bars.values())
        self.late_bus.sent.clear()

    def lateness(self) -> float:
        """Returns the seconds from the newest price that is due to the newest one that the mirror has."""
        due = max(each for times in self.published.values() for each in times if each <= now() - DELAY)
        shown = max((quote.price - 1.0 for quote in self.mirror.quotes().values()), default=float("-inf"))
        return due - shown

    async def _lead(self) -> None:
        while True:
            await lease.acquire(self.bus, FEED, "leader")
            publisher = FeedPublisher(
                self.upstream, self.bus, "leader", clock=lambda: NOON + now(), sinks=[self.keeper]
            )
            await asyncio.create_task(publisher.run())

    async def _work(self) -> None:
        relay = BusListener(self.late_bus, {FEED: self.mirror}, clock=now, wall_clock=lambda: NOON + now())
        await relay.run()


def on_delayed_stage(test: Callable[[DelayedStage], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Runs a test on a stage of which everything runs."""

    def run() -> None:
        async def play() -> None:
            stage = DelayedStage()
            stage.start()
            with contextlib.suppress(asyncio.CancelledError):
                await test(stage)
            await stage.stop()

        virtual_time.run(play())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run
