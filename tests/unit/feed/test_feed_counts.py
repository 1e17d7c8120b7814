"""Statistics of the hub and of the relay."""

import pytest

from quotecast.bus.base import Batch, Message, Snapshot
from quotecast.bus.wire import encode_change
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.commands import Query
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.tiers import Connection
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, INFO, state_of, stock
from support.stages.feed_session import MarketSession

PUBLISHED = 1000.0


class Socket:
    """A socket that accepts every frame while it is free."""

    def __init__(self) -> None:
        self.length = 0
        self.frames = 0
        self.ready = True
        self.paused_at = 0.0

    def write(self, frame: Frame) -> None:
        self.frames += 1
        self.length += len(frame)


@pytest.fixture
def mirror() -> Mirror:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("AAPL"), stock("MSFT")]))
    mirror.heard_at = 100.0
    return mirror


def hub_at(mirror: Mirror, now: float) -> Hub:
    """Returns a hub with a fixed wall clock."""
    return Hub(
        mirror, heartbeat_seconds=15, clock=lambda: 100.0, wall_clock=lambda: now, market=lambda: "open"
    )


def joined(hub: Hub) -> Socket:
    socket = Socket()
    session = MarketSession(hub.mirror)
    session.greet(Query("all"))
    hub.join(Connection(session.feed, socket, lambda _: True))
    return socket


def batch(mirror: Mirror, seq: int | None = None) -> Batch:
    seq = mirror.mark.seq + 1 if seq is None else seq
    changes = [encode_change(stock("AAPL", 100.0 + seq))]
    return Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=changes, sent_at=PUBLISHED)


def test_frames_and_their_length_are_counted(mirror: Mirror) -> None:
    """The hub counts updates and heartbeats; a skipped connection adds none."""
    hub = hub_at(mirror, PUBLISHED)
    sockets = [joined(hub) for _ in range(3)]
    assert mirror.apply(batch(mirror))
    hub.tick(250)
    sockets[2].ready = False
    assert mirror.apply(batch(mirror))
    hub.tick(250)
    hub.sweep()
    counted = hub.statistics()
    assert counted["passed_over"] == 1
    assert counted["frames_sent"] == sum(socket.frames for socket in sockets)
    assert counted["length_sent"] == sum(socket.length for socket in sockets)


@pytest.mark.parametrize(("now", "age"), [(PUBLISHED + 0.25, 0.25), (PUBLISHED - 5, 0.0)])
def test_a_tick_tells_how_old_the_newest_batch_was(mirror: Mirror, now: float, age: float) -> None:
    """The hub observes one age for each tick; a clock behind the ingest's gives zero."""
    hub = hub_at(mirror, now)
    for _ in range(3):
        joined(hub)
    hub.tick(250)
    assert hub.ages.cumulative()[-1] == ("+Inf", 0)
    assert mirror.apply(batch(mirror))
    hub.tick(250)
    hub.tick(250)
    assert hub.ages.cumulative()[-1] == ("+Inf", 1)
    assert hub.ages.total == age


def test_a_load_is_of_no_age(mirror: Mirror) -> None:
    """A loaded state has no publication time, so the hub observes no age."""
    hub = hub_at(mirror, PUBLISHED)
    joined(hub)
    mirror.load(state_of([stock("AAPL", 5.0)], epoch="another"))
    hub.tick(250)
    assert hub.statistics()["frames_sent"] == 1
    assert hub.ages.cumulative()[-1] == ("+Inf", 0)


class NoReader:
    """A bus whose state equals the mirror."""

    async def load(self, feed: Feed, *, closings_after: int = 0) -> Snapshot:
        del closings_after
        return Snapshot(feed, EPOCH, 0, INFO, {})


@pytest.mark.parametrize(("now", "lag"), [(PUBLISHED + 0.5, 0.5), (PUBLISHED - 5, 0.0)])
async def test_the_bus_lag_is_from_publication_to_arrival(mirror: Mirror, now: float, lag: float) -> None:
    """The relay observes the lag of each batch, by feed."""
    reader: object = NoReader()
    relay = BusListener(reader, {Feed.STOCKS: mirror}, wall_clock=lambda: now)  # type: ignore[arg-type]  # all it asks
    message: Message = batch(mirror)
    await relay._take(message)
    assert relay.lags[Feed.STOCKS].cumulative()[-1] == ("+Inf", 1)
    assert relay.lags[Feed.STOCKS].total == lag
