"""The state of a feed at its leader, and the changes and crossings that the bus does not have yet; no I/O."""

import math
import secrets
from collections import deque
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from quotecast.bus.base import (
    MAX_CLOSINGS,
    MAX_CROSSINGS,
    Batch,
    FeedInfo,
    Memory,
    NumberedClosing,
    Snapshot,
    StoredQuote,
)
from quotecast.bus.wire import encode_change
from quotecast.market.bar_making import BarMaker, midnight_of
from quotecast.market.crossings import (
    NO_CROSSING,
    Crossing,
    CrossingId,
    Levels,
    PastPrices,
    Reading,
    Thresholds,
    is_one_source,
    step_of,
)
from quotecast.market.feeds import Feed
from quotecast.market.moves import only_moves_differ
from quotecast.market.own_bars import MINUTE, Closing, Parts
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update

#: Closings that a Redis which lost its data gets back: an hour's, if something changes every minute.
REMEMBERED_CLOSINGS: Final = 60


class CrossingFinder:
    """Finds the crossings of a feed's quotes, and remembers the newest for a Redis that loses its data."""

    def __init__(self) -> None:
        #: The thresholds that alerts wait for.
        self.levels: Levels = {}
        self.past = PastPrices()
        #: Crossings that the bus does not have yet, and all that it should have.
        self.waiting: list[Crossing] = []
        self.remembered: deque[Crossing] = deque(maxlen=MAX_CROSSINGS)
        self.found = 0
        self._last = NO_CROSSING

    def follow(self, last: CrossingId) -> None:
        """Numbers crossings after the last one of an earlier leader."""
        self._last = max(self._last, last)

    def find(
        self, thresholds: Sequence[Thresholds], before: Reading, now: Reading, at: float, midnight: int
    ) -> None:
        """Notes the crossings of a step from one quote to the next at the Unix time `at`; see `step_of`."""
        quote = now.quote
        if not is_one_source(before.quote, quote):
            return
        for each in thresholds:
            old, new = step_of(each.measure, before, now, self.past, midnight)
            if old is not None and new is not None and old != new and each.are_crossed(old, new):
                self._last = self._next_id(at)
                crossing = Crossing(*self._last, quote.key, each.measure, old, new, quote.price, at)
                self.waiting.append(crossing)
                self.remembered.append(crossing)
                self.found += 1

    def take_waiting(self) -> Sequence[Crossing]:
        """Returns the crossings for the next batch."""
        waiting, self.waiting = self.waiting, []
        return waiting

    def _next_id(self, at: float) -> CrossingId:
        moment = int(at * 1000)
        last = self._last
        return CrossingId(moment, 0) if moment > last.moment else CrossingId(last.moment, last.number + 1)


def new_epoch(unix_time: float) -> str:
    """Returns a unique token that sorts by time as text: milliseconds and 32 random bits, in hexadecimal."""
    return f"{int(unix_time * 1000):012x}{secrets.token_hex(4)}"


