"""Meters: what the connections of API keys got, whatever way a frame took."""

from collections.abc import Sequence

import pytest

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed.commands import Query
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.tiers import Connection
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, state_of, stock
from support.stages.feed_session import MarketSession


class Meter:
    """Sums of quotes and bytes."""

    def __init__(self) -> None:
        self.quotes = self.bytes = 0


class Socket:
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.ready = True
        self.paused_at = 0.0
        self.frames: list[Frame] = []

    def write(self, frame: Frame) -> None:
        self.frames.append(frame)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def hub(clock: Clock) -> Hub:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("AAPL"), stock("MSFT")]))
    mirror.heard_at = clock.now
    return Hub(mirror, heartbeat_seconds=15, clock=clock, wall_clock=lambda: 0.0, market=lambda: "open")


def join(hub: Hub, meter: Meter | None, symbols: str = "all") -> tuple[Connection, Socket]:
    socket, session = Socket(), MarketSession(hub.mirror)
    session.greet(Query(symbols))
    connection = Connection(session.feed, socket, lambda _: True, meter)
    hub.join(connection)
    return connection, socket


def move(hub: Hub, *tickers: str) -> None:
    seq = hub.mirror.mark.seq + 1
    changes = [encode_change(stock(ticker, 100.0 + seq)) for ticker in tickers]
    assert hub.mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=changes))
    hub.tick(250)


def assert_counted(meter: Meter, sockets: Sequence[Socket]) -> None:
    frames = [frame for socket in sockets for frame in socket.frames]
    assert (meter.quotes, meter.bytes) == (sum(each.items for each in frames), sum(map(len, frames)))
    assert meter.bytes


def test_connections_of_a_cohort_add_to_their_own_meters(hub: Hub) -> None:
    """Two keys and a client without one share each frame; each key gets the sum of its sockets."""
    mine, other = Meter(), Meter()
    sockets = {meter: [join(hub, meter)[1] for _ in range(2 + (meter is mine))] for meter in (mine, other)}
    join(hub, None)
    move(hub, "AAPL")
    move(hub, "AAPL", "MSFT")
    for meter, each in sockets.items():
        assert_counted(meter, each)


def test_a_slow_consumer_counts_what_it_gets(hub: Hub) -> None:
    """A straggler adds nothing while it misses updates, and its merged update once."""
    meter = Meter()
    sockets = [join(hub, meter)[1] for _ in range(2)]
    move(hub, "AAPL")
    sockets[0].ready = False
    move(hub, "AAPL")
    move(hub, "MSFT")
    sockets[0].ready = True
    move(hub, "AAPL")
    move(hub, "AAPL")
    assert len(sockets[0].frames) < len(sockets[1].frames)
    assert_counted(meter, sockets)


def test_a_closed_socket_adds_nothing_more(hub: Hub) -> None:
    """Another socket of the same key and cohort continues alone."""
    meter = Meter()
    (leaving, first), (_, second) = (join(hub, meter) for _ in range(2))
    move(hub, "AAPL")
    hub.leave(leaving)
    move(hub, "AAPL")
    assert (len(first.frames), len(second.frames)) == (1, 2)
    assert_counted(meter, [first, second])


def test_heartbeats_count(hub: Hub, clock: Clock) -> None:
    """A client sees a heartbeat as any other message."""
    meter = Meter()
    _, socket = join(hub, meter, "MSFT")
    hub.tick(250)
    clock.now += 15
    hub.mirror.heard_at = clock.now
    hub.sweep()
    assert len(socket.frames) == 1
    assert_counted(meter, [socket])
