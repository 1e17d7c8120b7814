"""What happened on the bus of a world: the state of each feed at each number of each epoch.

It reads the messages where Redis publishes them, and breaks the world when they break a promise.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from quotecast.bus import wire
from quotecast.bus.base import Batch, Beat
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import MINUTE, Closing, OwnBar
from world.clock import wall_time
from world.redis_data import Stream
from world.redis_server import RedisServer
from world.upstream import Venue

Item = dict[str, Any]
#: Takes a broken promise: its name, and what broke it.
Break = Callable[[str, str], None]
_STATES_REMEMBERED: Final = 20_000
#: Seconds in which a final bar is stored, without faults.
_WRITER_SECONDS: Final = 6.0


class FeedTruth:
    """One feed on one bus."""

    def __init__(self, feed: Feed, prefix: str, server: RedisServer, broken: Break, venue: Venue) -> None:
        self.feed = feed
        self.names = venue.names
        self._prefix = prefix
        self._server = server
        self._broken = broken
        self._issued = venue.issued
        #: States by the epoch that clients see and the number; each is a mapping of quotes by key.
        self.states: dict[tuple[str, int], dict[str, Item]] = {}
        self._batches: dict[tuple[str, int], bytes] = {}
        #: When each position was published first.
        self.times: dict[tuple[str, int], float] = {}
        #: The live feed and the delay of a delayed one; None for a live feed.
        self.live: FeedTruth | None = None
        self.delay_seconds = 0
        #: Whether no clock of the world was ever wrong.
        self.clocks_are_right = True
        #: Final bars of a minute, by key and opening, then by how often Redis had lost data. After a loss the
        #: bars are those of the ingest that leads then: another one may have led while it was cut off.
        self._bars: dict[tuple[str, int], dict[int, OwnBar]] = {}
        self._losses = 0
        #: The last published position.
        self.epoch, self.seq = "", 0

    def observe(self, payload: bytes) -> None:
        """Takes a message."""
        message = wire.decode_message(payload)
        if isinstance(message, Batch):
            self._add(message, payload)
        elif isinstance(message, Beat) and (message.epoch, message.seq) not in self._batches:
            self._begin(message, payload)

    def state(self, epoch: str, seq: int) -> dict[str, Item] | None:
        """Returns the quotes at a position that clients name."""
        return self.states.get((epoch.partition(".")[0], seq))

    def check_bar(self, who: str, key: str, bar: Item) -> None:
        """Checks a final bar that a client has."""
        opened = int(datetime.fromisoformat(bar["time"]).timestamp())
        known = self._bars.get((key, opened), {}).values()
        prices = [(each.open, each.high, each.low, each.close, each.volume) for each in known]
        if (bar["open"], bar["high"], bar["low"], bar["close"], bar.get("volume")) not in prices:
            self._broken("a final bar is the same everywhere", f"{who} has {bar} of {key} instead of {known}")

    def check_stored_bars(
        self, stored: Mapping[tuple[str, str, str, datetime], Any], *, all_of_them: bool
    ) -> None:
        """Checks the bars of minutes in PostgreSQL; its writer may not have the newest ones yet."""
        for (key, opened), known in self._bars.items():
            row = stored.get(("1m", str(self.feed), key, datetime.fromtimestamp(opened, UTC)))
            bars = [
                (each.open, each.high, each.low, each.close, each.volume, each.updates)
                for each in known.values()
            ]
            if row is None:
                if all_of_them and opened + MINUTE < wall_time() - _WRITER_SECONDS:
                    self._broken("a final bar is stored", f"{self.feed} {key} has {bars}")
            elif row not in bars:
                self._broken(
                    "a final bar is the same everywhere", f"PostgreSQL has {row} of {key} instead of {bars}"
                )

    def lose_data(self) -> None:
        """Notes that Redis lost data."""
        self._losses += 1

    def _close(self, closing: Closing) -> None:
        for key, bar in closing.bars.get("1m", {}).items():
            known = self._bars.setdefault((key, bar.opened), {}).setdefault(self._losses, bar)
            if self.clocks_are_right and bar.opened + MINUTE > wall_time():
                self._broken("a final bar has ended", f"{self.feed} {key}: {bar}")
            if known != bar:
                self._broken("a final bar is final", f"{self.feed} {key}: {bar} after {known}")

    def _begin(self, beat: Beat, payload: bytes) -> None:
        stored = self._server.data.find(f"{self._prefix}:{{{self.feed}}}:quotes".encode(), dict) or {}
        state = {}
        for key, value in stored.items():
            quote = wire.decode_stored(value).quote
            if quote is not None:
                state[key.decode()] = self._item(quote)
        name = f"{self._prefix}:{{{self.feed}}}:closings".encode()
        for _, fields in self._server.data.find(name, Stream) or ():
            self._close(wire.decode_closing(fields[5]))
        self._remember(beat.epoch, beat.seq, state, payload)

    def _add(self, batch: Batch, payload: bytes) -> None:
        position = batch.epoch, batch.seq
        if position in self._batches:
            self._broken("one batch for each number", f"{self.feed} has two batches {position}")
        before = self.states.get((batch.epoch, batch.seq - 1))
        if before is None:
            self._broken("numbers without gaps", f"{self.feed} has no state before {position}")
            return
        for closing in batch.closings:
            self._close(closing)
        changed = {change.key: self._item(wire.decode_quote(change.quote)) for change in batch.changes}
        state = {key: item for key, item in (before | changed).items() if key not in batch.removed}
        self._remember(batch.epoch, batch.seq, state, payload)

    def _remember(self, epoch: str, seq: int, state: dict[str, Item], payload: bytes) -> None:
        self.epoch, self.seq = epoch, seq
        now = self.times[epoch, seq] = wall_time()
        if self.live is not None and self.clocks_are_right:
            age = now - self.live.times.get((epoch, seq), now)
            if age < self.delay_seconds:
                self._broken(
                    "delayed quotes are never early", f"{self.feed} {epoch}-{seq} is {age:.3f} s old"
                )
        self.states[epoch, seq] = state
        self._batches[epoch, seq] = payload
        if len(self.states) > _STATES_REMEMBERED:
            oldest = next(iter(self.states))
            del self.states[oldest], self._batches[oldest]

    def _item(self, quote: Any) -> Item:
        data = msgspec.json.encode(quote)
        if data not in self._issued:
            self._broken("nothing that no upstream sent", f"{self.feed} has {data.decode()}")
        item: Item = msgspec.json.decode(data)
        return item
