"""The main rule of the feeds: after any sequence of events, a client has the mirror's state."""

import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from quotecast.bus.base import Batch, Snapshot
from quotecast.feed.commands import Query
from quotecast.feed.encoding import ENCODINGS, JSON, Encoding
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.projection import moving_fields
from quotecast.feed.session import is_ahead
from quotecast.feed.tiers import Connection
from quotecast.framing import Frame
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote
from quotecast.providers.base import Update
from support.clients.merging_client import MergingClient
from support.made.market import INFO, stock
from support.made.unreadable import KINDS, with_unreadable_quote
from support.stages.feed_session import MarketSession

SYMBOLS = ("A", "B", "C", "D", "E")
symbols = st.sampled_from(SYMBOLS)
sectors = st.sampled_from(["Energy", "Materials"])
names = symbols | sectors.map("sector:{}".format)
name_lists = st.lists(names, min_size=1, max_size=3, unique=True)
#: Selected moving fields; None is all of them.
Fields = list[str] | None
selections = st.none() | st.lists(
    st.sampled_from(["price", "change", "volume"]), min_size=1, max_size=3, unique=True
)
#: One of the two clients.
which = st.integers(0, 1)


class Client:
    """A client on one worker; its socket takes one frame at a time, and none while it is not ready."""

    def __init__(self, worker: "Worker", encoding: Encoding, fields: Fields) -> None:
        self.encoding = encoding
        self.fields = fields
        self.ready = True
        self.paused_at = 0.0
        self.copy = MergingClient(subprotocol=encoding.subprotocol)
        self.worker = worker

    def write(self, frame: Frame) -> None:
        self.copy.take(frame.payload)

    def open(self, symbols: str, since: str | None = None) -> None:
        """Connects to the worker."""
        fields = ",".join(self.fields) if self.fields else None
        self.session = MarketSession(self.worker.mirror, self.encoding)
        self.connection = Connection(self.session.feed, self, lambda _: True)
        for frame in self.session.greet(Query(symbols, since=since, fields=fields)):
            self.write(frame)
        self.worker.hub.join(self.connection)

    def send(self, **command: Any) -> list[Frame]:
        """Returns the answer to a command."""
        self.worker.hub.leave(self.connection)
        frames = self.session.receive(json.dumps(command), 0.0)
        self.worker.hub.enter(self.connection)
        return frames

    def command(self, **command: Any) -> None:
        """Takes the answer to a command."""
        for frame in self.send(**command):
            self.write(frame)
        self.copy.drop_unwanted()

    def reconnect(self, worker: "Worker") -> None:
        """Reconnects with the names that its cursor covers, and subscribes the others again."""
        wanted = self.copy.wanted
        self.worker.hub.leave(self.connection)
        self.worker = worker
        self.ready = True
        self.open(self.copy.names_to_resume, self.copy.since)
        self.copy.drop_unwanted()
        if missing := self.copy.names_to_subscribe(wanted):
            self.command(action="subscribe", symbols=missing)

    def catch_up(self) -> None:
        self.worker.hub.tick(self.session.feed.interval)

    def wants(self, quote: StockQuote) -> bool:
        wanted = self.session.subscription.wanted
        return wanted is None or quote.ticker in wanted or f"sector:{quote.sector}" in wanted

    def expected(self) -> dict[str, dict[str, Any]]:
        """Returns the client's part of the mirror: its symbols, with the fields that it selected."""
        dropped = set(moving_fields(Feed.STOCKS)) - set(self.fields or moving_fields(Feed.STOCKS))
        live = {entry.key: entry for entry in self.worker.mirror.live() if self.wants(quote_of(entry))}
        quotes = {key: json.loads(entry.full_json()) for key, entry in live.items()}
        return {
            key: {name: value for name, value in quote.items() if name not in dropped}
            for key, quote in quotes.items()
        }


class Worker:
    def __init__(self, time: list[float]) -> None:
        self.mirror = Mirror(Feed.STOCKS)
        clock = lambda: time[0]  # noqa: E731 - the machine's own time, read late
        self.hub = Hub(
            self.mirror, heartbeat_seconds=15, clock=clock, wall_clock=clock, market=lambda: "open"
        )


