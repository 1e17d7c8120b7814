"""The hub: fan-out of one feed."""

from typing import Any
from unittest.mock import Mock

import pytest
import structlog

from quotecast.bus.base import Batch
from quotecast.bus.wire import decode_quote, encode_change
from quotecast.close_codes import CloseCode
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import Command, Query
from quotecast.feed.encoding import Encoding
from quotecast.feed.frames import Limits
from quotecast.feed.grid import GRID
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.sse import EVENTS, unchunked
from quotecast.feed.tiers import Connection
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, state_of, stock, wire_epoch
from support.stages.feed_session import MarketSession, parsed


class Socket:
    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.ready = True
        self.paused_at = 0.0
        self.unsent = 0
        self.fails = False
        self.expelled: list[CloseCode] = []

    def write(self, frame: Frame) -> None:
        if self.fails:
            raise ValueError("no such frame")
        self.frames.append(frame)

    def expel(self, code: CloseCode) -> bool:
        if self.expelled:
            return False
        self.expelled.append(code)
        return True

    def last(self) -> dict[str, Any]:
        return parsed(self.frames)[-1]


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


def joined(hub: Hub, query: Query) -> tuple[Connection, Socket]:
    socket = Socket()
    session = MarketSession(hub.mirror)
    session.greet(query)
    connection = Connection(session.feed, socket, socket.expel)
    hub.join(connection)
    return connection, socket


def move(hub: Hub, ticker: str, price: float) -> None:
    change = encode_change(stock(ticker, price))
    assert hub.mirror.apply(
        Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=hub.mirror.mark.seq + 1, changes=[change])
    )


def test_equal_subscriptions_share_one_frame(hub: Hub) -> None:
    """Connections with equal subscriptions and cursors get the same frame object."""
    sockets = [joined(hub, Query("MSFT,AAPL"))[1], joined(hub, Query("aapl,MSFT"))[1]]
    everyone = [joined(hub, Query("all"))[1] for _ in range(2)]
    move(hub, "AAPL", 5.0)
    hub.tick(250)
    assert sockets[0].frames[-1] is sockets[1].frames[-1]
    assert everyone[0].frames[-1] is everyone[1].frames[-1]
    assert sockets[0].frames[-1].readers == 2


def test_unchanged_symbols_send_nothing(hub: Hub) -> None:
    """A tick without a change of its symbols sends a connection nothing."""
    _, socket = joined(hub, Query("MSFT"))
    hub.tick(250)
    move(hub, "AAPL", 5.0)
    hub.tick(250)
    assert socket.frames == []


def test_a_tick_serves_its_own_interval(hub: Hub) -> None:
    """A tick sends updates only to connections of its interval."""
    _, fast = joined(hub, Query("all", interval="100"))
    _, slow = joined(hub, Query("all", interval="1000"))
    move(hub, "AAPL", 5.0)
    hub.tick(100)
    assert (len(fast.frames), len(slow.frames)) == (1, 0)
    hub.tick(1000)
    assert (len(fast.frames), len(slow.frames)) == (1, 1)


