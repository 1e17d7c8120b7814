"""The rule of live bars: after any sequence of events, a client's bars are those that the ledger made."""

import json
from collections.abc import Iterable
from typing import Any, Final
from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from quotecast.bus.base import Batch, FeedInfo, NumberedClosing, Snapshot
from quotecast.feed.bar_styles import bar_style_of
from quotecast.feed.encoding import ENCODINGS, JSON, Encoding
from quotecast.feed.session import is_ahead
from quotecast.ingest.ledger import Ledger
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS, LiveInterval
from quotecast.providers.base import Update
from support.made.market import stock
from unit.feed.bars_party import ENDLESS, BarsParty, BarsWorker

#: Five minutes before a day of the always open market ends: midnight in New York.
START: Final = 1_795_237_500.0
#: Few, so that workers lose closings.
RECENT, REMEMBERED = 3, 4
INFO: Final = FeedInfo(provider="test", always_open=True)
symbols = st.sampled_from("ABC")
name_lists = st.lists(symbols, min_size=1, unique=True)
lists = st.just("all") | name_lists.map(",".join)
intervals = st.sampled_from(LIVE_INTERVALS)
which = st.integers(0, 1)
Moves = list[tuple[str, int, int]]
moves = st.lists(st.tuples(symbols, st.integers(1, 9), st.integers(20, 90)), max_size=5)
hearing = st.lists(st.booleans(), min_size=2, max_size=2)


