"""A worker's hubs: one for each feed, on this machine's clocks and in its venue's hours."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.market.sessions import actual_session_at


def hub_of(mirror: Mirror, heartbeat_ms: int) -> Hub:
    """Fans the mirror out."""
    return Hub(
        mirror,
        heartbeat_seconds=heartbeat_ms / 1000,
        clock=time.monotonic,
        wall_clock=time.time,
        market=market_of(mirror, time.time),
    )


def market_of(mirror: Mirror, clock: Callable[[], float]) -> Callable[[], str]:
    """Whether the venue of a feed is open: around the clock unless both feed and provider keep hours."""

    def market() -> str:
        info = mirror.info
        if not mirror.feed.spec.has_closing_time or (info and info.always_open):
            return "open"
        session = actual_session_at(datetime.fromtimestamp(clock(), UTC), info.unscheduled if info else None)
        return "open" if session == "regular" else "closed"

    return market
