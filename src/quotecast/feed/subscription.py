"""Subscriptions: a list of symbols, the form of its frames, and how far its clients have read.

The last frame of a tick has the cursor after it, and every frame before it the cursor before the tick. So a
client whose connection ends between two frames receives a final bar again, and misses none.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from quotecast.errors import UnreadableState
from quotecast.feed import frames
from quotecast.feed.bar_styles import BarStyle
from quotecast.feed.bars import BarBook, KnownClosing
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.form import Form
from quotecast.feed.frames import Closed, Place, Reason
from quotecast.feed.mirror import Mark, Mirror
from quotecast.framing import Frame
from quotecast.market.bars import bar_time
from quotecast.market.own_bars import Closing, OwnBar

#: Closings whose encoded bars stay in memory, by style: clients of all intervals ask within seconds.
MAX_ENCODED: int = 16

#: Symbols of a subscription; None is every symbol.
Keys = frozenset[str] | None
#: Keys of symbols and names of groups; None is every symbol.
Wanted = frozenset[str] | None
_NOTHING: Final[frozenset[str]] = frozenset()
#: Subscriptions with equal keys and marks get the same frames.
Key = tuple[Wanted, Form]


class BarsPart(NamedTuple):
    """The content of one frame: encoded bars, and the marker of a closing if they are final."""

    data: list[bytes]
    closed: Closed | None = None


def closed_parts(book: BarBook, style: BarStyle, closings: Iterable[Closing], keys: Keys) -> list[BarsPart]:
    """Returns the final bars of each closing that has any of the interval, the oldest first."""
    parts = []
    for closing in closings:
        if style.interval in closing.bars:
            bars = closing.bars[style.interval]
            encoded = _encoded_finals(book, style, closing.through)
            chosen = bars if keys is None else bars.keys() & keys
            data = [encoded.get(key) or _encode(encoded, style, key, bars[key]) for key in sorted(chosen)]
            end = bar_time(datetime.fromtimestamp(closing.through, UTC))
            parts.append(BarsPart(data, Closed(end, len(data))))
    return parts


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


class Subscription:
    """One list in one form, and the mark up to which its clients have all changes.

    Clients of equal subscriptions may share one: when it advances, all of them do.
    """

    __slots__ = ("_entries", "_in_groups", "form", "keys", "mark", "mirror", "wanted")

    def __init__(self, mirror: Mirror, form: Form) -> None:
        self.mirror: Final = mirror
        self.form = form
        self.mark = mirror.mark
        self.wanted: Wanted = _NOTHING
        #: The symbols that `wanted` meant at `mark`.
        self.keys = _NOTHING
        self._entries: list[QuoteEntry] = []
        #: Whether `wanted` includes groups, whose members change.
        self._in_groups = False

    @property
    def concerns_only_its_keys(self) -> bool:
        """Whether changes of other symbols, and of bars, have nothing for it."""
        return self.wanted is not None and not self._in_groups and self.form.bars is None

    @property
    def key(self) -> Key:
        """Returns the key that equal subscriptions share."""
        return self.wanted, self.form

    def copy(self) -> "Subscription":
        """Returns an equal subscription at the same mark, which advances by itself."""
        twin = Subscription(self.mirror, self.form)
        twin.mark, twin.wanted, twin.keys = self.mark, self.wanted, self.keys
        twin._entries, twin._in_groups = self._entries, self._in_groups
        return twin

    def want(self, wanted: Wanted) -> None:
        """Replaces the list; the mark stays."""
        self.wanted = wanted
        self._in_groups = wanted is not None and ":" in "".join(wanted)
        self._hold(frozenset() if wanted is None else self.mirror.keys_of(wanted))

    def wants(self, key: str) -> bool:
        """Returns whether a symbol is in the list."""
        return self.wanted is None or key in self.keys

    def advance(self) -> list[Frame]:
        """Moves the mark to the mirror's; returns the frames with bars, if any, and with the changes."""
        mirror, mark, held = self.mirror, self.mark, self.keys
        before = mark.revision
        self.mark = mirror.mark
        if self.wanted is None:
            changed = mirror.changes_since(before)
            removed: frozenset[str] = frozenset()
        else:
            if self._in_groups:
                self._hold(mirror.keys_of(self.wanted))
            changed = mirror.changes_among(self.keys, self._entries, before)
            removed = held - self.keys if self._in_groups else frozenset()
        update = self._update(before, changed, removed) if changed or removed else None
        if self.form.bars is not None and self.wanted != _NOTHING:
            sent = self._advance_bars(self.form.bars, mark, changed, is_last=update is None)
            return [*sent, update] if update else sent
        return [update] if update else []

    def open_bars(
        self,
        reason: Reason,
        place: Place,
        closings: Iterable[KnownClosing] = (),
        held: frozenset[str] = _NOTHING,
    ) -> list[Frame]:
        """Returns frames with closings and all bars in progress, without those of `held` symbols.

        They have the cursor that the client has until the snapshot after them.
        """
        style = self.form.bars
        if style is None or self.wanted == _NOTHING:
            return []
        book = self.mirror.bars
        entries = [entry for entry in self._all_entries() if entry.key not in held]
        parts = self._closed_parts(style, closings)
        progress = progress_part(book, style, entries)
        if progress.data or not parts:
            parts.append(progress)
        return bar_frames(self.form, parts, place, place, reason)

    def snapshot(self, reason: str, entries: Iterable[QuoteEntry] | None = None) -> Frame:
        """Returns a snapshot of some entries, or of the whole list.

        Clients share that of the whole feed, unless they have selected fields: selections are many, and each
        snapshot would stay in memory until the next change.
        """
        if entries is None and self.wanted is None and self.form.projection.fields is None:
            return self.mirror.derive(_whole_snapshot, reason, self.form)
        return _snapshot(self.mirror, reason, self.form, self._all_entries() if entries is None else entries)

    def changes_past(self, seq: int) -> list[QuoteEntry] | None:
        """Returns the entries changed after `seq` of the present epoch; None if a client needs a resync."""
        if seq > self.mark.seq:
            return None
        changed = [entry for entry in self.mirror.changes_past(seq) if self.wants(entry.key)]
        # A merged snapshot cannot say that a symbol is gone, or has left a subscribed group; a resync can.
        whole = all(entry.quote is not None for entry in changed) and not (
            self._in_groups and self.mirror.may_have_left_since(seq, self.keys)
        )
        return changed if whole else None

    def _update(self, before: int, changed: list[QuoteEntry], removed: frozenset[str]) -> Frame:
        encoding, projection, label, _ = self.form
        if self.mirror.full_revision <= before:  # the usual case, in one short loop
            data = [entry.moving.get(projection) or entry.since(before, projection) for entry in changed]
        else:
            data = [entry.since(before, projection) for entry in changed if entry.quote is not None]
            removed |= {entry.key for entry in changed if entry.quote is None}
        frame = encoding.write(frames.update(label, self.mark, encoding.join(data), sorted(removed)))
        frame.items = len(data)
        return frame

    def _advance_bars(
        self, style: BarStyle, before: Mark, changed: list[QuoteEntry], *, is_last: bool
    ) -> list[Frame]:
        """Returns the bars that became final after a mark, then the changed ones in progress."""
        book = self.mirror.bars
        old, new = (Place(mark.epoch, mark.seq) for mark in (before, self.mark))
        after = new if is_last else old
        if book.lost_at > before.revision:
            everything = progress_part(book, style, self._all_entries())
            return bar_frames(self.form, [everything], old, after, "resync")
        parts = self._closed_parts(style, book.after(before.revision))
        progress = progress_part(book, style, changed)
        if progress.data:
            parts.append(progress)
        return bar_frames(self.form, parts, old, after)

    def _closed_parts(self, style: BarStyle, closings: Iterable[KnownClosing]) -> list[BarsPart]:
        keys = None if self.wanted is None else self.keys
        return closed_parts(self.mirror.bars, style, (known.closing for known in closings), keys)

    def _all_entries(self) -> Iterable[QuoteEntry]:
        """Returns the entries of the whole list that have a quote."""
        return self.mirror.live() if self.wanted is None else self.mirror.entries(self.keys)

    def _hold(self, keys: frozenset[str]) -> None:
        if keys != self.keys:
            self.keys = keys
            self._entries = self.mirror.entries_of(keys)


def _whole_snapshot(mirror: Mirror, reason: str, form: Form) -> Frame:
    """Returns the snapshot of all quotes at the mirror's present mark."""
    return _snapshot(mirror, reason, form, mirror.live())


def _snapshot(mirror: Mirror, reason: str, form: Form, entries: Iterable[QuoteEntry]) -> Frame:
    encoding, projection, label, _ = form
    data = [entry.whole.get(projection) or entry.full(projection) for entry in entries]
    joined = encoding.join(data)
    frame = encoding.write(frames.snapshot(label, mirror.mark, reason, projection.columns, joined))
    frame.items = len(data)
    return frame
