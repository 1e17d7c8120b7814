"""The cohorts of an interval: a tick serves those whose symbols changed, and no other is behind."""

import random
from collections.abc import Sequence

import pytest

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.close_codes import CloseCode
from quotecast.feed.commands import Query
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.subscription import Subscription
from quotecast.feed.tiers import Connection
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, state_of, stock, wire_epoch
from support.stages.feed_session import MarketSession, parsed

SYMBOLS = [f"T{number:02}" for number in range(40)]


class Socket:
    """Merges what it receives, as clients do."""

    def __init__(self) -> None:
        self.ready = True
        self.paused_at = 0.0
        self.prices: dict[str, float] = {}
        self.cursor = ("", 0)
        self.heard = 0

    def write(self, frame: Frame) -> None:
        """Merges a frame."""
        self.heard += 1
        (message,) = parsed([frame])
        self.prices |= {item["ticker"]: item["price"] for item in message.get("data", [])}
        self.cursor = message["epoch"], message["seq"]

    def expel(self, _code: CloseCode) -> bool:
        return True


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
    mirror.load(state_of([stock(symbol) for symbol in SYMBOLS]))
    mirror.heard_at = clock.now
    return Hub(mirror, heartbeat_seconds=15, clock=clock, wall_clock=lambda: 0.0, market=lambda: "open")


def join(hub: Hub, symbols: Sequence[str]) -> tuple[Connection, Socket]:
    socket, session = Socket(), MarketSession(hub.mirror)
    for frame in session.greet(Query(",".join(symbols)))[2:]:
        socket.write(frame)
    connection = Connection(session.feed, socket, socket.expel)
    hub.join(connection)
    return connection, socket


def move(hub: Hub, ticker: str, price: float) -> None:
    seq = hub.mirror.mark.seq + 1
    batch = Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=[encode_change(stock(ticker, price))])
    assert hub.mirror.apply(batch)


def test_tick_advances_only_the_lists_that_changed(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred thousand lists that do not move must cost a tick nothing."""
    for number in range(30):
        join(hub, SYMBOLS[number : number + 3])
    hub.tick(250)
    advanced: list[frozenset[str]] = []
    advance = Subscription.advance

    def noted(subscription: Subscription) -> list[Frame]:
        advanced.append(subscription.keys)
        return advance(subscription)

    monkeypatch.setattr(Subscription, "advance", noted)
    move(hub, "T05", 7.0)
    hub.tick(250)
    assert sorted(map(sorted, advanced)) == [SYMBOLS[number : number + 3] for number in (3, 4, 5)]


def test_heartbeat_of_a_quiet_list_has_the_cursor_of_the_last_tick(hub: Hub, clock: Clock) -> None:
    """Else a client that comes back after a quiet hour would get a resync."""
    _, quiet = join(hub, ["T00"])
    _, other = join(hub, ["T01"])
    hub.tick(250)
    for price in (3.0, 4.0):
        move(hub, "T01", price)
        hub.tick(250)
    move(hub, "T00", 9.0)
    clock.now += 15
    hub.mirror.heard_at = clock.now
    hub.sweep()
    assert quiet.cursor == other.cursor == (wire_epoch(), 3)
    hub.tick(250)
    assert (quiet.prices["T00"], quiet.cursor) == (9.0, (wire_epoch(), 4))


def test_a_list_that_leaves_takes_the_cursor_of_the_last_tick(hub: Hub) -> None:
    """A command takes a connection out of its cohort for a moment."""
    connection, _ = join(hub, ["T00"])
    hub.tick(250)
    move(hub, "T01", 3.0)
    hub.tick(250)
    move(hub, "T01", 4.0)
    assert hub.mirror.mark.seq == 3
    hub.leave(connection)
    assert connection.session.subscription.mark.seq == 2


def test_every_copy_is_right_whoever_comes_and_goes(hub: Hub) -> None:
    """Lists of any overlap, clients that pause, and lists whose last member left."""
    chance = random.Random(24)
    clients: list[tuple[Connection, Socket, list[str]]] = []
    lists = [chance.sample(SYMBOLS, chance.randrange(1, 6)) for _ in range(12)]
    for step in range(600):
        match chance.randrange(6):
            case 0 if len(clients) < 25:
                wanted = chance.choice(lists)
                clients.append((*join(hub, wanted), wanted))
            case 1 if clients:
                gone, _, _ = clients.pop(chance.randrange(len(clients)))
                hub.leave(gone)
            case 2 if clients:
                socket = chance.choice(clients)[1]
                socket.ready = not socket.ready
            case 3:
                for _ in range(chance.choice([1, 1, 30])):
                    move(hub, chance.choice(SYMBOLS), float(step + 1))
            case _:
                hub.tick(250)
                for _, socket, wanted in clients:
                    if socket.ready:
                        newest = {each: quote.price for each, quote in hub.mirror.quotes().items()}
                        assert socket.prices == {each: newest[each] for each in wanted}
