"""Subscriptions: a list of symbols, the form of its frames, and how far its clients have read."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec import UNSET

from quotecast.feed import frames
from quotecast.feed.encoding import JSON, Encoding
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.frames import Label
from quotecast.feed.framing import Frame
from quotecast.feed.mirror import Mirror
from quotecast.feed.projection import WHOLE, Projection, projection_of
from quotecast.market.feeds import Feed

#: Keys of symbols and names of groups; None is every symbol.
Wanted = frozenset[str] | None


class Form(NamedTuple):
    """The form of a client's frames: their encoding, the projection of their quotes, and their label."""

    encoding: Encoding = JSON
    projection: Projection = WHOLE["json"]
    label: Label = UNSET

    def select(self, feed: Feed, fields: tuple[str, ...] | None) -> "Form":
        """Returns this form for other moving fields; None is all of them."""
        encoding = self.encoding
        chosen = projection_of(feed, encoding.notation, rows=encoding.rows, selected=fields)
        return self._replace(projection=chosen)


_NOTHING: Final[frozenset[str]] = frozenset()

#: Subscriptions with equal keys and marks get the same frames.
Key = tuple[Wanted, Form]


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
    def key(self) -> Key:
        """What the subscription shares with equal ones."""
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
        self._in_groups = wanted is not None and any(":" in name for name in wanted)
        self._hold(frozenset() if wanted is None else self.mirror.keys_of(wanted))

    def wants(self, key: str) -> bool:
        """Returns whether a symbol is in the list."""
        return self.wanted is None or key in self.keys

    def advance(self) -> Frame | None:
        """Moves the mark to the mirror's; returns the update with the changes, or None."""
        mirror, before, held = self.mirror, self.mark.revision, self.keys
        self.mark = mirror.mark
        if self.wanted is None:
            changed = mirror.changes_since(before)
            removed: frozenset[str] = frozenset()
        else:
            if self._in_groups:
                self._hold(mirror.keys_of(self.wanted))
            changed = mirror.changes_among(self.keys, self._entries, before)
            removed = held - self.keys if self._in_groups else frozenset()
        if not changed and not removed:
            return None
        encoding, projection, label = self.form
        if mirror.full_revision <= before:  # the usual case, in one short loop
            data = [entry.moving.get(projection) or entry.since(before, projection) for entry in changed]
        else:
            data = [entry.since(before, projection) for entry in changed if entry.quote is not None]
            removed |= {entry.key for entry in changed if entry.quote is None}
        return encoding.write(frames.update(label, self.mark, encoding.join(data), sorted(removed)))

    def snapshot(self, reason: str, entries: Iterable[QuoteEntry] | None = None) -> Frame:
        """Returns a snapshot of some entries, or of the whole list.

        Clients share that of the whole feed, unless they have selected fields: selections are many, and each
        snapshot would stay in memory until the next change.
        """
        if entries is None and self.wanted is None and self.form.projection.fields is None:
            return self.mirror.derive(_whole_snapshot, reason, self.form)
        if entries is None:
            entries = self.mirror.live() if self.wanted is None else self.mirror.entries(self.keys)
        return _snapshot(self.mirror, reason, self.form, entries)

    def changes_past(self, seq: int) -> list[QuoteEntry] | None:
        """Returns the entries changed after `seq` of the present epoch; None if a client needs a resync."""
        if seq > self.mark.seq:
            return None
        changed = [entry for entry in self.mirror.changes_past(seq) if self.wants(entry.key)]
        # A merged snapshot cannot say that a symbol is gone; a resync can.
        whole = all(entry.quote is not None for entry in changed) and not self._may_have_lost_members(seq)
        return changed if whole else None

    def _may_have_lost_members(self, seq: int) -> bool:
        """Returns whether a symbol may have left a subscribed group since `seq`: the client still has it."""
        return self._in_groups and self.mirror.may_have_left_since(seq, self.keys)

    def _hold(self, keys: frozenset[str]) -> None:
        if keys != self.keys:
            self.keys = keys
            self._entries = self.mirror.entries_of(keys)


def _whole_snapshot(mirror: Mirror, reason: str, form: Form) -> Frame:
    """Returns the snapshot of all quotes at the mirror's present mark."""
    return _snapshot(mirror, reason, form, mirror.live())


def _snapshot(mirror: Mirror, reason: str, form: Form, entries: Iterable[QuoteEntry]) -> Frame:
    encoding, projection, label = form
    data = encoding.join([entry.full(projection) for entry in entries])
    return encoding.write(frames.snapshot(label, mirror.mark, reason, projection.columns, data))
