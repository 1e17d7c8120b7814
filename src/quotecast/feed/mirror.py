"""A worker's copy of one feed: the last quote of every symbol, in the order in which they changed.

Two numberings meet here. The bus numbers batches (epoch, seq); an epoch ends when another ingest takes
over. The mirror numbers changes by its own revision, which only grows, so what a connection has been
told is one integer, a cursor, and a takeover costs a client only what really changed.

To clients an epoch is named with the shape of the quotes: a point that a worker of another version named
says nothing of the fields that only this version sends.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, NamedTuple, TypeVar

from msgspec import Raw

from quotecast.bus.base import Batch, FeedInfo, Snapshot, StoredQuote
from quotecast.market import codec
from quotecast.market.codec import Notation
from quotecast.market.feeds import Feed
from quotecast.market.groups import groups
from quotecast.market.instruments import canonical_symbol
from quotecast.market.moves import move_of, only_moves_differ, shape_digest
from quotecast.market.quotes import Quote

STALE_AFTER_SECONDS: Final = 3.0

T = TypeVar("T")

FeedState = Literal["live", "stale", "down"]


class Mark(NamedTuple):
    """A point in the mirror's history, and its name to clients."""

    revision: int
    #: The bus's epoch, a dot, and the shape of the feed's quotes.
    epoch: str
    seq: int


class Entry:
    """One symbol's last state; a removed symbol stays as a tombstone without a quote."""

    __slots__ = ("_full", "_moving", "full_revision", "full_seq", "key", "quote", "revision", "seq")

    def __init__(self, key: str) -> None:
        self.key = key
        self.quote: Quote | None = None
        #: When it last changed, and when more than its moving fields did, by the mirror and by the bus.
        self.revision = 0
        self.full_revision = 0
        self.seq = 0
        self.full_seq = 0
        # By notation, each made when it is first wanted.
        self._full: dict[Notation, Raw] = {}
        self._moving: dict[Notation, Raw] = {}

    def change(self, quote: Quote | None, revision: int, seq: int, *, full: bool) -> None:
        """Takes a newer state."""
        self.quote = quote
        self.revision = revision
        self.seq = seq
        if full:
            self.full_revision = revision
            self.full_seq = seq
        self._full.clear()
        self._moving.clear()

    def full_json(self) -> bytes:
        """The whole quote as REST answers it."""
        return bytes(self.full("json"))

    def full(self, notation: Notation) -> Raw:
        """The quote, encoded once per change; there has to be one."""
        if notation not in self._full and self.quote is not None:
            self._full[notation] = Raw(codec.encode(self.quote, notation))
        return self._full[notation]

    def since(self, revision: int, notation: Notation) -> Raw:
        """The least a client told up to `revision` needs: the moving fields, or the whole quote."""
        if self.full_revision > revision:
            return self.full(notation)
        if notation not in self._moving and self.quote is not None:
            self._moving[notation] = Raw(codec.encode(move_of(self.quote), notation))
        return self._moving[notation]


