"""The last quote of one symbol, and its encoded forms."""

from typing import Final

from quotecast.bus.wire import decode_progress
from quotecast.feed.bar_styles import BarStyle
from quotecast.feed.projection import WHOLE, Encode, Projection, is_extended
from quotecast.market.codec import encode_json
from quotecast.market.own_bars import Progress
from quotecast.market.quotes import Quote

#: Projections in which a quote stays encoded: it bounds the memory that clients' selections cost. Those of
#: all fields, of which there are four, are never dropped.
MAX_ENCODED: Final = 16


class QuoteEntry:
    """The last state of one symbol; a removed symbol stays as a tombstone without a quote."""

    __slots__ = (
        "_answer", "_bars", "encoded_bars", "full_revision", "full_seq", "key", "moving", "quote",
        "revision", "seq", "whole",
    )  # fmt: skip

    def __init__(self, key: str) -> None:
        self.key = key
        self.quote: Quote | None = None
        self._answer: bytes | None = None
        self._bars: Progress | bytes | None = None
        #: Revision (mirror) and seq (bus) of the last change, and of the last change of a non-moving field.
        self.revision = 0
        self.full_revision = 0
        self.seq = 0
        self.full_seq = 0
        # Encoded quotes by projection, filled at the first use: whole ones, and moving fields.
        self.whole: dict[Projection, bytes] = {}
        self.moving: dict[Projection, bytes] = {}
        #: The encoded bar in progress by style, and up to which closing it is valid.
        self.encoded_bars: dict[BarStyle, tuple[int, bytes]] = {}

    def change(self, quote: Quote | None, revision: int, seq: int, *, full: bool) -> None:
        """Stores a newer state and drops the encoded quotes."""
        self.quote = quote
        self._answer = None
        self.revision = revision
        self.seq = seq
        if full:
            self.full_revision = revision
            self.full_seq = seq
        self.whole.clear()
        self.moving.clear()

    @property
    def progress(self) -> Progress | None:
        """The symbol's bars in progress. Raises UnreadableState if no known version wrote them."""
        if isinstance(self._bars, bytes):
            self._bars = decode_progress(self._bars) if self._bars else None
        return self._bars

    def set_bars(self, bars: Progress | bytes | None) -> None:
        """Stores newer bars in progress, which may be encoded."""
        self._bars = bars
        if self.encoded_bars:
            self.encoded_bars.clear()

    def full_json(self) -> bytes:
        """Returns all that is known of the quote, as REST answers it. Raises KeyError for a tombstone."""
        if self._answer is None:
            quote = self.quote
            self._answer = encode_json(quote) if is_extended(quote) else self.full(WHOLE["json"])
        return self._answer

    def full(self, projection: Projection) -> bytes:
        """Returns the quote, encoded once per change. Raises KeyError for a tombstone."""
        return self.whole.get(projection) or self._encode(self.whole, projection, projection.full)

    def since(self, revision: int, projection: Projection) -> bytes:
        """Returns the minimal change for a client at `revision`: the moving fields, or the whole quote."""
        if self.full_revision > revision:
            return self.full(projection)
        return self.moving.get(projection) or self._encode(self.moving, projection, projection.moving)

    def _encode(self, cache: dict[Projection, bytes], projection: Projection, encode: Encode) -> bytes:
        if self.quote is None:
            raise KeyError(self.key)
        if len(cache) >= MAX_ENCODED:
            del cache[next(each for each in cache if each.fields is not None)]
        encoded = cache[projection] = encode(self.quote)
        return encoded
