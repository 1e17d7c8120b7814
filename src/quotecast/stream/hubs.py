"""The hubs of a worker: one per feed, with this machine's clocks and the hours of the feed's venue."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.market.sessions import actual_session_at


def hub_of(mirror: Mirror, heartbeat_ms: int, *, late_seconds: int = 0) -> Hub:
    """Returns a hub that fans the mirror out to the feed's clients, of a market that is late."""
    return Hub(
        mirror,
        heartbeat_seconds=heartbeat_ms / 1000,
        clock=time.monotonic,
        wall_clock=time.time,
        market=market_of(mirror, lambda: time.time() - late_seconds),
    )


def market_of(mirror: Mirror, clock: Callable[[], float]) -> Callable[[], str]:
    """Returns a function that says whether the venue of a feed is `open` or `closed`.

    It is open around the clock unless both the feed and its provider have hours.
    """

    def market() -> str:
        info = mirror.info
        if not mirror.feed.spec.has_closing_time or (info and info.always_open):
            return "open"
        session = actual_session_at(datetime.fromtimestamp(clock(), UTC), info.unscheduled if info else None)
        return "open" if session == "regular" else "closed"

    return market
