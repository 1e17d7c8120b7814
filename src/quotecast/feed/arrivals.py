"""Batches that a mirror has received and nobody has read: the newest change of each symbol, still encoded.

A symbol that changes many times between two reads is decoded once.
"""

from msgspec import Raw

from quotecast.bus.base import Batch
from quotecast.bus.wire import decode_quote
from quotecast.errors import UnreadableState
from quotecast.market.own_bars import Closing
from quotecast.market.quotes import Quote

#: A symbol's newest quote, None for a removal; its bars, its seq, and the seq of the last full change, or 0.
#: A plain tuple, because a busy feed makes many.
_Arrival = tuple[Raw | None, bytes, int, int]


class Arrivals:
    """The changes since the last read, in the order of the bus."""

    def __init__(self) -> None:
        #: The bus's number of the last batch, and the Unix time at which it was published.
        self.seq = 0
        self.sent_at = 0.0
        self._newest: dict[str, _Arrival] = {}
        self._closings: list[tuple[int, Closing]] = []

    def add(self, batch: Batch) -> None:
        """Adds the changes of a batch."""
        newest, seq = self._newest, batch.seq
        for change in batch.changes:
            key = change.key
            before = newest.pop(key, None)
            full_seq = seq if change.full else before[3] if before else 0
            newest[key] = change.quote, change.bars, seq, full_seq
        for key in batch.removed:
            newest.pop(key, None)
            newest[key] = None, b"", seq, seq
        self._closings += [(seq, closing) for closing in batch.closings]
        self.seq, self.sent_at = seq, batch.sent_at

    def take_closings(self) -> list[tuple[int, Closing]]:
        """Returns the closings with their seq, and forgets them."""
        closings, self._closings = self._closings, []
        return closings

    def take(self) -> list[tuple[str, Quote | None, bytes, int, int]]:
        """Returns key, quote, encoded bars, seq and full seq of each change, and forgets them.

        Raises UnreadableState if any quote is unreadable.
        """
        newest, self._newest = self._newest, {}
        return [
            (key, None if encoded is None else _decode(key, encoded), bars, seq, full_seq)
            for key, (encoded, bars, seq, full_seq) in newest.items()
        ]


def _decode(key: str, encoded: Raw) -> Quote:
    quote = decode_quote(encoded)
    if quote.key != key:
        raise UnreadableState(f"a change of {key} holds the quote of {quote.key}")
    return quote
