"""A worker's hubs: one for each feed, on this machine's clocks and in its venue's hours."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.sessions import session_at


def hub_of(mirror: Mirror, heartbeat_ms: int) -> Hub:
    """Fans the mirror out."""
    return Hub(
        mirror,
        heartbeat_seconds=heartbeat_ms / 1000,
        clock=time.monotonic,
        wall_clock=time.time,
        market=_market_of(mirror),
    )


def _market_of(mirror: Mirror) -> Callable[[], str]:
    """Whether the venue of a feed is open: only stocks keep hours, and only where the provider does."""

    def market() -> str:
        keeps_hours = mirror.feed is Feed.STOCKS and not (mirror.info and mirror.info.always_open)
        closed = keeps_hours and session_at(datetime.now(UTC)) != "regular"
        return "closed" if closed else "open"

    return market