class Ledger:
    """One feed's state in one epoch. It merges changes by symbol until a batch takes them."""

    def __init__(self, feed: Feed) -> None:
        self.epoch = ""
        self.seq = 0
        self._feed = feed
        self._stored: dict[str, StoredQuote] = {}
        #: Symbols that changed since the last batch; true where other fields than those of a move changed.
        self._waiting: dict[str, bool] = {}
        self._newest: dict[str, Quote | None] = {}
        self.bars = BarMaker(feed.spec.calendar)
        self.crossings = CrossingFinder()
        self._provider = ""
        #: Closings that the bus does not have yet, and the newest that were published.
        self._closings: list[Closing] = []
        self._remembered: deque[NumberedClosing] = deque(maxlen=MAX_CLOSINGS)
        #: The parts of coarser bars that were published; those of the maker may have closings that wait.
        self._parts: dict[str, Parts] = {}

    def inherit(self, state: Snapshot, *, same_provider: bool, past: Sequence[Closing] = ()) -> None:
        """Starts from an earlier leader's bars, and from its quotes if they are of one provider.

        `past` are the newest closings, the oldest first, also those before the state's.
        """
        entries = state.entries
        if same_provider:
            self._provider = state.info.provider
            self._newest = {key: entry.quote for key, entry in entries.items() if entry.quote is not None}
        progress = {key: entry.bars for key, entry in entries.items() if entry.bars is not None}
        if not same_provider:
            # The volume of another provider says nothing about a rise.
            progress = {key: replace(bars, seen=None) for key, bars in progress.items()}
        self._remembered.extend(state.closings)
        through = state.closings[-1].closing.through if state.closings else 0
        self.bars.inherit(progress, state.parts, through)
        self.crossings.past.add(past)

    def __bool__(self) -> bool:
        """Returns whether there is any quote or removal to publish."""
        return bool(self._newest)

    @property
    def waiting(self) -> bool:
        """Returns whether there are changes for a batch."""
        return bool(self._waiting or self._closings)

    def quote_of(self, key: str) -> Quote | None:
        """Returns a symbol's newest quote."""
        return self._newest.get(key)

    def close_bars(self, now: float) -> None:
        """Makes the bars final that end by the feed's time `now`, Unix time that never falls."""
        if closings := self.bars.close(int(now)):
            self._closings += closings
            self.crossings.past.add(closings)

    def take(self, update: Update, now: float, *, provider: str = "", heard_at: float = 0.0) -> None:
        """Applies an update of the upstream at the feed's time `now`; ignores quotes that did not change.

        `heard_at` is the Unix time of its crossings. Nothing crosses between two providers.
        """
        self.close_bars(now)
        levels = self.crossings.levels if provider == self._provider else {}
        if provider != self._provider:
            self.bars.miss(now)
        self._provider = provider
        for quote in update.quotes:
            key = quote.key
            before = self._newest.get(key)
            if before == quote:
                continue
            full = before is None or not only_moves_differ(before, quote)
            self._newest[key] = quote
            thresholds = levels.get(key)
            if thresholds is None or before is None:
                self.bars.add(quote, before, int(now))
            else:
                earlier = Reading(before, self.bars.minute_of(key))
                self.bars.add(quote, before, int(now))
                later = Reading(quote, self.bars.minute_of(key))
                midnight = midnight_of(int(now) // MINUTE * MINUTE)
                self.crossings.find(thresholds, earlier, later, heard_at, midnight)
            self._waiting[key] = self._waiting.get(key, False) or full
        for each in update.bars:
            if self._newest.get(each.key) is not None:
                self.bars.take(each, int(now))
        gone = set(update.removed)
        if update.complete:
            gone |= self._newest.keys() - {quote.key for quote in update.quotes}
        for key in gone:
            if self._newest.get(key) is not None:
                self._newest[key] = None
                self._waiting[key] = True

    def begin(self, epoch: str, info: FeedInfo) -> Snapshot:
        """Returns the whole state as number 1 of a new epoch; no changes wait after it."""
        self.epoch, self.seq = epoch, 1
        self._newest = {key: quote for key, quote in self._newest.items() if quote is not None}
        self._stored = {
            key: StoredQuote(1, 1, quote, self.bars.progress_of(key)) for key, quote in self._newest.items()
        }
        self._waiting = {}
        self.crossings.take_waiting()
        self._remember()
        for _ in range(len(self._remembered)):
            self._remembered.append(NumberedClosing(epoch, 1, self._remembered.popleft().closing))
        self._parts = {key: dict(own) for key, own in self.bars.parts.items()}
        return self.snapshot(info)

    def memory(self) -> Memory:
        """Returns what a bus that lost its data needs beside the state."""
        first = self._remembered[0].closing.through if self._remembered else math.inf
        closings = [each for each in self.crossings.past.closings if each.through < first]
        return Memory(closings, list(self.crossings.remembered))

    def snapshot(self, info: FeedInfo) -> Snapshot:
        """Returns the state that the last batch led to."""
        entries, parts, closings = dict(self._stored), dict(self._parts), list(self._remembered)
        return Snapshot(self._feed, self.epoch, self.seq, info, entries, parts, closings)

    def next_batch(self, unix_time: float) -> tuple[Batch, dict[str, StoredQuote], dict[str, Parts]]:
        """Returns all waiting changes as the next batch, and the entries and parts to store with it."""
        waiting, self._waiting = self._waiting, {}
        self.seq += 1
        # The bus has what was remembered so far: the epoch began with it.
        while len(self._remembered) > REMEMBERED_CLOSINGS:
            self._remembered.popleft()
        closings = self._remember()
        closed = {key for closing in closings for bars in closing.bars.values() for key in bars}
        parts = {key: dict(self.bars.parts.get(key, {})) for key in closed}
        self._parts.update(parts)
        entries = {key: self._entry(key, full=full) for key, full in waiting.items()}
        self._stored.update(entries)
        changes = [
            encode_change(entry.quote, full=waiting[key], bars=entry.bars)
            for key, entry in entries.items()
            if entry.quote
        ]
        removed = [key for key, entry in entries.items() if entry.quote is None]
        batch = Batch(
            feed=self._feed,
            epoch=self.epoch,
            seq=self.seq,
            changes=changes,
            removed=removed,
            closings=closings,
            sent_at=unix_time,
        )
        return batch, entries, parts

    def _entry(self, key: str, *, full: bool) -> StoredQuote:
        before = self._stored.get(key)
        full_seq = self.seq if full or before is None else before.full_seq
        return StoredQuote(self.seq, full_seq, self._newest[key], self.bars.progress_of(key))

    def _remember(self) -> list[Closing]:
        closings, self._closings = self._closings, []
        self._remembered.extend(NumberedClosing(self.epoch, self.seq, closing) for closing in closings)
        return closings
