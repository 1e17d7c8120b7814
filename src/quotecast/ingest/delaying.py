"""The delayed feeds of an ingest, made from the settings, and their metrics."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from prometheus_client import Metric

from quotecast.bus.base import BusWriter
from quotecast.bus.kept import RedisKept
from quotecast.bus.redis import RedisBus
from quotecast.errors import BusError
from quotecast.ingest.delayed import publish_delayed
from quotecast.ingest.keep import FeedKeeper
from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.observe.metrics import counter, gauge
from quotecast.settings.model import Settings
from quotecast.settings.plans import delayed_prefix

#: Seconds between two trims of the delayed feeds' final bars: those of the live feeds are in PostgreSQL.
TRIM_SECONDS: Final = 60.0


class Delaying(Struct, frozen=True):
    """What keeps the feeds' messages, and what publishes them again when they are due."""

    keepers: Mapping[Feed, FeedKeeper]
    statistics: Mapping[Feed, IngestStatistics]
    #: Endless loops that the caller runs.
    loops: Sequence[Coroutine[Any, Any, None]]


NOT_DELAYING: Final = Delaying({}, {}, ())


@contextlib.asynccontextmanager
async def delaying(settings: Settings, bus: RedisBus, owner: str) -> AsyncIterator[Delaying]:
    """Gives the delayed feeds of the configured ones; none without a delay."""
    seconds, feeds = settings.delay_seconds, settings.configured_feeds()
    if not seconds:
        yield NOT_DELAYING
        return
    kept = RedisKept(settings.redis_url, settings.redis_prefix)
    late_bus = RedisBus(settings.redis_url, delayed_prefix(settings))
    keepers = {feed: FeedKeeper(feed, bus, kept, owner, seconds) for feed in feeds}
    statistics = {feed: IngestStatistics() for feed in feeds}
    loops: list[Coroutine[Any, Any, None]] = [keeper.run() for keeper in keepers.values()]
    loops += [
        publish_delayed(feed, kept, late_bus, owner, seconds, statistics=statistics[feed]) for feed in feeds
    ]
    try:
        yield Delaying(keepers, statistics, [*loops, _trim(late_bus, feeds)])
    finally:
        for feed in feeds:
            with contextlib.suppress(BusError):
                await late_bus.release(feed, owner)
        await late_bus.close()
        await kept.close()


async def _trim(bus: BusWriter, feeds: Sequence[Feed]) -> None:
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        for feed in feeds:
            with contextlib.suppress(BusError):
                await bus.trim_closings(feed, int(time.time()))


def families(made: Delaying) -> Iterator[Metric]:
    """Yields the metrics of the delayed feeds; none without a delay."""
    if not made.keepers:
        return
    keepers, late = made.keepers, made.statistics
    yield counter("kept_blocks", "Blocks kept for the delayed feed.", _by_feed(keepers, "blocks"), ["feed"])
    yield counter("kept_bytes", "Bytes kept for the delayed feed.", _by_feed(keepers, "bytes"), ["feed"])
    lost = _by_feed(keepers, "lost")
    yield counter("kept_lost_batches", "Batches published and not kept for the delayed feed.", lost, ["feed"])
    leads = _by_feed(late, "leading")
    yield gauge("delayed_lease_held", "1 while this ingest leads the delayed feed.", leads, ["feed"])
    batches = _by_feed(late, "batches")
    yield counter("delayed_batches", "Batches published on the delayed feed.", batches, ["feed"])


def _by_feed(parts: Mapping[Feed, object], field: str) -> dict[tuple[str], float]:
    return {(feed,): getattr(each, field) for feed, each in parts.items()}
