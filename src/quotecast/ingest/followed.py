"""The state of a feed that another installation leads, as far as it arrived here; no I/O."""

import math
from collections import deque
from collections.abc import Iterator

from quotecast.bus.base import MAX_CLOSINGS, Batch, Beat, NumberedClosing, Snapshot, StoredQuote
from quotecast.bus.wire import decode_progress, decode_quote
from quotecast.ingest.ledger import REMEMBERED_CLOSINGS
from quotecast.market.own_bars import Parts, close_parts


class Followed:
    """One feed's state in the origin's epoch and with its numbers; it begins with a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.epoch = snapshot.epoch
        self.seq = snapshot.seq
        self.info = snapshot.info
        self._feed = snapshot.feed
        self._entries = dict(snapshot.entries)
        self._parts = {key: dict(own) for key, own in snapshot.parts.items()}
        #: The newest closings, the oldest first, for a bus that loses its data.
        self.closings = deque(snapshot.closings, MAX_CLOSINGS)

    def __len__(self) -> int:
        """Returns the number of symbols, with those that were removed in this epoch."""
        return len(self._entries)

    def has(self, message: Batch | Beat | Snapshot) -> bool:
        """Returns whether this state is the message's position in the epoch, or is past it."""
        return message.epoch == self.epoch and message.seq <= self.seq

    def take(self, batch: Batch) -> tuple[dict[str, StoredQuote], dict[str, Parts]] | None:
        """Applies a batch, and returns the entries and parts to store with it.

        Returns None, having done nothing, if earlier batches are missing. Raises UnreadableState.
        """
        if batch.epoch != self.epoch or batch.seq != self.seq + 1:
            return None
        entries = dict(self._entries_of(batch))
        self._entries.update(entries)
        self.seq = batch.seq
        for closing in batch.closings:
            close_parts(self._parts, closing)
            self.closings.append(NumberedClosing(batch.epoch, batch.seq, closing))
        closed = {key for closing in batch.closings for bars in closing.bars.values() for key in bars}
        return entries, {key: dict(self._parts.get(key, {})) for key in closed}

    def snapshot(self) -> Snapshot:
        """Returns the state."""
        return Snapshot(
            self._feed,
            self.epoch,
            self.seq,
            self.info,
            dict(self._entries),
            {key: dict(own) for key, own in self._parts.items()},
            list(self.closings),
        )

    def remember(self, earlier: "Followed") -> None:
        """Takes closings of an earlier state of the same market that are before this one's."""
        if earlier.info.market != self.info.market:
            return
        first = self.closings[0].closing.through if self.closings else math.inf
        older = [each for each in earlier.closings if each.closing.through < first]
        self.closings = deque([*older, *self.closings], MAX_CLOSINGS)

    def forget_closings(self) -> None:
        """Forgets closings that the bus has, but for those of an hour."""
        while len(self.closings) > REMEMBERED_CLOSINGS:
            self.closings.popleft()

    def _entries_of(self, batch: Batch) -> Iterator[tuple[str, StoredQuote]]:
        seq = batch.seq
        for change in batch.changes:
            before = self._entries.get(change.key)
            full_seq = seq if change.full or before is None else before.full_seq
            bars = decode_progress(change.bars) if change.bars else None
            yield change.key, StoredQuote(seq, full_seq, decode_quote(change.quote), bars)
        for key in batch.removed:
            before = self._entries.get(key)
            yield key, StoredQuote(seq, seq, None, before.bars if before is not None else None)
