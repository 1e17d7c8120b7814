"""Clients with live bars on workers of one process; a test says how many frames arrive."""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from quotecast.feed.commands import Query
from quotecast.feed.encoding import Encoding
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.tiers import Connection
from quotecast.framing import Frame
from quotecast.market.bars import bar_time
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval
from support.clients.bars_copy import BarsCopy
from support.clients.merging_client import MergingClient
from support.stages.feed_session import MarketSession

#: Returns the final bars of some symbols up to a Unix time, by symbol and time.
Made = Callable[[LiveInterval, Iterable[str] | None, int], dict[str, dict[str, Any]]]
#: No connection has so many frames.
ENDLESS = 1_000_000


class BarsWorker:
    """A worker whose hub the test ticks."""

    def __init__(self) -> None:
        self.mirror = Mirror(Feed.STOCKS)
        self.hub = Hub(
            self.mirror,
            heartbeat_seconds=15,
            clock=lambda: 0.0,
            wall_clock=lambda: 0.0,
            market=lambda: "open",
        )


class BarsParty:
    """A client that may lose its connection after some frames, and may resume with `bars_since`."""

    def __init__(
        self, worker: BarsWorker, encoding: Encoding, interval: LiveInterval, made: Made, *, exact: bool
    ) -> None:
        self._made = made
        self.worker = worker
        self.encoding = encoding
        self.interval = interval
        #: Whether the client names the time of its bars when it resumes.
        self.exact = exact
        self.ready = True
        self.paused_at = 0.0
        #: How many frames arrive before the connection breaks.
        self.remaining = ENDLESS
        self.was_cut = False
        self.copy = MergingClient(subprotocol=encoding.subprotocol)
        self.bars = BarsCopy(self.read)

    @property
    def symbols(self) -> Iterable[str] | None:
        return None if self.copy.wanted == "all" else self.copy.wanted

    def read(self, interval: LiveInterval, symbols: Iterable[str] | None) -> list[dict[str, Any]]:
        """Returns final bars as REST does: those of the worker, or newer ones from the database."""
        through = self.worker.mirror.bars.through if self.exact else 2**40
        made = self._made(interval, symbols, through)
        if self.exact and through:
            self.bars.since = bar_time(datetime.fromtimestamp(through, UTC))
        return [bar for bars in made.values() for bar in bars.values()]

    def write(self, frame: Frame) -> None:
        if self.remaining <= 0:
            self.was_cut = True
            return
        self.remaining -= 1
        merged = self.copy.take(frame.payload)
        if merged["type"] == "subscribed" and self.symbols is not None:
            self.bars.retain(self.symbols)
        if merged["type"] == "bars":
            self.bars.take(merged, self.symbols)

    def open(self, wanted: str, since: str | None = None) -> None:
        self.session = MarketSession(self.worker.mirror, self.encoding)
        self.connection = Connection(self.session.feed, self, lambda _: True)
        bars_since = self.bars.since if self.exact and since else None
        query = Query(wanted, since=since, bars=self.interval, bars_since=bars_since)
        for frame in self.session.greet(query):
            self.write(frame)
        self.worker.hub.join(self.connection)

    def command(self, **command: Any) -> None:
        self.worker.hub.leave(self.connection)
        for frame in self.session.receive(json.dumps(command), 0.0):
            self.write(frame)
        self.worker.hub.enter(self.connection)
        self.copy.drop_unwanted()

    def reconnect(self, worker: BarsWorker, frames: int) -> None:
        """Reconnects with the names that its cursor covers, and subscribes the others again."""
        wanted = self.copy.wanted
        self.worker.hub.leave(self.connection)
        self.worker, self.ready = worker, True
        self.remaining = frames
        self.open(self.copy.names_to_resume, self.copy.since)
        if self.remaining <= 0:  # broken again
            self.copy.wanted = wanted
            self.reconnect(worker, ENDLESS)
            return
        self.remaining = ENDLESS
        self.copy.drop_unwanted()
        if missing := self.copy.names_to_subscribe(wanted):
            self.command(action="subscribe", symbols=missing)

    def catch_up(self) -> None:
        self.worker.hub.tick(self.session.feed.interval)
