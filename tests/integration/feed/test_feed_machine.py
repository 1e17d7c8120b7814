"""The feed protocol over real sockets and a real Redis: a client ends with the ingest's last state."""

import asyncio
import json
from collections.abc import Awaitable, Iterable
from typing import Any, ClassVar, Final, NamedTuple

import pytest
import redis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from integration.feed.feed_parties import INTERVAL, PATIENCE_SECONDS, FeedParty, Worker
from quotecast.bus.base import FeedInfo
from quotecast.bus.redis import RedisBus
from quotecast.feed.bar_styles import bar_style_of
from quotecast.feed.projection import moving_fields
from quotecast.ingest.ledger import Ledger, new_epoch
from quotecast.market.codec import encode_json, iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, LiveInterval
from quotecast.market.quotes import StockQuote
from quotecast.providers.base import Update
from support.clients.merging_client import READERS
from support.made.market import stock
from support.runs.deadlines import scaled

#: Five minutes before midnight in New York, at which days of bars end.
START: Final = 1_795_237_500.0
SECONDS_PER_CHANGE: Final = 25
#: The finest has the most closings.
INTERVALS: Final[list[LiveInterval | None]] = ["1m", "1m", "1m", "5m", "D", None, None]
INFO: Final = FeedInfo(provider="test", always_open=True)
#: Large enough to fill the buffers of a client that does not read.
LONG: Final = "n" * 100_000
symbols = st.sampled_from("ABCDE")
sectors = st.sampled_from(["Energy", "Materials"])
names = symbols | sectors.map("sector:{}".format)
name_lists = st.lists(names, min_size=1, max_size=3, unique=True)
selections = st.none() | st.lists(st.sampled_from(["price", "volume"]), min_size=1, unique=True)


class Move(NamedTuple):
    symbol: str
    price: float


class Describe(NamedTuple):
    """Adds a symbol, or changes a field that is not a moving one."""

    symbol: str
    long: bool
    sector: str


class Remove(NamedTuple):
    symbol: str


Change = Move | Describe | Remove
changes = st.lists(
    st.builds(Move, symbols, st.integers(1, 9).map(float))
    | st.builds(Describe, symbols, st.booleans(), sectors)
    | st.builds(Remove, symbols),
    max_size=3,
)
#: No shrinking: it would take minutes.
BOUNDED = settings(
    stateful_step_count=20,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)