class Feeds(RuleBasedStateMachine):
    """One ingest, two workers, and two clients that connect, disconnect, stall and change workers."""

    @initialize()
    def start(self) -> None:
        self.time = [0.0]
        self.ledger = Ledger(Feed.STOCKS)
        self.ledger.take(Update([stock(symbol, 1.0) for symbol in "ABC"]), 0.0)
        self.epochs = 0
        self.workers = [Worker(self.time), Worker(self.time)]
        self.stored: Snapshot | None = None
        self.takeover()
        self.clients = [Client(self.workers[0], JSON, None) for _ in range(2)]
        for client in self.clients:
            client.open("all")

    @rule(symbol=symbols, price=st.integers(1, 9))
    def move(self, symbol: str, price: int) -> None:
        self.ledger.take(Update([stock(symbol, float(price))]), 0.0)

    @rule(symbol=symbols, name=st.sampled_from(["One", "Two"]), sector=sectors)
    def rename(self, symbol: str, name: str, sector: str) -> None:
        self.ledger.take(Update([stock(symbol, 5.0, name=name, sector=sector)]), 0.0)

    @rule(symbol=symbols)
    def remove(self, symbol: str) -> None:
        self.ledger.take(Update(removed=[symbol]), 0.0)

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
        batch, entries, _ = self.ledger.next_batch(0.0)
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

    @rule(
        which=which,
        wanted=st.just("all") | name_lists.map(",".join),
        encoding=st.sampled_from(ENCODINGS),
        fields=selections,
    )
    def connect(self, which: int, wanted: str, encoding: Encoding, fields: Fields) -> None:
        old = self.clients[which]
        old.worker.hub.leave(old.connection)
        self.clients[which] = Client(old.worker, encoding, fields)
        self.clients[which].open(wanted)

    @rule(which=which)
    def imitate(self, which: int) -> None:
        """Connects a client with the subscription of the other: both stand in one cohort."""
        other = self.clients[1 - which]
        old = self.clients[which]
        old.worker.hub.leave(old.connection)
        self.clients[which] = Client(other.worker, other.encoding, other.fields)
        wanted = other.copy.wanted
        self.clients[which].open("all" if wanted == "all" else ",".join(wanted))

    @rule(which=which, worker=st.integers(0, 1))
    def resume_elsewhere(self, which: int, worker: int) -> None:
        """Reconnects a client, perhaps to another worker."""
        self.reconnect(self.clients[which], self.workers[worker])

    def reconnect(self, client: Client, worker: Worker) -> None:
        if is_ahead(worker.mirror, client.copy.since):
            self.heal()  # the stream waits for this before it answers
        client.reconnect(worker)

    @rule(which=which, action=st.sampled_from(["subscribe", "unsubscribe"]), names=name_lists)
    def command(self, which: int, action: str, names: list[str]) -> None:
        if self.clients[which].ready:
            self.clients[which].command(action=action, symbols=names)

    @rule(which=which, fields=selections)
    def select(self, which: int, fields: Fields) -> None:
        client = self.clients[which]
        if client.ready:
            client.fields = fields
            client.command(action="subscribe", fields=fields or "all")

    @rule(
        which=which,
        action=st.sampled_from(["subscribe", "unsubscribe"]),
        names=name_lists | st.just("all"),
        received=st.integers(0, 3),
        worker=st.integers(0, 1),
    )
    def break_off(self, which: int, action: str, names: list[str] | str, received: int, worker: int) -> None:
        """Disconnects during the answer to a command, and reconnects."""
        client = self.clients[which]
        if client.ready:
            for frame in client.send(action=action, symbols=names)[:received]:
                client.write(frame)
            client.copy.drop_unwanted()
            self.reconnect(client, self.workers[worker])

    @rule(which=which, ready=st.booleans())
    def stall(self, which: int, ready: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
        self.clients[which].ready = ready

    @rule(which=which)
    def tick(self, which: int) -> None:
        self.clients[which].catch_up()

    @invariant()
    def told_is_true(self) -> None:
        """After a tick with a free socket, a client has exactly its part of the mirror."""
        for client in getattr(self, "clients", []):
            if client.ready:
                client.catch_up()
                assert client.copy.quotes == client.expected()


def quote_of(entry: QuoteEntry) -> StockQuote:
    assert isinstance(entry.quote, StockQuote)
    return entry.quote


Feeds.TestCase.settings = settings(stateful_step_count=40)
TestFeeds = Feeds.TestCase