class Bars(RuleBasedStateMachine):
    """One ingest, two workers that remember few closings, and two clients with bars."""

    stored: Snapshot

    def __init__(self) -> None:
        super().__init__()
        self._patches = patch.multiple(
            "quotecast.feed.bars", RECENT_CLOSINGS=RECENT, REMEMBERED_CLOSINGS=REMEMBERED
        )
        self._patches.start()

    def teardown(self) -> None:
        self._patches.stop()

    @initialize()
    def start(self) -> None:
        self.now = START
        self.ledger = Ledger(Feed.STOCKS)
        self.ledger.bars.use(Feed.STOCKS.spec.always_open)
        self.closings: list[NumberedClosing] = []
        self.epochs = 0
        self.move("A", 1, 0)
        self.move("B", 1, 0)
        self.workers = [BarsWorker(), BarsWorker()]
        self.take_over()
        self.clients = [
            BarsParty(self.workers[0], JSON, "1m", self.made, exact=exact) for exact in (True, False)
        ]
        for client in self.clients:
            client.open("all")

    @rule(symbol=symbols, price=st.integers(1, 9), seconds=st.integers(0, 70))
    def move(self, symbol: str, price: int, seconds: int) -> None:
        self.now += seconds + 0.001
        quote = replace(stock(symbol, float(price)), timestamp=iso_utc(self.now), volume=str(int(self.now)))
        self.ledger.take(Update([quote]), self.now)

    @rule(seconds=st.integers(1, 400))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds
        self.ledger.close_bars(self.now)

    @rule(symbol=symbols)
    def remove(self, symbol: str) -> None:
        self.ledger.take(Update(removed=[symbol]), self.now)

    @rule(heard=hearing)
    def publish(self, heard: list[bool]) -> None:
        """Publishes a batch; a worker that misses it finds a gap later."""
        if self.ledger.waiting:
            batch = self.next_batch()
            for worker, hears in zip(self.workers, heard, strict=True):
                if hears and not worker.mirror.apply(batch):
                    worker.mirror.load(self.stored)

    @rule(moves=moves, heard=hearing)
    def hurry(self, moves: Moves, heard: list[bool]) -> None:
        """Publishes a batch for each move."""
        for symbol, price, seconds in moves:
            self.move(symbol, price, seconds)
            self.publish(heard)

    def next_batch(self) -> Batch:
        batch, entries, parts = self.ledger.next_batch(0.0)
        self._note(NumberedClosing(batch.epoch, batch.seq, each) for each in batch.closings)
        self.stored = self._snapshot(
            batch.seq, {**self.stored.entries, **entries}, {**self.stored.parts, **parts}
        )
        return batch

    @rule()
    def take_over(self) -> None:
        """Begins a new epoch. Redis has the closings of before with their old numbers."""
        self.epochs += 1
        begun = self.ledger.begin(f"{self.epochs:020x}", INFO)
        self._note(begun.closings)
        self.stored = self._snapshot(1, begun.entries, begun.parts)
        self.heal()

    @rule()
    def heal(self) -> None:
        for worker in self.workers:
            worker.mirror.load(self.stored)

    @rule(number=which)
    def restart(self, number: int) -> None:
        """Replaces a worker, which then knows the newest closings only."""
        old = self.workers[number]
        self.workers[number] = worker = BarsWorker()
        worker.mirror.load(self.stored)
        for client in self.clients:
            if client.worker is old:
                client.reconnect(worker, ENDLESS)

    @rule(
        which=which,
        wanted=lists,
        encoding=st.sampled_from(ENCODINGS),
        interval=intervals,
        exact=st.booleans(),
    )
    def connect(
        self,
        which: int,
        wanted: str,
        encoding: Encoding,
        interval: LiveInterval,
        exact: bool,  # noqa: FBT001 - drawn by hypothesis
    ) -> None:
        old = self.clients[which]
        old.worker.hub.leave(old.connection)
        self.clients[which] = BarsParty(old.worker, encoding, interval, self.made, exact=exact)
        self.clients[which].open(wanted)

    @rule(
        which=which,
        worker=st.integers(0, 1),
        moves=moves,
        heard=hearing,
        received=st.integers(0, 4) | st.just(ENDLESS),
        missed=moves,
        greeted=st.integers(1, 5) | st.just(ENDLESS),
    )
    def reconnect(
        self,
        *,
        which: int,
        worker: int,
        moves: Moves,
        heard: list[bool],
        received: int,
        missed: Moves,
        greeted: int,
    ) -> None:
        """Breaks a connection in a tick or in a greeting, and resumes it, perhaps at another worker."""
        client = self.clients[which]
        self.hurry(moves, heard)
        client.remaining = received
        client.catch_up()
        self.hurry(missed, heard)
        if is_ahead(self.workers[worker].mirror, client.copy.since):
            self.heal()  # the stream waits for this before it answers
        client.reconnect(self.workers[worker], greeted)

    @rule(
        which=which,
        action=st.sampled_from(["subscribe", "unsubscribe"]),
        names=name_lists,
        moves=moves,
    )
    def command(self, which: int, action: str, names: list[str], moves: Moves) -> None:
        """Sends a command before the client has received the moves."""
        self.hurry(moves, [True, True])
        if self.clients[which].ready:
            self.clients[which].command(action=action, symbols=names)

    @rule(which=which, interval=intervals, moves=moves)
    def change_interval(self, which: int, interval: LiveInterval, moves: Moves) -> None:
        client = self.clients[which]
        self.hurry(moves, [True, True])
        if client.ready:
            client.interval = interval
            client.command(action="subscribe", bars=interval)

    @rule(which=which, fields=st.sampled_from([["price"], "all"]), moves=moves)
    def select(self, which: int, fields: list[str] | str, moves: Moves) -> None:
        self.hurry(moves, [True, True])
        if self.clients[which].ready:
            self.clients[which].command(action="subscribe", fields=fields)

    @rule(which=which, ready=st.booleans())
    def stall(self, which: int, ready: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
        self.clients[which].ready = ready

    @rule(which=which)
    def tick(self, which: int) -> None:
        self.clients[which].catch_up()

    @invariant()
    def bars_are_those_of_the_ledger(self) -> None:
        """After a tick with a free socket, a client has exactly the bars of its worker."""
        for client in getattr(self, "clients", []):
            if client.ready:
                client.catch_up()
                self._check(client)

    def _check(self, client: BarsParty) -> None:
        if client.exact or not client.was_cut:
            assert client.bars.repeated == 0
        book = client.worker.mirror.bars
        interval = client.interval
        made = self.made(interval, client.symbols, book.through)
        final = {key: bars for key, bars in client.bars.final.items() if bars}
        if not client.exact:  # REST may have had newer bars than the worker
            final = {
                key: {time: bar for time, bar in bars.items() if time in made[key]}
                for key, bars in final.items()
                if key in made
            }
        assert final == made
        style = bar_style_of(Feed.STOCKS, "json", interval, rows=False)
        prices = {entry.key: entry.quote.price for entry in client.worker.mirror.live() if entry.quote}
        wanted = {
            key: price for key, price in prices.items() if client.symbols is None or key in client.symbols
        }
        assert {key: quote["price"] for key, quote in client.copy.quotes.items()} == wanted
        for entry in client.worker.mirror.live():
            bar = book.in_progress(entry.key, entry.progress, interval)
            if entry.key in wanted:
                written = json.loads(style.encode(entry.key, bar, False)) if bar is not None else None
                assert client.bars.progress.get(entry.key) == written

    def made(
        self, interval: LiveInterval, symbols: Iterable[str] | None, through: int
    ) -> dict[str, dict[str, Any]]:
        style = bar_style_of(Feed.STOCKS, "json", interval, rows=False)
        made: dict[str, dict[str, Any]] = {}
        for each in self.closings:
            if each.closing.through <= through:
                for key, bar in each.closing.bars.get(interval, {}).items():
                    if symbols is None or key in symbols:
                        written = json.loads(style.encode(key, bar, True))
                        made.setdefault(key, {})[written["time"]] = written
        return made

    def _note(self, closings: Iterable[NumberedClosing]) -> None:
        """Adds closings to the stream of Redis, which ignores those that it has."""
        last = self.closings[-1].closing.through if self.closings else 0
        self.closings += [each for each in closings if each.closing.through > last]

    def _snapshot(self, seq: int, entries: Any, parts: Any) -> Snapshot:
        newest = self.closings[-RECENT:]
        return Snapshot(Feed.STOCKS, f"{self.epochs:020x}", seq, INFO, entries, parts, newest)


Bars.TestCase.settings = settings(stateful_step_count=40)
TestBars = Bars.TestCase
