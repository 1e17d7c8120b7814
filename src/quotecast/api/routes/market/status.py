"""The state of the feeds and of the exchange, as one answer."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from quotecast.api.market.services import MarketServices
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.sessions import Session, actual_session_at, next_close, next_open, session_at
from quotecast.providers.offer import Terms
from quotecast.providers.offers import terms_of


class FeedStatus(Struct, frozen=True, rename="camel"):
    """One feed: its freshness, its provider with its terms, and its position (epoch and seq)."""

    state: FeedState
    last_update: str | None
    symbols: int
    provider: str
    terms: Terms | None
    simulated: bool | None
    delay_seconds: float | None
    epoch: str | None
    seq: int


class MarketStatus(Struct, frozen=True, rename="camel", kw_only=True):
    """The state of all feeds, and the hours of the New York Stock Exchange."""

    status: Literal["running", "degraded", "down"]
    last_update: str | None
    market_open: bool
    session: Session
    next_open: str | None
    next_close: str | None
    timestamp: str
    feeds: dict[Feed, FeedStatus]

    def lasting(self) -> "MarketStatus":
        """Returns the status without its timestamp: equal while nothing changes."""
        return replace(self, timestamp="")


def market_status(services: MarketServices) -> MarketStatus:
    """Returns the status from this worker's mirrors, without I/O."""
    now = services.clock()
    feeds = {feed: _feed_status(services, services.mirrors[feed]) for feed in services.configured()}
    session, opening, closing = _exchange(services.mirrors[Feed.STOCKS], now)
    states = {feed.state for feed in feeds.values()}
    updates = [feed.last_update for feed in feeds.values() if feed.last_update]
    return MarketStatus(
        status="down" if states <= {"down"} else "running" if states == {"live"} else "degraded",
        last_update=max(updates, default=None),
        market_open=session == "regular",
        session=session,
        next_open=opening,
        next_close=closing,
        timestamp=iso_utc(now),
        feeds=feeds,
    )


def _feed_status(services: MarketServices, mirror: Mirror) -> FeedStatus:
    info = mirror.info
    provider = info.provider if info else services.providers[mirror.feed]
    return FeedStatus(
        state=mirror.state(services.monotonic()),
        last_update=info.last_update if info else None,
        symbols=len(mirror),
        provider=provider,
        terms=terms_of(provider),
        simulated=info.simulated if info else None,
        delay_seconds=info.delay_seconds if info else None,
        epoch=mirror.mark.epoch or None,
        seq=mirror.mark.seq,
    )


def _exchange(stocks: Mirror, now: float) -> tuple[Session, str | None, str | None]:
    """Returns the session, the next opening and the next close; no times for a market that never closes."""
    if stocks.info is not None and stocks.info.always_open:
        return "regular", None, None
    special, moment = stocks.info and stocks.info.unscheduled, datetime.fromtimestamp(now, UTC)
    if special and special.applies_at(moment):
        opening, closing = special.next_open.timestamp(), special.next_close.timestamp()
        return actual_session_at(moment, special), iso_utc(opening), iso_utc(closing)
    return _calendar(int(now // 60))


@lru_cache(maxsize=2)
def _calendar(minute: int) -> tuple[Session, str, str]:
    """Returns session, opening and close at a minute since 1970: sessions change on whole minutes."""
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
            terms=terms_of("simulator"),
            simulated=True,
            delay_seconds=0.0,
            epoch="06a1f3c2b7",
            seq=4711,
        )
        for feed, symbols in ((Feed.STOCKS, 503), (Feed.CRYPTO, 120), (Feed.DOVIZ, 96))
    },
)