def test_an_interval_without_connections_leaves_quotes_undecoded(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next tick that has a connection decodes a symbol once that moved three times."""
    _, socket = joined(hub, Query("all"))
    seq = hub.mirror.mark.seq
    decode = Mock(wraps=decode_quote)
    monkeypatch.setattr("quotecast.feed.arrivals.decode_quote", decode)
    for number, price in enumerate((2.0, 3.0, 4.0), 1):
        change = encode_change(stock("AAPL", price))
        hub.mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq + number, changes=[change]))
        hub.tick(100)
    assert decode.call_count == 0
    hub.tick(250)
    assert decode.call_count == 1
    assert socket.last()["data"][0]["price"] == 4.0


def test_a_busy_socket_gets_the_merged_newest_state_later(hub: Hub) -> None:
    """Three moves during a pending send become one item of the next update."""
    _, socket = joined(hub, Query("all"))
    move(hub, "AAPL", 1.0)
    hub.tick(250)
    socket.ready = False
    for price in (2.0, 3.0, 4.0):
        move(hub, "AAPL", price)
        hub.tick(250)
    assert len(socket.frames) == 1
    socket.ready = True
    hub.tick(250)
    assert [item["price"] for item in socket.last()["data"]] == [4.0]
    assert hub.statistics()["passed_over"] == 3


def test_hub_disconnects_a_slow_consumer_after_ten_seconds(hub: Hub, clock: Clock) -> None:
    """The hub closes a slow consumer with 4458 and leaves the others alone."""
    _, stuck = joined(hub, Query("all"))
    _, fine = joined(hub, Query("all"))
    move(hub, "AAPL", 1.0)
    hub.tick(250)
    stuck.ready, stuck.paused_at = False, clock.now
    clock.now += 10.0
    hub.sweep()
    assert stuck.expelled == []
    clock.now += 0.5
    hub.sweep()
    assert stuck.expelled == [CloseCode.SLOW]
    assert fine.expelled == []
    assert len(hub) == 1


def test_hub_disconnects_a_connection_that_fails_alone(hub: Hub, clock: Clock) -> None:
    """With 1011, once; the others get their updates and heartbeats."""
    _, broken = joined(hub, Query("all"))
    _, fine = joined(hub, Query("all"))
    broken.fails = True
    with structlog.testing.capture_logs() as logs:
        move(hub, "AAPL", 2.0)
        hub.tick(250)
        clock.now += 15
        hub.mirror.heard_at = clock.now
        hub.sweep()
    assert [frame["type"] for frame in parsed(fine.frames)] == ["update", "heartbeat"]
    assert broken.expelled == [CloseCode.INTERNAL_ERROR]
    assert [entry["event"] for entry in logs] == ["could not write to a feed's connection"]
    assert fine.expelled == []


def test_hub_lets_a_client_read_a_large_frame_in_its_own_time(hub: Hub, clock: Clock) -> None:
    """Ten seconds begin again whenever the socket has taken bytes."""
    _, slow = joined(hub, Query("all"))
    slow.ready, slow.paused_at = False, clock.now
    for slow.unsent in (900, 600, 300):
        hub.sweep()
        clock.now += 9.0
    hub.sweep()
    assert slow.expelled == []
    clock.now += 2.0
    hub.sweep()
    assert slow.expelled == [CloseCode.SLOW]


def test_hub_disconnects_a_client_that_reads_one_frame_for_two_minutes(hub: Hub, clock: Clock) -> None:
    """A client that takes a byte now and then does not hold a frame's memory indefinitely."""
    _, trickling = joined(hub, Query("all"))
    trickling.ready, trickling.paused_at = False, clock.now
    for trickling.unsent in range(1000, 880, -1):
        hub.sweep()
        assert trickling.expelled == []
        clock.now += 1.0
    clock.now += 0.5
    hub.sweep()
    assert trickling.expelled == [CloseCode.SLOW]


def test_heartbeats_come_when_due_and_at_once_when_the_feed_changes(hub: Hub, clock: Clock) -> None:
    """A heartbeat carries the connection's cursor, not the mirror's mark."""
    connection, socket = joined(hub, Query("all"))
    hub.sweep()
    assert socket.frames == []
    clock.now += 3.5
    hub.sweep()
    assert socket.last() == {
        "type": "heartbeat",
        "epoch": wire_epoch(),
        "seq": 1,
        "timestamp": "1970-01-01T00:00:00.000Z",
        "feed": "stale",
        "market": "open",
    }
    move(hub, "AAPL", 2.0)
    hub.mirror.heard_at = clock.now
    hub.sweep()
    assert (socket.last()["feed"], socket.last()["seq"]) == ("live", 1)
    hub.tick(250)
    hub.mirror.heard_at = clock.now = clock.now + 15
    hub.sweep()
    assert (socket.last()["feed"], socket.last()["seq"]) == ("live", 2)
    assert connection.session.subscription.mark.seq == 2


@pytest.mark.parametrize("encodings", [(GRID, EVENTS), (EVENTS, GRID)], ids=["grid first", "events first"])
def test_a_grid_and_an_event_stream_get_heartbeats_of_their_own(
    hub: Hub, clock: Clock, encodings: tuple[Encoding, Encoding]
) -> None:
    """Neither encoding has a subprotocol; the WebSocket ping of a grid is no chunk of an event stream."""
    sockets = {encoding: Socket() for encoding in encodings}
    for encoding, socket in sockets.items():
        session = ClientSession([hub.mirror], Limits(), encoding)
        hub.join(Connection(session.feeds["market"], socket, socket.expel))
    clock.now += 15
    hub.mirror.heard_at = clock.now
    hub.sweep()
    hub.mirror.heard_at = 0.0
    hub.sweep()
    assert [frame.plain for frame in sockets[GRID].frames] == [b"\x89\x00"] * 2
    comment, announcement = (unchunked(frame.plain) for frame in sockets[EVENTS].frames)
    assert comment.startswith(b": {")
    assert b"\ndata: {" in announcement


def test_client_that_joins_a_stale_feed_gets_a_heartbeat(hub: Hub, clock: Clock) -> None:
    """A client assumes a live feed, so the hub tells it about a stale one at once."""
    clock.now += 60
    _, socket = joined(hub, Query("all"))
    hub.sweep()
    assert socket.last()["feed"] == "stale"


def test_the_hub_keeps_out_while_a_command_is_answered(hub: Hub) -> None:
    """The hub sends nothing to a busy connection, so that the frames of an answer stay in order."""
    connection, socket = joined(hub, Query("all"))
    connection.busy = True
    move(hub, "AAPL", 2.0)
    hub.tick(250)
    hub.sweep()
    assert socket.frames == []


def test_a_changed_interval_moves_the_connection(hub: Hub) -> None:
    """After a change of the interval, only ticks of the new interval serve the connection."""
    connection, socket = joined(hub, Query("all"))
    hub.leave(connection)
    connection.session.obey(Command("subscribe", interval=1000))
    hub.enter(connection)
    move(hub, "AAPL", 2.0)
    hub.tick(250)
    assert socket.frames == []
    hub.tick(1000)
    assert len(socket.frames) == 1
    hub.leave(connection)
    assert len(hub) == 0


def heartbeats(socket: Socket) -> list[dict[str, Any]]:
    return [frame for frame in parsed(socket.frames) if frame["type"] == "heartbeat"]


def test_a_due_heartbeat_goes_with_the_tick(hub: Hub, clock: Clock) -> None:
    """A socket that is busy at every sweep gets its heartbeats with the ticks."""
    _, socket = joined(hub, Query("AAPL"))
    for step in range(40):
        clock.now += 0.5
        hub.mirror.heard_at = clock.now
        move(hub, "AAPL", 5.0 + step)
        socket.ready = True
        hub.tick(250)
        # The tick's frame is still pending at the sweep of the same moment.
        socket.ready, socket.paused_at = False, clock.now
        hub.sweep()
    assert len(heartbeats(socket)) == 1


def test_a_feed_that_is_live_again_says_so_at_the_next_tick(hub: Hub, clock: Clock) -> None:
    """A tick announces a feed that is live again, even without a change of a price."""
    _, socket = joined(hub, Query("AAPL"))
    clock.now += 10
    hub.sweep()
    hub.mirror.heard_at = clock.now
    hub.tick(250)
    assert [beat["feed"] for beat in heartbeats(socket)] == ["stale", "live"]


def test_a_quiet_feed_leaves_a_socket_alone_that_another_feed_keeps_busy(hub: Hub, clock: Clock) -> None:
    """Feeds may share a socket, so what counts is how long it has taken nothing."""
    _, socket = joined(hub, Query("AAPL"))
    clock.now += 60
    socket.ready, socket.paused_at = False, clock.now - 1
    hub.sweep()
    assert socket.expelled == []


def test_a_command_keeps_a_due_heartbeat(hub: Hub, clock: Clock) -> None:
    """A command takes the connection out of the hub for a moment."""
    connection, socket = joined(hub, Query("AAPL"))
    clock.now += 15
    hub.mirror.heard_at = clock.now
    hub.leave(connection)
    hub.enter(connection)
    hub.tick(250)
    assert len(heartbeats(socket)) == 1


def test_a_connection_may_have_heartbeats_of_its_own(hub: Hub, clock: Clock) -> None:
    """The others have the hub's interval."""
    _, usual = joined(hub, Query("MSFT"))
    connection, often = joined(hub, Query("MSFT"))
    hub.leave(connection)
    connection.heartbeat_seconds = 2
    hub.join(connection)
    for _ in range(3):
        clock.now += 2
        hub.mirror.heard_at = clock.now
        hub.sweep()
    assert (len(usual.frames), len(often.frames)) == (0, 3)
