"""What happened on the bus of a world: the state of each feed at each number of each epoch.

It reads the messages where Redis publishes them, and breaks the world when they break a promise.
"""

from typing import Any, Final

import msgspec

from quotecast.bus import wire
from quotecast.bus.base import Batch, Beat
from quotecast.market.feeds import Feed
from world.bar_truth import BarTruth, Break
from world.clock import wall_time
from world.redis_data import Data, Stream
from world.redis_server import RedisServer
from world.upstream import Venue

Item = dict[str, Any]
_STATES_REMEMBERED: Final = 20_000


class FeedTruth:
    """One feed on one bus."""

    def __init__(self, feed: Feed, prefix: str, broken: Break, venue: Venue) -> None:
        self.feed = feed
        self.names = venue.names
        self._prefix = prefix
        self._broken = broken
        self._issued = venue.issued
        self._prices = venue.prices
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
        self.bars = BarTruth(feed, broken)
        #: The last published position.
        self.epoch, self.seq = "", 0

    def observe(self, server: RedisServer, payload: bytes) -> None:
        """Takes a message that a server publishes."""
        self.bars.history = server.history
        message = wire.decode_message(payload)
        if isinstance(message, Batch):
            self._add(message, payload)
        elif isinstance(message, Beat) and (message.epoch, message.seq) not in self._batches:
            self._begin(message, payload, server.data)

    def state(self, epoch: str, seq: int) -> dict[str, Item] | None:
        """Returns the quotes at a position that clients name."""
        return self.states.get((epoch.partition(".")[0], seq))

    def issued_at(self, key: str, price: float) -> float | None:
        """Returns the Unix time at which the venue issued a price of a symbol; None for no such price."""
        return self._prices[key].get(price)

    def follow(self, live: "FeedTruth", delay_seconds: int) -> None:
        """Makes this the truth of a feed that is late."""
        self.live, self.delay_seconds = live, delay_seconds
        self.bars.live = live.bars

    def distrust_clocks(self) -> None:
        """Ends the checks that need right clocks."""
        self.clocks_are_right = self.bars.clocks_are_right = False

    def lose_data(self) -> None:
        """Notes that Redis lost data."""
        self.bars.losses += 1

    def _begin(self, beat: Beat, payload: bytes, data: Data) -> None:
        stored = data.find(f"{self._prefix}:{{{self.feed}}}:quotes".encode(), dict) or {}
        state = {}
        for key, value in stored.items():
            quote = wire.decode_stored(value).quote
            if quote is not None:
                state[key.decode()] = self._item(quote)
        name = f"{self._prefix}:{{{self.feed}}}:closings".encode()
        for _, fields in data.find(name, Stream) or ():
            self.bars.close(wire.decode_closing(fields[5]))
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
            self.bars.close(closing)
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
