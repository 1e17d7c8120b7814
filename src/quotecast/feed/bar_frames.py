"""Frames of live bars: final bars with the marker of their closing, and bars in progress.

The last frame of a tick has the cursor after it, and every frame before it the cursor before the tick. So a
client whose connection ends between two frames receives a final bar again, and misses none.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from quotecast.errors import UnreadableState
from quotecast.feed import frames
from quotecast.feed.bar_styles import BarStyle
from quotecast.feed.bars import BarBook
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.form import Form
from quotecast.feed.frames import Closed, Place, Reason
from quotecast.framing import Frame
from quotecast.market.bars import bar_time
from quotecast.market.own_bars import Closing, OwnBar

#: Closings whose encoded bars stay in memory, by style: clients of all intervals ask within seconds.
MAX_ENCODED: int = 16

#: Symbols of a subscription; None is every symbol.
Keys = frozenset[str] | None


class BarsPart(NamedTuple):
    """The content of one frame: encoded bars, and the marker of a closing if they are final."""

    data: list[bytes]
    closed: Closed | None = None


def closed_parts(book: BarBook, style: BarStyle, closings: Iterable[Closing], keys: Keys) -> list[BarsPart]:
    """Returns the final bars of each closing that has any of the interval, the oldest first."""
    return [_closed(book, style, closing, keys) for closing in closings if style.interval in closing.bars]


def progress_part(book: BarBook, style: BarStyle, entries: Iterable[QuoteEntry]) -> BarsPart:
    """Returns the bars in progress of some symbols."""
    return BarsPart([encoded for entry in entries if (encoded := _in_progress(book, style, entry))])


def bar_frames(
    form: Form, parts: Sequence[BarsPart], before: Place, after: Place, reason: Reason | None = None
) -> list[Frame]:
    """Returns the frames of some parts: the last one has the cursor `after`, the first one the reason."""
    encoding, style = form.encoding, form.bars
    if style is None:
        return []
    written = []
    for number, (data, closed) in enumerate(parts, 1):
        place = after if number == len(parts) else before
        given = reason if number == 1 else None
        columns = style.columns if given else ()
        frame = frames.bars(
            form.label,
            place,
            style.interval,
            encoding.join(data),
            reason=given,
            columns=columns,
            closed=closed,
        )
        written.append(encoding.write(frame))
    return written


def _closed(book: BarBook, style: BarStyle, closing: Closing, keys: Keys) -> BarsPart:
    bars = closing.bars[style.interval]
    encoded = _encoded_finals(book, style, closing.through)
    chosen = bars if keys is None else bars.keys() & keys
    data = [encoded.get(key) or _encode(encoded, style, key, bars[key]) for key in sorted(chosen)]
    return BarsPart(data, Closed(bar_time(datetime.fromtimestamp(closing.through, UTC)), len(data)))


def _encoded_finals(book: BarBook, style: BarStyle, through: int) -> dict[str, bytes]:
    """Returns the bars of a closing that are encoded already, by symbol."""
    encoded = book.encoded
    if (style, through) not in encoded:
        if len(encoded) >= MAX_ENCODED:
            del encoded[next(iter(encoded))]
        encoded[style, through] = {}
    return encoded[style, through]


def _encode(encoded: dict[str, bytes], style: BarStyle, key: str, bar: OwnBar) -> bytes:
    written = encoded[key] = style.encode(key, bar, True)
    return written


def _in_progress(book: BarBook, style: BarStyle, entry: QuoteEntry) -> bytes:
    """Returns a symbol's bar in progress, encoded once per change and closing; nothing if there is none."""
    through, encoded = entry.encoded_bars.get(style, (-1, b""))
    if through != book.through:
        try:
            bar = book.in_progress(entry.key, entry.progress, style.interval)
        except UnreadableState:  # of a leader whose version is unknown here; its quotes can be read
            bar = None
        encoded = style.encode(entry.key, bar, False) if bar is not None else b""
        entry.encoded_bars[style] = book.through, encoded
    return encoded
