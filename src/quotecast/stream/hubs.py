"""The hubs of a worker: those of the live feeds, and of the delayed ones if plans have them.

Each has this machine's clocks and the hours of its feed's venue.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from quotecast.access.grant import Grant
from quotecast.errors import QuotecastError
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
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


_NO_HUBS: Final[Mapping[Feed, Hub]] = {}


class FeedHubs(Struct, frozen=True):
    """Hubs by feed; `delay_seconds` is how late the delayed ones are."""

    live: Mapping[Feed, Hub]
    delayed: Mapping[Feed, Hub] = _NO_HUBS
    delay_seconds: int = 0

    def of(self, grant: Grant | None) -> Mapping[Feed, Hub]:
        """Returns the hubs of the feeds that a client may have, as late as its plan says."""
        if grant is None:
            return self.live
        hubs = self.delayed if grant.plan.is_delayed else self.live
        return {feed: hub for feed, hub in hubs.items() if grant.has_feed(feed)}

    def refusals(self, grant: Grant | None) -> Mapping[str, str]:
        """Returns by feed why a client may not have it, in the words of its other refusals."""
        refused: dict[str, str] = {}
        if grant is None:
            return refused
        for feed in self.live:
            try:
                grant.require_feed(feed)
            except QuotecastError as refusal:
                refused[feed.spec.name] = str(refusal)
        return refused

    def lateness(self, grant: Grant | None) -> int:
        """Returns the seconds by which a client's quotes are late."""
        return self.delay_seconds if grant is not None and grant.plan.is_delayed else 0

    def named(self) -> dict[str, Hub]:
        """Returns all hubs by the name that metrics give them."""
        late = {f"{feed}-delayed": hub for feed, hub in self.delayed.items()}
        return {str(feed): hub for feed, hub in self.live.items()} | late
