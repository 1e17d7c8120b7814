"""The delayed feeds of a worker: mirrors of their bus, and hubs for the clients of delayed plans."""

import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from quotecast.api.views.delayed import DelayedMarket
from quotecast.bus.redis import RedisBus
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.documents import Documents
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.settings.model import Settings
from quotecast.settings.plans import delayed_prefix
from quotecast.stream.hubs import hub_of


class DelayedFeeds(Struct, frozen=True):
    """The delayed market, its hubs, and the endless loops that the worker runs for them."""

    market: DelayedMarket | None
    hubs: Mapping[Feed, Hub]
    loops: Sequence[Coroutine[Any, Any, None]]


@contextlib.asynccontextmanager
async def delayed_feeds(settings: Settings, feeds: Iterable[Feed]) -> AsyncIterator[DelayedFeeds]:
    """Gives the delayed feeds of the configured ones; none without a delay."""
    seconds = settings.delay_seconds
    if not seconds:
        yield DelayedFeeds(None, {}, ())
        return
    bus = RedisBus(settings.redis_url, delayed_prefix(settings))
    mirrors, documents = {feed: Mirror(feed) for feed in Feed}, Documents()
    hubs = {feed: hub_of(mirrors[feed], settings.heartbeat_ms, late_seconds=seconds) for feed in feeds}
    relay = BusListener(bus, {feed: hub.mirror for feed, hub in hubs.items()}, documents)
    try:
        yield DelayedFeeds(DelayedMarket(mirrors, documents, seconds), hubs, [relay.run()])
    finally:
        await bus.close()
