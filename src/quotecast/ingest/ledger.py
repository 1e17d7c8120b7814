"""What the leader of a feed knows, and what of it is not yet on the bus; no I/O."""

import secrets
from collections.abc import Mapping

from quotecast.bus.base import Batch, Change, FeedInfo, Snapshot, StoredQuote
from quotecast.market.feeds import Feed
from quotecast.market.moves import only_moves_differ
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update


def new_epoch(unix_time: float) -> str:
    """A token no one else makes, later ones greater in text order: milliseconds and 32 random bits."""
    return f"{int(unix_time * 1000):012x}{secrets.token_hex(4)}"


class Ledger:
    """One feed's state in one epoch. Changes wait here, merged by symbol, until a batch takes them."""

    def __init__(self, feed: Feed) -> None:
        self.epoch = ""
        self.seq = 0
        self._feed = feed
        self._stored: dict[str, StoredQuote] = {}
        #: Symbols that changed since the last batch, and whether more than their moving fields did.
        self._waiting: dict[str, bool] = {}
        self._newest: dict[str, Quote | None] = {}

    def inherit(self, entries: Mapping[str, StoredQuote]) -> None:
        """Starts from what an earlier leader left."""
        self._newest = {key: entry.quote for key, entry in entries.items() if entry.quote is not None}

    def __bool__(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self._newest)

    @property
    def waiting(self) -> bool:
        """Whether a batch would hold anything."""
        return bool(self._waiting)

    def take(self, update: Update) -> None:
        """Notes what an upstream told; what did not change is not noted."""
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
        """The whole state as the first of a new epoch; nothing waits after it."""
        self.epoch, self.seq = epoch, 1
        self._newest = {key: quote for key, quote in self._newest.items() if quote is not None}
        self._stored = {key: StoredQuote(1, 1, quote) for key, quote in self._newest.items()}
        self._waiting = {}
        return Snapshot(self._feed, epoch, 1, info, self._stored)

    def next_batch(self, unix_time: float) -> tuple[Batch, dict[str, StoredQuote]]:
        """All that waits, as the next batch, and what of it is to be stored."""
        waiting, self._waiting = self._waiting, {}
        self.seq += 1
        entries = {key: self._entry(key, full=full) for key, full in waiting.items()}
        self._stored.update(entries)
        changes = [Change(entry.quote, waiting[key]) for key, entry in entries.items() if entry.quote]
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
