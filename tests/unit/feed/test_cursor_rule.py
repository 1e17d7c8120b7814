"""The main rule of the feeds: after any sequence of events, a client has the mirror's state."""

import json

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from quotecast.bus.base import Batch, Snapshot
from quotecast.feed.commands import Query
from quotecast.feed.encoding import ENCODINGS, JSON, Encoding, Frame
from quotecast.feed.frames import Limits
from quotecast.feed.hub import Connection, Hub
from quotecast.feed.mirror import Mirror, QuoteEntry
from quotecast.feed.session import FeedSession, is_ahead
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote
from quotecast.providers.base import Update
from support.market_made import INFO, stock
from support.merging_client import MergingClient
from support.unreadable import KINDS, with_unreadable_quote

SYMBOLS = ("A", "B", "C", "D", "E")
symbols = st.sampled_from(SYMBOLS)
sectors = st.sampled_from(["Energy", "Materials"])
names = symbols | sectors.map("sector:{}".format)
name_lists = st.lists(names, min_size=1, max_size=3, unique=True)


class Socket:
    """A socket that accepts one frame at a time; while stuck, its send stays pending."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self.client = MergingClient(subprotocol=encoding.subprotocol)
        self.stuck = False

    def send(self, frame: Frame) -> "Socket":
        self.client.take(frame)
        return self

    def done(self) -> bool:
        return not self.stuck


class Worker:
    def __init__(self, time: list[float]) -> None:
        self.mirror = Mirror(Feed.STOCKS)
        clock = lambda: time[0]  # noqa: E731 - the machine's own time, read late
        self.hub = Hub(
            self.mirror, heartbeat_seconds=15, clock=clock, wall_clock=clock, market=lambda: "open"
        )


class Feeds(RuleBasedStateMachine):
    """One ingest, two workers, and a client that connects, disconnects, stalls and changes workers."""

    @initialize()
    def start(self) -> None:
        self.time = [0.0]
        self.ledger = Ledger(Feed.STOCKS)
        self.ledger.take(Update([stock(symbol, 1.0) for symbol in "ABC"]))
        self.epochs = 0
        self.workers = [Worker(self.time), Worker(self.time)]
        self.stored: Snapshot | None = None
        self.takeover()
        self.at = self.workers[0]
        self.connect("all", JSON)

    @rule(symbol=symbols, price=st.integers(1, 9))
    def move(self, symbol: str, price: int) -> None:
        self.ledger.take(Update([stock(symbol, float(price))]))

    @rule(symbol=symbols, name=st.sampled_from(["One", "Two"]), sector=sectors)
    def rename(self, symbol: str, name: str, sector: str) -> None:
        self.ledger.take(Update([stock(symbol, 5.0, name=name, sector=sector)]))

    @rule(symbol=symbols)
    def remove(self, symbol: str) -> None:
        self.ledger.take(Update(removed=[symbol]))

    @rule(heard=st.lists(st.booleans(), min_size=2, max_size=2))
    def publish(self, heard: list[bool]) -> None:
        """Publishes a batch; a worker that misses it finds a gap later."""
        if self.ledger.waiting:
            batch = self.next_batch()
            for worker, hears in zip(self.workers, heard, strict=True):
                if hears:
                    self.deliver(worker, batch)

    @rule(symbol=symbols, kind=st.sampled_from(KINDS), heard=st.lists(st.booleans(), min_size=2, max_size=2))
    def publish_unreadable(self, symbol: str, kind: str, heard: list[bool]) -> None:
        """Publishes a batch with a quote that workers cannot decode; it is a gap to them."""
        if self.ledger.waiting:
            batch = with_unreadable_quote(self.next_batch(), kind, symbol)
            for worker, hears in zip(self.workers, heard, strict=True):
                if hears:
                    self.deliver(worker, batch)

    def next_batch(self) -> Batch:
        assert self.stored is not None
        batch, entries = self.ledger.next_batch(0.0)
        merged = {**self.stored.entries, **entries}
        self.stored = Snapshot(Feed.STOCKS, batch.epoch, batch.seq, INFO, merged)
        return batch

    def deliver(self, worker: Worker, batch: Batch) -> None:
        if not worker.mirror.apply(batch):
            assert self.stored is not None
            worker.mirror.load(self.stored)

    @rule()
    def takeover(self) -> None:
        self.epochs += 1
        self.stored = self.ledger.begin(f"{self.epochs:020x}", INFO)
        self.heal()

    @rule()
    def heal(self) -> None:
        assert self.stored is not None
        for worker in self.workers:
            worker.mirror.load(self.stored)

    @rule(wanted=st.one_of(st.just("all"), name_lists.map(",".join)), encoding=st.sampled_from(ENCODINGS))
    def connect(self, wanted: str, encoding: Encoding) -> None:
        self.socket = Socket(encoding)
        self.open(Query(symbols=wanted))

    @rule(worker=st.integers(0, 1))
    def resume_elsewhere(self, worker: int) -> None:
        """Reconnects the client, perhaps to another worker, with the names that its cursor covers."""
        client = self.socket.client
        wanted = client.wanted
        self.at.hub.leave(self.connection)
        self.at = self.workers[worker]
        self.socket.stuck = False
        if is_ahead(self.at.mirror, client.since):
            self.heal()  # the stream waits for this before it answers
        self.open(Query(symbols=client.names_to_resume, since=client.since))
        client.drop_unwanted()
        if missing := client.names_to_subscribe(wanted):
            for frame in self.session.receive(json.dumps({"action": "subscribe", "symbols": missing}), 0.0):
                self.socket.send(frame)

    def open(self, query: Query) -> None:
        self.session = FeedSession(self.at.mirror, Limits(), self.socket.encoding)
        self.connection = Connection(self.session, self.socket.send, lambda _: None)
        for frame in self.session.open(query, 15_000):
            self.socket.send(frame)
        self.at.hub.join(self.connection)

    @rule(action=st.sampled_from(["subscribe", "unsubscribe"]), names=name_lists)
    def command(self, action: str, names: list[str]) -> None:
        if not self.socket.stuck:
            for frame in self.session.receive(json.dumps({"action": action, "symbols": names}), 0.0):
                self.socket.send(frame)
            self.socket.client.drop_unwanted()

    @rule(
        action=st.sampled_from(["subscribe", "unsubscribe"]),
        names=name_lists | st.just("all"),
        received=st.integers(0, 3),
        worker=st.integers(0, 1),
    )
    def break_off(self, action: str, names: list[str] | str, received: int, worker: int) -> None:
        """Disconnects during the answer to a command, and reconnects."""
        if not self.socket.stuck:
            frames = self.session.receive(json.dumps({"action": action, "symbols": names}), 0.0)
            for frame in frames[:received]:
                self.socket.send(frame)
            self.socket.client.drop_unwanted()
            self.resume_elsewhere(worker)

    @rule(stuck=st.booleans())
    def stall(self, stuck: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
        self.socket.stuck = stuck

    @rule()
    def tick(self) -> None:
        self.at.hub.tick(self.session.interval)

    @invariant()
    def told_is_true(self) -> None:
        """After a tick with a free socket, the client has exactly its part of the mirror."""
        if not hasattr(self, "socket") or self.socket.stuck:
            return
        self.at.hub.tick(self.session.interval)
        held = self.socket.client.quotes
        live = {entry.key: json.loads(entry.full_json()) for entry in self.at.mirror.live()}
        assert held == {key: quote for key, quote in live.items() if self.wants(key)}

    def wants(self, key: str) -> bool:
        if self.session.wanted is None or key in self.session.wanted:
            return True
        entry = self.at.mirror.find(key)
        return entry is not None and f"sector:{quote_of(entry).sector}" in self.session.wanted


def quote_of(entry: QuoteEntry) -> StockQuote:
    assert isinstance(entry.quote, StockQuote)
    return entry.quote


Feeds.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestFeeds = Feeds.TestCase
