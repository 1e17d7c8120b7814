"""The state of the feeds and of the exchange, as one answer."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from quotecast.api.parts import Parts
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.sessions import Session, actual_session_at, next_close, next_open, session_at


class FeedStatus(Struct, frozen=True, rename="camel"):
    """One feed: how fresh it is, who feeds it, and where it stands."""

    state: FeedState
    last_update: str | None
    symbols: int
    provider: str
    simulated: bool | None
    delay_seconds: float | None
    epoch: str | None
    seq: int


class MarketStatus(Struct, frozen=True, rename="camel", kw_only=True):
    """All feeds, and the New York Stock Exchange's hours."""

    status: Literal["running", "degraded", "down"]
    last_update: str | None
    market_open: bool
    session: Session
    next_open: str | None
    next_close: str | None
    timestamp: str
    feeds: dict[Feed, FeedStatus]

    def lasting(self) -> "MarketStatus":
        """Without the moment of asking: what stays equal while nothing changes."""
        return replace(self, timestamp="")


def market_status(parts: Parts) -> MarketStatus:
    """What this worker knows now, without asking anybody."""
    now = parts.clock()
    feeds = {feed: _feed_status(parts, parts.mirrors[feed]) for feed in parts.configured()}
    session, opening, closing = _exchange(parts.mirrors[Feed.STOCKS], now)
    updates = [feed.last_update for feed in feeds.values() if feed.last_update]
    return MarketStatus(
        status=_overall([feed.state for feed in feeds.values()]),
        last_update=max(updates, default=None),
        market_open=session == "regular",
        session=session,
        next_open=opening,
        next_close=closing,
        timestamp=iso_utc(now),
        feeds=feeds,
    )


def _feed_status(parts: Parts, mirror: Mirror) -> FeedStatus:
    info = mirror.info
    return FeedStatus(
        state=mirror.state(parts.monotonic()),
        last_update=info.last_update if info else None,
        symbols=len(mirror),
        provider=info.provider if info else parts.providers[mirror.feed],
        simulated=info.simulated if info else None,
        delay_seconds=info.delay_seconds if info else None,
        epoch=mirror.mark.epoch or None,
        seq=mirror.mark.seq,
    )


def _overall(states: list[FeedState]) -> Literal["running", "degraded", "down"]:
    if all(state == "down" for state in states):
        return "down"
    return "running" if all(state == "live" for state in states) else "degraded"


def _exchange(stocks: Mirror, now: float) -> tuple[Session, str | None, str | None]:
    """The session and the next opening and close; a market that never closes has neither."""
    if stocks.info is not None and stocks.info.always_open:
        return "regular", None, None
    special, moment = stocks.info and stocks.info.unscheduled, datetime.fromtimestamp(now, UTC)
    if special and special.applies_at(moment):
        opening, closing = special.next_open.timestamp(), special.next_close.timestamp()
        return actual_session_at(moment, special), iso_utc(opening), iso_utc(closing)
    return _calendar(int(now // 60))


@lru_cache(maxsize=2)
def _calendar(minute: int) -> tuple[Session, str, str]:
    """Likewise by the calendar, for the whole of a minute since 1970: sessions begin and end with one."""
    moment = datetime.fromtimestamp(minute * 60, UTC)
    opening, closing = next_open(moment), next_close(moment)
    return session_at(moment), iso_utc(opening.timestamp()), iso_utc(closing.timestamp())


EXAMPLE: Final = MarketStatus(
    status="running",
    last_update="2026-11-20T15:30:00.000Z",
    market_open=True,
    session="regular",
    next_open="2026-11-23T14:30:00.000Z",
    next_close="2026-11-20T21:00:00.000Z",
    timestamp="2026-11-20T15:30:00.250Z",
    feeds={
        feed: FeedStatus(
            state="live",
            last_update="2026-11-20T15:30:00.000Z",
            symbols=symbols,
            provider="simulator",
            simulated=True,
            delay_seconds=0.0,
            epoch="06a1f3c2b7",
            seq=4711,
        )
        for feed, symbols in ((Feed.STOCKS, 503), (Feed.CRYPTO, 120), (Feed.DOVIZ, 96))
    },
)