class Mirror:
    """One feed's last values. `revision` is 0 until the first load."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.info: FeedInfo | None = None
        self.mark = Mark(0, "", 0)
        #: The bus's name of the present epoch.
        self.epoch = ""
        self._shape = shape_digest(feed)
        #: Whether the state on the bus could be read when it was last loaded.
        self.readable = True
        #: When the bus last said anything of this feed, by the worker's monotonic clock.
        self.heard_at = float("-inf")
        #: When the newest batch was published, in Unix time; 0 while the state is one that was loaded.
        self.published_at = 0.0
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._spellings: dict[str, str] = {}
        self._tombstones = 0
        self._groups: dict[str, frozenset[str]] | None = None
        self._made: dict[str, Any] = {}
        self._made_at = self.mark

    @property
    def loaded(self) -> bool:
        """Whether the mirror ever had a state."""
        return bool(self.mark.epoch)

    def state(self, now: float) -> FeedState:
        """`down` before any data, `stale` while nothing new can be known, else `live`."""
        if not self.loaded:
            return "down"
        silent = now - self.heard_at > STALE_AFTER_SECONDS
        overdue = self.info is not None and self.info.overdue
        return "stale" if silent or overdue or not self.readable else "live"

    def __len__(self) -> int:
        """The number of symbols that have a quote."""
        return len(self._entries) - self._tombstones

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` makes of the present state, made once and shared until the state changes."""
        if self._made_at is not self.mark:
            self._made.clear()
            self._made_at = self.mark
        if name not in self._made:
            self._made[name] = make()
        made: T = self._made[name]
        return made

    def find(self, text: str) -> Entry | None:
        """The live entry of a symbol, however the client spelled it."""
        entry = self._entries.get(text)
        if entry is None:
            spelled = canonical_symbol(self.feed, text)
            entry = self._entries.get(self._spellings.get(spelled or "", ""))
        return entry if entry is not None and entry.quote is not None else None

    def group(self, text: str) -> str | None:
        """The name of a group that has members, however the client spelled it."""
        names = self.once("group names", lambda: {name.casefold(): name for name in self._members()})
        return names.get(text.strip().casefold())

    def keys_of(self, names: frozenset[str]) -> frozenset[str]:
        """Symbols for names, some of which may stand for groups: the present members of those."""
        groups = [name for name in names if ":" in name]
        if not groups:
            return names
        members = self._members()
        return names.union(*(members.get(group, frozenset()) for group in groups)) - frozenset(groups)

    def _members(self) -> dict[str, frozenset[str]]:
        if self._groups is None:
            self._groups = groups(self.quotes(), self.feed.spec.groups)
        return self._groups

    def live(self) -> Iterator[Entry]:
        """Every entry that has a quote, the longest unchanged first."""
        return (entry for entry in self._entries.values() if entry.quote is not None)

    def entries(self, keys: frozenset[str]) -> Iterator[Entry]:
        """Those of some keys that have a quote, in the order of the keys."""
        found = (self._entries.get(key) for key in sorted(keys))
        return (entry for entry in found if entry is not None and entry.quote is not None)

    def quotes(self) -> dict[str, Quote]:
        """Every quote by key."""
        return {entry.key: entry.quote for entry in self._entries.values() if entry.quote is not None}

    def changed_since(self, revision: int) -> list[Entry]:
        """Entries, tombstones among them, that changed past `revision`; the newest change first."""
        changed = []
        for entry in reversed(self._entries.values()):
            if entry.revision <= revision:
                break
            changed.append(entry)
        return changed

    def of_keys(self, keys: frozenset[str]) -> list[Entry]:
        """Their entries, which stay the same as quotes change, go and come back."""
        return [self._entries[key] for key in keys if key in self._entries]

    def changed_among(self, keys: frozenset[str], held: list[Entry], revision: int) -> list[Entry]:
        """Likewise for some keys and their entries; walks whichever is shorter, those or the changes."""
        if len(held) <= self.mark.revision - revision:
            return [entry for entry in held if entry.revision > revision]
        return [entry for entry in self.changed_since(revision) if entry.key in keys]

    def changed_past(self, seq: int) -> list[Entry]:
        """Entries that the bus changed past `seq` of the present epoch.

        This looks at every entry: after a load, revisions need not follow the bus's numbers.
        """
        return [entry for entry in self._entries.values() if entry.seq > seq]

    def left_past(self, seq: int, keys: frozenset[str]) -> bool:
        """Whether a symbol that is not among `keys` may have been when the feed stood at `seq`."""
        return any(entry.full_seq > seq for entry in self._entries.values() if entry.key not in keys)

    def apply(self, batch: Batch) -> bool:
        """Takes the next batch; False, and nothing done, when it is not the next one.

        A batch that was already seen counts as taken.
        """
        if batch.epoch != self.epoch:
            return False
        if batch.seq <= self.mark.seq:
            return True
        if batch.seq != self.mark.seq + 1:
            return False
        revision = self.mark.revision
        for change in batch.changes:
            revision += 1
            self._put(change.quote.key, change.quote, revision, batch.seq, full=change.full)
        for key in batch.removed:
            revision += 1
            self._put(key, None, revision, batch.seq, full=True)
        self.mark = Mark(revision, self.mark.epoch, batch.seq)
        self.published_at = batch.sent_at
        return True

    def load(self, snapshot: Snapshot) -> None:
        """Goes over to a whole state, counting as changes only what differs."""
        self.info = snapshot.info
        same_epoch = snapshot.epoch == self.epoch
        if same_epoch and snapshot.seq <= self.mark.seq:
            return
        revision = self.mark.revision
        for key in [key for key in self._entries if key not in snapshot.entries]:
            revision += self._forget(key, revision + 1)
        for key, stored in sorted(snapshot.entries.items(), key=lambda item: item[1].seq):
            revision += self._take(key, stored, revision + 1)
        self.epoch = snapshot.epoch
        self.mark = Mark(revision, f"{snapshot.epoch}.{self._shape}", snapshot.seq)
        self.published_at = 0.0

    def _forget(self, key: str, revision: int) -> int:
        """Leaves a tombstone for a symbol the new state does not know; the number of changes made."""
        if self._entries[key].quote is None:
            self._entries[key].seq = 0
            return 0
        self._put(key, None, revision, 0, full=True)
        return 1

    def _take(self, key: str, stored: StoredQuote, revision: int) -> int:
        """Takes one entry of a loaded state; the number of changes made."""
        entry = self._entries.get(key)
        before = entry.quote if entry is not None else None
        if entry is not None and before == stored.quote:
            entry.seq, entry.full_seq = stored.seq, stored.full_seq
            return 0
        full = before is None or stored.quote is None or not only_moves_differ(before, stored.quote)
        self._put(key, stored.quote, revision, stored.seq, full=full)
        self._entries[key].full_seq = stored.full_seq
        return 1

    def _put(self, key: str, quote: Quote | None, revision: int, seq: int, *, full: bool) -> None:
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = Entry(key)
            self._tombstones += 1
            self._spellings[canonical_symbol(self.feed, key) or key] = key
        else:
            self._entries.move_to_end(key)
        self._tombstones += (quote is None) - (entry.quote is None)
        full = full or entry.full_revision == 0
        entry.change(quote, revision, seq, full=full)
        if full:
            self._groups = None
