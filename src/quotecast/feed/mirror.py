"""A worker's copy of one feed: the last quote of every symbol, in the order in which they changed.

The mirror uses two numberings. The bus numbers batches (epoch, seq); an epoch ends when another ingest takes
over. The mirror numbers changes by its own revision, which only grows. So a connection's cursor is one
integer, and after a takeover clients receive only real changes.

The mirror decodes no quote of a batch until a method or `mark` is read; then it applies all batches that have
arrived.

The epoch that clients see includes the shape of the quotes: a cursor from a worker of another version says
nothing about the fields that only this version sends.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, Concatenate, Final, Literal, NamedTuple, ParamSpec, TypeVar

from quotecast.bus.base import Batch, FeedInfo, Snapshot, StoredQuote
from quotecast.errors import UnreadableState
from quotecast.feed.arrivals import Arrivals
from quotecast.feed.bars import BarBook, KnownClosing
from quotecast.feed.entry import QuoteEntry
from quotecast.market.feeds import Feed
from quotecast.market.groups import groups
from quotecast.market.instruments import canonical_symbol
from quotecast.market.moves import only_moves_differ, shape_digest
from quotecast.market.quotes import Quote
from quotecast.market.renames import Rename, present_symbols, well_known_renames

STALE_AFTER_SECONDS: Final = 3.0
#: Epochs that have ended, of which a mirror knows how far it was.
_ENDED_EPOCHS: Final = 8

P = ParamSpec("P")
T = TypeVar("T")

FeedState = Literal["live", "stale", "down"]


class Mark(NamedTuple):
    """A point in the mirror's history, and its name to clients."""

    revision: int
    #: The bus's epoch, a dot, and the shape of the feed's quotes.
    epoch: str
    seq: int


