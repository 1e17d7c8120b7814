"""One connection's side of the feed protocol: commands in, frames out; no I/O.

The state of a connection is its subscription and its cursor: the mark up to which it has received changes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from quotecast.errors import CloseCode
from quotecast.feed import frames
from quotecast.feed.commands import (
    DEFAULT_INTERVAL,
    Command,
    CommandError,
    Query,
    decode,
    interval_of,
    names_of,
    require_interval,
    tag_of,
)
from quotecast.feed.encoding import JSON, Encoding, Frame
from quotecast.feed.frames import Id, Limits, Rejected
from quotecast.feed.mirror import FeedState, Mirror, QuoteEntry
from quotecast.feed.pace import CommandPace
from quotecast.market.codec import iso_utc

MAX_FAULTS: Final = 10
COMMANDS_PER_SECOND: Final = 20
#: A command may repeat names and include unknown ones, so it may be longer than a subscription.
NAMES_PER_SYMBOL: Final = 2

#: A subscription: keys of symbols and names of groups; None is every symbol.
Wanted = frozenset[str] | None


_NOTHING: Final[frozenset[str]] = frozenset()


class FeedSession:
    """The subscription and cursor of one client; a `close_code` asks the stream to disconnect it."""

    __slots__ = (
        "_faults",
        "_in_groups",
        "_limits",
        "_mirror",
        "_pace",
        "_resumptions",
        "close_code",
        "encoding",
        "entries",
        "interval",
        "keys",
        "mark",
        "wanted",
    )

    def __init__(
        self,
        mirror: Mirror,
        limits: Limits,
        encoding: Encoding = JSON,
        resumptions: Counter[str] | None = None,
    ) -> None:
        self.wanted: Wanted = _NOTHING
        self.mark = mirror.mark
        self.interval = DEFAULT_INTERVAL
        self.encoding = encoding
        self.close_code: CloseCode | None = None
        self._mirror = mirror
        self._limits = limits
        #: Counts of reconnects with a cursor, by their outcome: `resume` or `resync`.
        self._resumptions = Counter[str]() if resumptions is None else resumptions
        #: The symbols that `wanted` meant at `mark`.
        self.keys = _NOTHING
        self.entries: list[QuoteEntry] = []
        #: Whether `wanted` includes groups, whose members change.
        self._in_groups = False
        self._faults = 0
        self._pace = CommandPace(COMMANDS_PER_SECOND)

    def open(self, query: Query, heartbeat_ms: int) -> list[Frame]:
        """Returns the frames that greet a client: the welcome, and the answer to the query of its address."""
        write = self.encoding.write
        greeting = [write(frames.welcome(self._mirror.feed, self._mirror.mark, heartbeat_ms, self._limits))]
        if query == Query():
            return greeting
        try:
            interval = interval_of(query.interval)
            command = Command("subscribe", names_of(query.symbols), interval=interval, since=query.since)
            return greeting + self._subscribe(command)
        except CommandError as refusal:
            return [*greeting, self._fault(str(refusal))]

    def receive(self, message: str | bytes, now: float) -> list[Frame]:
        """Returns the frames that answer one command; `now` is Unix time, for the pong."""
        request: Id = None
        try:
            command = decode(message, self.encoding)
            request = command.id
            return self._obey(command, now)
        except CommandError as refusal:
            return [self._fault(str(refusal), request or tag_of(message))]

    def advance(self) -> Frame | None:
        """Moves the cursor to the mirror's mark; returns the update with the changes, or None."""
        mirror, before, held = self._mirror, self.mark, self.keys
        self.mark = mirror.mark
        if self.wanted is None:
            changed = mirror.changes_since(before.revision)
            removed: frozenset[str] = frozenset()
        else:
            if self._in_groups:
                self._hold(mirror.keys_of(self.wanted))
            changed = mirror.changes_among(self.keys, self.entries, before.revision)
            removed = held - self.keys if self._in_groups else frozenset()
        if not changed and not removed:
            return None
        data = [entry for entry in changed if entry.quote is not None]
        if len(data) < len(changed):
            removed |= {entry.key for entry in changed if entry.quote is None}
        notation = self.encoding.notation
        return self.encoding.write(frames.update(self.mark, data, before.revision, sorted(removed), notation))

    def copy_position(self, other: "FeedSession") -> None:
        """Copies the cursor of an identical session that was just advanced."""
        self.mark, self.keys, self.entries = other.mark, other.keys, other.entries

    def heartbeat(self, timestamp: str, feed: FeedState, market: str) -> Frame:
        """Returns a heartbeat frame with this session's cursor."""
        return self.encoding.write(frames.heartbeat(self.mark, timestamp, feed, market))

    def shutdown(self, retry_after_ms: int) -> Frame:
        """Returns the shutdown frame of a restarting server."""
        return self.encoding.write(frames.shutdown(retry_after_ms))

    def pause(self, now: float) -> float:
        """Counts one command; returns the seconds to wait before the next one (`now` is monotonic)."""
        return self._pace.spend(1, now)

    def _obey(self, command: Command, now: float) -> list[Frame]:
        match command.action:
            case "subscribe":
                return self._subscribe(command)
            case "unsubscribe":
                return self._unsubscribe(command)
            case "list":
                return [self._acknowledgement(command.id)]
            case "ping":
                return [self.encoding.write(frames.pong(iso_utc(now), command.id))]

    def _subscribe(self, command: Command) -> list[Frame]:
        if command.symbols is None and command.interval is None and command.since is None:
            raise CommandError("subscribe needs symbols, a list or all")
        if isinstance(command.symbols, list) and command.symbols and not self._mirror.loaded:
            raise CommandError("there is no data yet, so no symbol is known")
        interval = require_interval(command.interval, self.interval)
        added, rejected = self._resolve(command.symbols)
        wanted = self._union(added)
        self.interval = interval
        if command.since is not None:
            self.wanted = wanted
            # A name that is rejected now may have existed at `since`: only a resync says that it is gone.
            resumed = self._resume(command.since, known=not rejected)
            return [self._acknowledgement(command.id, rejected), resumed]
        if wanted == self.wanted:
            return [self._acknowledgement(command.id, rejected)]
        return self._extend(wanted, command.id, rejected)

    def _extend(self, wanted: Wanted, request: Id, rejected: Sequence[Rejected]) -> list[Frame]:
        """Advances the old set before it adds symbols, so that one cursor serves both."""
        update = self.advance()
        held = self.keys
        self._want(wanted)
        opening = [update] if update else []
        return [*opening, self._acknowledgement(request, rejected), self._snapshot("subscribe", held)]

    def _resume(self, since: str, *, known: bool) -> Frame:
        """Returns the changes after the client's cursor; a resync if this mirror lacks that point."""
        self.mark = self._mirror.mark
        self._want(self.wanted)
        epoch, seq = parse_since(since)
        changed = self._changes_past(seq) if known and epoch == self.mark.epoch else None
        if epoch:  # other texts ask for a resync
            self._resumptions["resync" if changed is None else "resume"] += 1
        return self._snapshot("resync") if changed is None else self._encode_snapshot("resume", changed)

    def _changes_past(self, seq: int) -> list[QuoteEntry] | None:
        """Returns the subscribed entries changed after `seq`; None if the client needs a resync."""
        if seq > self.mark.seq:
            return None
        changed = [entry for entry in self._mirror.changes_past(seq) if self._wants(entry.key)]
        # A merged snapshot cannot say that a symbol is gone; a resync can.
        whole = all(entry.quote is not None for entry in changed) and not self._may_have_lost_members(seq)
        return changed if whole else None

    def _snapshot(self, reason: str, held: frozenset[str] = frozenset()) -> Frame:
        """Returns a snapshot of the subscription without `held`; sessions share that of the whole feed."""
        if self.wanted is None and not held:
            return self._mirror.derive(_whole_snapshot, reason, self.encoding)
        entries = self._mirror.live() if self.wanted is None else self._mirror.entries(self.keys)
        return self._encode_snapshot(reason, (entry for entry in entries if entry.key not in held))

    def _encode_snapshot(self, reason: str, entries: Iterable[QuoteEntry]) -> Frame:
        return self.encoding.write(frames.snapshot(self.mark, reason, entries, self.encoding.notation))

    def _unsubscribe(self, command: Command) -> list[Frame]:
        if command.symbols is None:
            raise CommandError("unsubscribe needs symbols, a list or all")
        if isinstance(command.symbols, list) and self.wanted is None:
            raise CommandError("the subscription is to all; unsubscribe all, then subscribe to names")
        # The client must hear of symbols that left a group before the set changes.
        update = self.advance()
        if isinstance(command.symbols, str) or self.wanted is None:
            self._want(frozenset())
        else:
            gone, _ = self._resolve(command.symbols)
            self._want(self.wanted - (gone or frozenset()) - frozenset(command.symbols))
        return [*([update] if update else []), self._acknowledgement(command.id)]

    def _resolve(self, symbols: list[str] | str | None) -> tuple[Wanted, list[Rejected]]:
        """Returns the keys and groups that the names mean, and the unknown names.

        Raises CommandError for a list that is too long, before any look-up.
        """
        if isinstance(symbols, str):
            return None, []
        most = NAMES_PER_SYMBOL * self._limits.symbols
        if len(symbols or ()) > most:
            raise CommandError(f"at most {most} names per command")
        named = {name: self._name_of(name) for name in symbols or ()}
        known = frozenset(name for name in named.values() if name is not None)
        return known, [Rejected(name[:64]) for name, found in named.items() if found is None]

    def _name_of(self, name: str) -> str | None:
        if ":" in name:
            return self._mirror.group(name)
        entry = self._mirror.find(name)
        return entry.key if entry is not None else None

    def _union(self, added: Wanted) -> Wanted:
        if added is None or self.wanted is None:
            return None
        joined = self.wanted | added
        if len(joined) > self._limits.symbols:
            raise CommandError(f"at most {self._limits.symbols} symbols per connection")
        return joined

    def _want(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self._in_groups = wanted is not None and any(":" in name for name in wanted)
        self._hold(frozenset() if wanted is None else self._mirror.keys_of(wanted))

    def _hold(self, keys: frozenset[str]) -> None:
        if keys != self.keys:
            self.keys = keys
            self.entries = self._mirror.entries_of(keys)

    def _wants(self, key: str) -> bool:
        return self.wanted is None or key in self.keys

    def _may_have_lost_members(self, seq: int) -> bool:
        """Returns whether a symbol may have left a subscribed group since `seq`: the client still has it."""
        return self._in_groups and self._mirror.may_have_left_since(seq, self.keys)

    def _acknowledgement(self, request: Id, rejected: Sequence[Rejected] = ()) -> Frame:
        symbols = "all" if self.wanted is None else sorted(self.wanted)
        return self.encoding.write(frames.subscribed(symbols, rejected, self.interval, request))

    def _fault(self, detail: str, request: Id = None) -> Frame:
        self._faults += 1
        if self._faults > MAX_FAULTS:
            self.close_code = CloseCode.BAD_COMMANDS
        return self.encoding.write(frames.error(400, detail, request))


def _whole_snapshot(mirror: Mirror, reason: str, encoding: Encoding) -> Frame:
    """Returns the snapshot of all quotes at the mirror's present mark."""
    return encoding.write(frames.snapshot(mirror.mark, reason, mirror.live(), encoding.notation))


def parse_since(text: str) -> tuple[str, int]:
    """Returns the epoch and seq of `<epoch>-<seq>`; an empty epoch, which no mirror has, for other text."""
    epoch, _, digits = text.rpartition("-")
    return (epoch, int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 20 else ("", 0)


def is_ahead(mirror: Mirror, since: str | None) -> bool:
    """Returns whether a client's cursor is ahead of this mirror, as it may be after a faster worker.

    A worker of another version names its epoch with another shape, or without one.
    """
    epoch, seq = parse_since(since or "")
    return epoch.partition(".")[0] == mirror.epoch and seq > mirror.mark.seq