class Feeds(RuleBasedStateMachine):
    """Ingests one after the other, two workers, and a client that changes workers; it may have bars."""

    url: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.ledger = Ledger(Feed.STOCKS)
        self.said: dict[str, StockQuote] = {}
        #: The ingest's state, as published.
        self.published: dict[str, StockQuote] = {}
        self.epochs = 0
        self.now = START
        self.ledger.bars.use(Feed.STOCKS.spec.always_open)
        self.closings: list[Closing] = []

    @initialize(
        wanted=st.just("all") | name_lists.map(",".join),
        subprotocol=st.sampled_from(sorted(READERS)),
        among_feeds=st.booleans(),
        fields=selections,
        bars=st.sampled_from(INTERVALS),
    )
    def start(
        self,
        *,
        wanted: str,
        subprotocol: str,
        among_feeds: bool,
        fields: list[str] | None,
        bars: LiveInterval | None,
    ) -> None:
        self.admin = redis.Redis.from_url(self.url)
        self.admin.flushall()
        self.say([Describe(symbol, long=False, sector="Energy") for symbol in "ABC"])
        self.client = FeedParty(
            subprotocol, among_feeds=among_feeds, fields=fields, bars=bars, read=self._read
        )
        self.run(self._start(wanted))

    @rule(changes=changes)
    def change(self, changes: list[Change]) -> None:
        self.run(self._publish(changes))

    @rule(changes=changes)
    def take_over(self, changes: list[Change]) -> None:
        """Makes another ingest the leader: a new epoch with the whole state."""
        self.run(self._lead(changes))

    @rule(changes=changes)
    def cut_the_bus(self, changes: list[Change]) -> None:
        """Cuts the workers' subscriptions; they miss the batches until they are back."""
        self.admin.client_kill_filter(_type="pubsub")
        self.run(self._publish(changes))

    @rule(worker=st.integers(0, 1), changes=changes, abruptly=st.booleans(), led=st.booleans())
    def reconnect(self, worker: int, changes: list[Change], *, abruptly: bool, led: bool) -> None:
        """Reconnects the client, to either worker, after a change."""
        self.run(self.client.leave(abruptly=abruptly))
        self.run(self._lead(changes) if led else self._publish(changes))
        self.run(self.client.reconnect(self.workers[worker].port))

    @precondition(lambda self: self.client.reads.is_set())
    @rule(
        action=st.sampled_from(["subscribe", "unsubscribe"]),
        given=st.just("all") | name_lists,
        changes=changes,
    )
    def command(self, action: str, given: list[str] | str, changes: list[Change]) -> None:
        """Sends a command before the client has received the changes."""
        self.run(self._publish(changes))
        # Unsubscribing names from all is an error, and a client has only ten.
        if not (action == "unsubscribe" and self.client.state.wanted == "all" and given != "all"):
            self.run(self.client.send_command(action, symbols=given))

    @precondition(lambda self: self.client.reads.is_set())
    @rule(fields=selections, changes=changes)
    def select(self, fields: list[str] | None, changes: list[Change]) -> None:
        """Changes the fields of the subscription, which replaces the client's copy."""
        self.run(self._publish(changes))
        self.run(self.client.select(fields))

    @rule()
    def stall(self) -> None:
        """Stops the client's reading until it reconnects or settles."""
        self.client.reads.clear()

    @rule()
    def tick(self) -> None:
        for worker in self.workers:
            worker.hub.tick(INTERVAL)

    @rule()
    def settle(self) -> None:
        """A reading client ends with exactly the published state."""
        self.client.reads.set()
        self.run(self._settle())

    def teardown(self) -> None:
        if hasattr(self, "client"):
            try:
                self.settle()
            finally:
                self.run(self._stop())
                self.admin.close()
        self.runner.close()

    def run(self, work: Awaitable[Any]) -> None:
        async def worked() -> None:
            await work

        self.runner.run(worked())

    def say(self, changes: list[Change]) -> None:
        for change in changes:
            self.now += SECONDS_PER_CHANGE
            match change:
                case Move(symbol, price) if before := self.said.get(symbol):
                    self._quote(stock(symbol, price, name=before.name, sector=before.sector))
                case Describe(symbol, long, sector):
                    self._quote(stock(symbol, 5.0, name=LONG if long else "Short", sector=sector))
                case Remove(symbol):
                    self.said.pop(symbol, None)
                    self.ledger.take(Update(removed=[symbol]), self.now)

    def _quote(self, quote: StockQuote) -> None:
        quote = replace(quote, timestamp=iso_utc(self.now))
        self.said[quote.ticker] = quote
        self.ledger.take(Update([quote]), self.now)

    def _note(self, closings: Iterable[Closing]) -> None:
        last = self.closings[-1].through if self.closings else 0
        self.closings += [closing for closing in closings if closing.through > last]

    def _read(self, interval: LiveInterval, symbols: Iterable[str] | None) -> list[dict[str, Any]]:
        """Returns the final bars of some symbols, as REST does."""
        style = bar_style_of(Feed.STOCKS, "json", interval, rows=False)
        return [
            json.loads(style.encode(key, bar, True))
            for closing in self.closings
            for key, bar in closing.bars.get(interval, {}).items()
            if symbols is None or key in symbols
        ]

    def _has_bars(self) -> bool:
        """Returns whether the client has all final bars of its list; it knows no members of groups."""
        interval, wanted = self.client.interval, self.client.state.wanted
        if interval is None:
            return True
        assert self.client.bars.repeated == 0
        names = None if wanted == "all" else wanted
        made: dict[str, dict[str, Any]] = {}
        for bar in self._read(interval, names):
            made.setdefault(bar["ticker"], {})[bar["time"]] = bar
        final = {key: bars for key, bars in self.client.bars.final.items() if names is None or key in names}
        return {key: bars for key, bars in final.items() if bars} == made

    def _is_told(self) -> bool:
        fields = moving_fields(Feed.STOCKS)
        dropped = set(fields) - set(self.client.fields or fields)
        wanted = {
            key: json.loads(encode_json(quote))
            for key, quote in self.published.items()
            if self.client.state.wants(key, quote.sector)
        }
        return self.client.state.quotes == {
            key: {name: value for name, value in quote.items() if name not in dropped}
            for key, quote in wanted.items()
        }

    async def _start(self, wanted: str) -> None:
        self.bus = RedisBus(self.url, "t")
        await self._lead([])
        self.workers = [Worker(self.url), Worker(self.url)]
        for worker in self.workers:
            await worker.start()
            # The socket of all feeds refuses names and cursors until then.
            await worker.loaded()
        await self.client.open(self.workers[0].port, wanted)
        await self.client.until_acknowledged()

    async def _lead(self, changes: list[Change]) -> None:
        """Makes this ingest the leader."""
        self.say(changes)
        await self.bus.release(Feed.STOCKS, f"ingest {self.epochs}")
        self.epochs += 1
        assert await self.bus.hold(Feed.STOCKS, f"ingest {self.epochs}", 600_000)
        snapshot = self.ledger.begin(new_epoch(self.epochs), INFO)
        assert await self.bus.begin(f"ingest {self.epochs}", snapshot)
        self._note(each.closing for each in snapshot.closings)
        self.published = dict(self.said)

    async def _publish(self, changes: list[Change]) -> None:
        self.say(changes)
        if self.ledger.waiting:
            batch, entries, parts = self.ledger.next_batch(0.0)
            assert await self.bus.publish(f"ingest {self.epochs}", batch, entries, parts)
            self._note(batch.closings)
        self.published = dict(self.said)

    async def _settle(self) -> None:
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
            while not (self._is_told() and self._has_bars()):
                self.tick()
                await self.client.wait_for_frame()

    async def _stop(self) -> None:
        await self.client.leave(abruptly=True)
        for worker in self.workers:
            await worker.stop()
        await self.bus.close()


def test_a_client_ends_with_what_was_said(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After any sequence of events, the client has the published state."""
    # Ingest, two workers and the client share this process: on a busy machine a command waits for its turn.
    monkeypatch.setattr("quotecast.bus.calls.DEADLINE_SECONDS", scaled(2.0))

    class Here(Feeds):
        url = redis_url

    run_state_machine_as_test(Here, settings=BOUNDED)