class Mirror:
    """The last values of one feed. `mark.revision` is 0 until the first load."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.info: FeedInfo | None = None
        self._mark = Mark(0, "", 0)
        #: The bus's name of the present epoch.
        self.epoch = ""
        #: The last seq of the newest epochs that have ended here.
        self._ended: dict[str, int] = {}
        self._shape = shape_digest(feed)
        #: Whether the state on the bus could be read when it was last loaded.
        self.readable = True
        #: Monotonic time of the last message of this feed.
        self.heard_at = float("-inf")
        #: The Unix time that a replay has reached; None in a mirror of the live feed.
        self.replayed_at: float | None = None
        #: Unix time at which the newest batch up to `mark` was published; 0 after a load.
        self.published_at = 0.0
        self._arrivals = Arrivals()
        self._book = BarBook(feed)
        self._present: OrderedDict[str, QuoteEntry] = OrderedDict()
        self._spellings: dict[str, str] = {}
        self.renames: Mapping[str, str] = {}
        self.follow_renames()
        self._tombstones = 0
        #: Revision of the last change of a non-moving field, or of a removal.
        self.full_revision = 0
        self._groups: dict[str, frozenset[str]] | None = None
        self._ordered: list[QuoteEntry] | None = None
        self._derived: dict[tuple[Callable[..., Any], tuple[Any, ...]], Any] = {}
        self._derived_at = self._mark

    @property
    def loaded(self) -> bool:
        """Whether the mirror has had a state."""
        return bool(self._mark.epoch)

    @property
    def mark(self) -> Mark:
        """The point in history that readers see."""
        self._settle()
        return self._mark

    @property
    def bars(self) -> BarBook:
        """The bars at `mark`."""
        self._settle()
        self._book.use(self.info)
        return self._book

    @property
    def _entries(self) -> OrderedDict[str, QuoteEntry]:
        """The entries at `mark`."""
        self._settle()
        return self._present

    def state(self, now: float) -> FeedState:
        """Returns `down` before any data; `stale` while bus or upstream are silent or unreadable."""
        if not self.loaded:
            return "down"
        silent = now - self.heard_at > STALE_AFTER_SECONDS
        overdue = self.info is not None and self.info.overdue
        return "stale" if silent or overdue or not self.readable else "live"

    def __len__(self) -> int:
        """Returns the number of symbols that have a quote."""
        return len(self._entries) - self._tombstones

    def derive(self, view: Callable[Concatenate["Mirror", P], T], *args: P.args, **constants: P.kwargs) -> T:
        """Returns `view(self, *args)`, computed at most once until the state changes.

        The key is the function and its positional arguments. A view is a function of a module: a lambda
        would be a new key at each call. Keyword arguments are constants of the process, and no part of the
        key.
        """
        if self._derived_at is not self.mark:
            self._derived.clear()
            self._derived_at = self.mark
        key = view, args
        if key not in self._derived:
            self._derived[key] = view(self, *args, **constants)
        derived: T = self._derived[key]
        return derived

    def find(self, text: str) -> QuoteEntry | None:
        """Returns the entry of a symbol in any spelling, present or former; None without a quote."""
        entry = self._entries.get(text)
        if entry is None or entry.quote is None:
            spelled = canonical_symbol(self.feed, text)
            entry = None if spelled is None else self._find_spelled(spelled)
        return entry

    def known_key(self, text: str) -> str | None:
        """Returns the key of a symbol in any spelling, which may be gone; None if it never had a quote."""
        return self._spellings.get(canonical_symbol(self.feed, text) or "")

    def _find_spelled(self, symbol: str) -> QuoteEntry | None:
        entry = self._entries.get(self._spellings.get(symbol, ""))
        if entry is not None and entry.quote is not None:
            return entry
        # Of a pair only the first asset may have another symbol.
        base, slash, target = symbol.partition("/")
        present = self.renames.get(base)
        return None if present is None else self._find_spelled(f"{present}{slash}{target}")

    def follow_renames(self, renames: Iterable[Rename] = ()) -> None:
        """Finds instruments by the former symbols of well-known renames and of these."""
        self.renames = present_symbols([*renames, *well_known_renames(self.feed.spec.kind)])
        # Answers that are kept until the state changes may lack a symbol that is known now.
        self._mark = Mark(*self._mark)

    def entries_named(self, texts: Iterable[str]) -> dict[str, QuoteEntry | None]:
        """Returns the entry of each symbol in any spelling, or None without a quote; by the text."""
        entries, found = self._entries, dict[str, QuoteEntry | None]()
        for text in texts:
            entry = entries.get(text)
            found[text] = entry if entry is not None and entry.quote is not None else self.find(text)
        return found

    def keys_named(self, texts: Iterable[str]) -> dict[str, str | None]:
        """Returns the keys of those entries."""
        return {
            text: None if entry is None else entry.key for text, entry in self.entries_named(texts).items()
        }

    def renamed(self, named: Iterable[tuple[str, str | None]]) -> dict[str, str]:
        """Returns those names that are former symbols, with the keys that they mean."""
        return {
            name: key
            for name, key in named
            if key not in (None, name)
            and canonical_symbol(self.feed, key) != canonical_symbol(self.feed, name)
        }

    def group(self, text: str) -> str | None:
        """Returns the canonical name of a group in any letter case; None without members."""
        return self.derive(_group_names).get(text.strip().casefold())

    def keys_of(self, names: frozenset[str]) -> frozenset[str]:
        """Returns the symbols that the names mean; a group means its present members."""
        groups = [name for name in names if ":" in name]
        if not groups:
            return names
        members = self.members()
        return names.union(*(members.get(group, frozenset()) for group in groups)) - frozenset(groups)

    def scope_of(self, names: Iterable[str]) -> frozenset[str]:
        """Returns the keys and groups that names mean, and the members of the groups."""
        given = [*names]
        keys = self.keys_named(name for name in given if ":" not in name).values()
        groups = (self.group(name) for name in given if ":" in name)
        named = frozenset(filter(None, [*keys, *groups]))
        return named | self.keys_of(named)

    def members(self) -> dict[str, frozenset[str]]:
        """Returns the keys of the quotes in each group, by the group's name."""
        self._settle()
        if self._groups is None:
            self._groups = groups(self.quotes(), self.feed.spec.groups)
        return self._groups

    def ordered(self) -> list[QuoteEntry]:
        """Returns every entry that has a quote, sorted by key."""
        self._settle()
        if self._ordered is None:
            self._ordered = sorted(self.live(), key=attrgetter("key"))
        return self._ordered

    def live(self) -> Iterator[QuoteEntry]:
        """Yields every entry that has a quote, the longest unchanged first."""
        return (entry for entry in self._entries.values() if entry.quote is not None)

    def entries(self, keys: frozenset[str]) -> list[QuoteEntry]:
        """Returns the entries of some keys that have a quote, sorted by key."""
        found = map(self._entries.get, sorted(keys))
        return [entry for entry in found if entry is not None and entry.quote is not None]

    def quotes(self) -> dict[str, Quote]:
        """Returns every quote by key."""
        return {entry.key: entry.quote for entry in self._entries.values() if entry.quote is not None}

    def changes_since(self, revision: int) -> list[QuoteEntry]:
        """Returns the entries, with tombstones, that changed after `revision`; the newest change first."""
        changed = []
        for entry in reversed(self._entries.values()):
            if entry.revision <= revision:
                break
            changed.append(entry)
        return changed

    def entries_of(self, keys: frozenset[str]) -> list[QuoteEntry]:
        """Returns the entries of some keys; an entry stays valid when its quote changes or goes."""
        found = map(self._entries.get, keys)
        return [entry for entry in found if entry is not None]

    def changes_among(self, keys: frozenset[str], held: list[QuoteEntry], revision: int) -> list[QuoteEntry]:
        """Returns the entries among `keys` that changed after `revision`.

        `held` are the entries of the keys. The walk is over the held entries or the changes, whichever are
        fewer.
        """
        if len(held) <= self.mark.revision - revision:
            return [entry for entry in held if entry.revision > revision]
        return [entry for entry in self.changes_since(revision) if entry.key in keys]

    def changes_past(self, seq: int) -> list[QuoteEntry]:
        """Returns the entries that changed after `seq` of the present epoch.

        Scans every entry: after a load, the order of revisions need not be that of the bus.
        """
        return [entry for entry in self._entries.values() if entry.seq > seq]

    def may_have_left_since(self, seq: int, keys: frozenset[str]) -> bool:
        """Returns whether a symbol outside `keys` may have been among them at `seq`."""
        return any(entry.full_seq > seq for entry in self._entries.values() if entry.key not in keys)

    def apply(self, batch: Batch) -> bool:
        """Accepts a batch and returns True; returns False and does nothing if earlier batches are missing.

        A batch that was accepted before returns True too.
        """
        if batch.epoch != self.epoch or batch.seq > self._arrivals.seq + 1:
            return False
        if batch.seq > self._arrivals.seq:
            self._arrivals.add(batch)
        return True

    def load(self, snapshot: Snapshot) -> None:
        """Replaces the state by a snapshot; only real differences count as changes.

        Ignores an older one of its epoch: a bus that lost its last writes has it until a new epoch begins.
        """
        self.info = snapshot.info
        mark = self.mark
        same_epoch = snapshot.epoch == self.epoch
        known = mark.seq if same_epoch else self._ended.get(snapshot.epoch, 0) - 1
        if snapshot.seq <= known:
            return
        if not same_epoch:
            # Remembers how far the present epoch was.
            self._ended[self.epoch] = self._mark.seq
            if len(self._ended) > _ENDED_EPOCHS:
                del self._ended[next(iter(self._ended))]
        revision = mark.revision
        for key in [key for key in self._present if key not in snapshot.entries]:
            revision += self._forget(key, revision + 1)
        for key, stored in sorted(snapshot.entries.items(), key=lambda item: item[1].seq):
            revision += self._take(key, stored, revision + 1, mark.seq if same_epoch else -1)
        revision += self._book.load(snapshot, revision)
        self.epoch = snapshot.epoch
        self._mark = Mark(revision, f"{snapshot.epoch}.{self._shape}", snapshot.seq)
        self._arrivals.seq = snapshot.seq
        self.published_at = 0.0

    def _settle(self) -> None:
        """Applies the batches that have arrived; an unreadable quote drops them, which leaves a gap."""
        if self._arrivals.seq == self._mark.seq:
            return
        revision = self._mark.revision
        closings = self._arrivals.take_closings()
        try:
            arrivals = self._arrivals.take()
        except UnreadableState:
            self._arrivals.seq = self._mark.seq
            return
        for seq, closing in closings:
            revision += 1
            self._book.close(KnownClosing(revision, seq, closing))
        for key, quote, bars, seq, full_seq in arrivals:
            revision += 1
            entry = self._put(key, quote, revision, seq, full=bool(full_seq))
            entry.set_bars(bars)
            entry.full_seq = full_seq or entry.full_seq
        self._mark = Mark(revision, self._mark.epoch, self._arrivals.seq)
        self.published_at = self._arrivals.sent_at

    def _forget(self, key: str, revision: int) -> int:
        """Leaves a tombstone for a symbol that the snapshot lacks; returns the number of changes, 0 or 1."""
        if self._present[key].quote is None:
            self._present[key].seq = 0
            return 0
        self._put(key, None, revision, 0, full=True).set_bars(None)
        return 1

    def _take(self, key: str, stored: StoredQuote, revision: int, known: int) -> int:
        """Stores one entry of a snapshot; returns the number of changes, 0 or 1.

        `known` is the mirror's seq in the snapshot's epoch, -1 in another one.
        """
        entry = self._present.get(key)
        if entry is not None and entry.seq == stored.seq <= known:
            return 0
        before = entry.quote if entry is not None else None
        if entry is not None and before == stored.quote:
            entry.seq, entry.full_seq = stored.seq, stored.full_seq
            entry.set_bars(stored.bars)
            return 0
        if before is None or stored.quote is None:
            full = True
        else:  # within an epoch the number says it, which is faster than a comparison
            full = stored.full_seq > known if known >= 0 else not only_moves_differ(before, stored.quote)
        entry = self._put(key, stored.quote, revision, stored.seq, full=full)
        entry.full_seq = stored.full_seq
        entry.set_bars(stored.bars)
        return 1

    def _put(self, key: str, quote: Quote | None, revision: int, seq: int, *, full: bool) -> QuoteEntry:
        entry = self._present.get(key)
        if entry is None:
            entry = self._present[key] = QuoteEntry(key)
            self._tombstones += 1
            self._spellings[canonical_symbol(self.feed, key) or key] = key
        else:
            self._present.move_to_end(key)
        self._tombstones += (quote is None) - (entry.quote is None)
        full = full or entry.full_revision == 0
        entry.change(quote, revision, seq, full=full)
        if full:
            self._groups = self._ordered = None
            self.full_revision = revision
        return entry


def _group_names(mirror: Mirror) -> dict[str, str]:
    """Returns the names of all groups by their case-folded spelling."""
    return {name.casefold(): name for name in mirror.members()}
