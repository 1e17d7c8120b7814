"""The state of a feed at its leader, and the changes that the bus does not have yet; no I/O."""

import secrets
from collections.abc import Mapping

from quotecast.bus.base import Batch, FeedInfo, Snapshot, StoredQuote
from quotecast.bus.wire import encode_change
from quotecast.market.feeds import Feed
from quotecast.market.moves import only_moves_differ
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update


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

    def inherit(self, entries: Mapping[str, StoredQuote]) -> None:
        """Starts from the state of an earlier leader."""
        self._newest = {key: entry.quote for key, entry in entries.items() if entry.quote is not None}

    def __bool__(self) -> bool:
        """Returns whether there is any quote or removal to publish."""
        return bool(self._newest)

    @property
    def waiting(self) -> bool:
        """Returns whether there are changes for a batch."""
        return bool(self._waiting)

    def take(self, update: Update) -> None:
        """Applies an update of the upstream; ignores quotes that did not change."""
        for quote in update.quotes:
            key = quote.key
            before = self._newest.get(key)
            if before == quote:
                continue
            full = before is None or not only_moves_differ(before, quote)
            self._newest[key] = quote
            self._waiting[key] = self._waiting.get(key, False) or full
        for key in self._gone(update):
            self._newest[key] = None
            self._waiting[key] = True

    def begin(self, epoch: str, info: FeedInfo) -> Snapshot:
        """Returns the whole state as number 1 of a new epoch; no changes wait after it."""
        self.epoch, self.seq = epoch, 1
        self._newest = {key: quote for key, quote in self._newest.items() if quote is not None}
        self._stored = {key: StoredQuote(1, 1, quote) for key, quote in self._newest.items()}
        self._waiting = {}
        return Snapshot(self._feed, epoch, 1, info, self._stored)

    def snapshot(self, info: FeedInfo) -> Snapshot:
        """Returns the state that the last batch led to."""
        return Snapshot(self._feed, self.epoch, self.seq, info, dict(self._stored))

    def next_batch(self, unix_time: float) -> tuple[Batch, dict[str, StoredQuote]]:
        """Returns all waiting changes as the next batch, and the entries to store with it."""
        waiting, self._waiting = self._waiting, {}
        self.seq += 1
        entries = {key: self._entry(key, full=full) for key, full in waiting.items()}
        self._stored.update(entries)
        changes = [
            encode_change(entry.quote, full=waiting[key]) for key, entry in entries.items() if entry.quote
        ]
        removed = [key for key, entry in entries.items() if entry.quote is None]
        batch = Batch(
            feed=self._feed,
            epoch=self.epoch,
            seq=self.seq,
            changes=changes,
            removed=removed,
            sent_at=unix_time,
        )
        return batch, entries

    def _entry(self, key: str, *, full: bool) -> StoredQuote:
        before = self._stored.get(key)
        full_seq = self.seq if full or before is None else before.full_seq
        return StoredQuote(self.seq, full_seq, self._newest[key])

    def _gone(self, update: Update) -> list[str]:
        gone = set(update.removed)
        if update.complete:
            gone |= self._newest.keys() - {quote.key for quote in update.quotes}
        return [key for key in gone if self._newest.get(key) is not None]
