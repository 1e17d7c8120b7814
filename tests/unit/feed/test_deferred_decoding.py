"""When a mirror decodes its quotes changes nothing that clients see."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from quotecast.bus import wire
from quotecast.bus.base import Batch, Snapshot
from quotecast.feed.commands import Query
from quotecast.feed.mirror import Mirror
from quotecast.framing import Frame
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.providers.base import Update
from support.made.market import INFO, stock
from support.made.unreadable import KINDS, with_unreadable_quote
from support.stages.feed_session import MarketSession

LISTS = ("all", "A,C", "sector:Energy,B")
VIEWS: tuple[Callable[[Mirror], object], ...] = (
    len,
    Mirror.quotes,
    Mirror.members,
    lambda mirror: mirror.mark[1:],
    lambda mirror: [entry.key for entry in mirror.live()],
    lambda mirror: [entry.full_json() for entry in mirror.entries(frozenset("ABC"))],
    lambda mirror: [entry and entry.full_json() for entry in map(mirror.find, "abc")],
    lambda mirror: [(entry.seq, entry.full_seq) for entry in mirror.entries_of(frozenset("ABC"))],
)
symbols = st.sampled_from("ABC")
sectors = st.sampled_from(["Energy", "Materials"])
quotes = st.builds(stock, symbols, st.floats(1, 9), st.just("Name"), sectors)
updates = st.one_of(
    st.builds(lambda quote: Update([quote]), quotes),
    st.builds(lambda symbol: Update(removed=[symbol]), symbols),
)
edits = st.lists(updates, min_size=1, max_size=2)


class Worker:
    """A mirror, and sessions with several lists."""

    def __init__(self) -> None:
        self.mirror = Mirror(Feed.STOCKS)

    def open_sessions(self) -> None:
        self.sessions = [MarketSession(self.mirror) for _ in LISTS]
        for session, names in zip(self.sessions, LISTS, strict=True):
            session.greet(Query(names))

    def deliver(self, batch: Batch, stored: Snapshot) -> None:
        """Delivers a batch as the relay does."""
        message = wire.decode_message(wire.encode(batch))
        assert isinstance(message, Batch)
        if not self.mirror.apply(message):
            self.mirror.load(stored)

    def frames(self) -> list[Any]:
        return [decoded(session.advance()) for session in self.sessions]

    def resumed(self, names: str, since: str) -> list[Any]:
        """Returns the frames to a client that comes back with a cursor of any worker."""
        greeting = MarketSession(self.mirror).greet(Query(names, since=since))
        return [decoded(frame) for frame in greeting]


def decoded(frame: Frame | None) -> Any:
    """Returns a frame's content; the order of symbols has no meaning."""
    if frame is None:
        return None
    content = json.loads(frame.payload)
    if "data" in content:
        content["data"] = {quote["ticker"]: quote for quote in content["data"]}
    return content


class Mirrors(RuleBasedStateMachine):
    """One mirror decodes each batch at once, and one when its sessions advance."""

    @initialize()
    def start(self) -> None:
        self.ledger = Ledger(Feed.STOCKS)
        self.ledger.take(Update([stock(symbol, 1.0) for symbol in "ABC"]), 0.0)
        self.workers = self.eager, self.lazy = Worker(), Worker()
        self.stored = self.ledger.begin(f"{0:020x}", INFO)
        self.heal()
        for worker in self.workers:
            worker.open_sessions()

    @rule(batches=st.lists(edits, min_size=1, max_size=4))
    def publish(self, batches: list[list[Update]]) -> None:
        """Publishes batches between two reads."""
        for batch in filter(None, map(self.next_batch, batches)):
            self.deliver(batch)

    @rule(edits=edits)
    def lose(self, edits: list[Update]) -> None:
        """Publishes a batch that reaches no mirror."""
        self.next_batch(edits)

    @rule(edits=edits, kind=st.sampled_from(KINDS), symbol=symbols)
    def publish_unreadable(self, edits: list[Update], kind: str, symbol: str) -> None:
        """Publishes a batch that neither mirror can apply; both load the state later."""
        batch = self.next_batch(edits)
        if batch:
            self.read()
            self.deliver(with_unreadable_quote(batch, kind, symbol))
            self.read()
            self.heal()

    def next_batch(self, edits: list[Update]) -> Batch | None:
        for update in edits:
            self.ledger.take(update, 0.0)
        if not self.ledger.waiting:
            return None
        batch, entries, _ = self.ledger.next_batch(0.0)
        merged = {**self.stored.entries, **entries}
        self.stored = Snapshot(Feed.STOCKS, batch.epoch, batch.seq, INFO, merged)
        return batch

    def deliver(self, batch: Batch) -> None:
        for worker in self.workers:
            worker.deliver(batch, self.stored)
        assert self.eager.mirror.mark

    @rule()
    def takeover(self) -> None:
        self.stored = self.ledger.begin(f"{int(self.stored.epoch, 16) + 1:020x}", INFO)
        self.heal()

    @rule()
    def heal(self) -> None:
        for worker in self.workers:
            worker.mirror.load(self.stored)

    @rule()
    def read(self) -> None:
        """Reads what clients get."""
        assert self.lazy.frames() == self.eager.frames()

    @rule(names=st.sampled_from(LISTS), behind=st.integers(0, 5))
    def resume(self, names: str, behind: int) -> None:
        _, epoch, seq = self.eager.mirror.mark
        since = f"{epoch}-{max(0, seq - behind)}"
        assert self.lazy.resumed(names, since) == self.eager.resumed(names, since)

    @rule(view=st.sampled_from(VIEWS))
    def look(self, view: Callable[[Mirror], object]) -> None:
        assert view(self.lazy.mirror) == view(self.eager.mirror)


Mirrors.TestCase.settings = settings(stateful_step_count=40)
TestMirrors = Mirrors.TestCase
