"""One connection's side of the feed protocol: commands in, frames out; no I/O.

A connection's whole state is what it wants and its cursor, the point up to which it has been told.
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
#: A list may repeat names and hold unknown ones, so it may be longer than a subscription.
NAMES_PER_SYMBOL: Final = 2

#: What a connection wants: keys of symbols and names of groups; None is everything.
Wanted = frozenset[str] | None


class FeedSession:
    """Answers one client; `close_code` says when the client has to go."""

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
        self.wanted: Wanted = frozenset()
        self.mark = mirror.mark
        self.interval = DEFAULT_INTERVAL
        self.encoding = encoding
        self.close_code: CloseCode | None = None
        self._mirror = mirror
        self._limits = limits
        #: Cursors that clients came back with, by what they got: `resume` or `resync`.
        self._resumptions = Counter[str]() if resumptions is None else resumptions
        #: The symbols that `wanted` stood for at `mark`.
        self.keys: frozenset[str] = frozenset()
        self.entries: list[QuoteEntry] = []
        #: Whether the symbols may change while `wanted` does not.
        self._in_groups = False
        self._faults = 0
        self._pace = CommandPace(COMMANDS_PER_SECOND)

    def open(self, query: Query, heartbeat_ms: int) -> list[Frame]:
        """The frames that greet a client, with what its address asked for."""
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
        """Obeys one command; `now` is Unix time, for the pong."""
        request: Id = None
        try:
            command = decode(message, self.encoding)
            request = command.id
            return self._obey(command, now)
        except CommandError as refusal:
            return [self._fault(str(refusal), request or tag_of(message))]

    def advance(self) -> Frame | None:
        """Brings the connection to the present; the frame that does so, if anything changed."""
        mirror, before, held = self._mirror, self.mark, self.keys
        self.mark = mirror.mark
        if self.wanted is None:
            changed = mirror.changes_since(before.revision)
            left: frozenset[str] = frozenset()
        else:
            if self._in_groups:
                self._hold(mirror.keys_of(self.wanted))
            changed = mirror.changes_among(self.keys, self.entries, before.revision)
            left = held - self.keys if self._in_groups else frozenset()
        if not changed and not left:
            return None
        data = [entry for entry in changed if entry.quote is not None]
        if len(data) < len(changed):
            left |= {entry.key for entry in changed if entry.quote is None}
        notation = self.encoding.notation
        return self.encoding.write(frames.update(self.mark, data, before.revision, sorted(left), notation))

    def copy_position(self, other: "FeedSession") -> None:
        """Stands where another session with the same wants, brought to the present, stands."""
        self.mark, self.keys, self.entries = other.mark, other.keys, other.entries

    def heartbeat(self, timestamp: str, feed: FeedState, market: str) -> Frame:
        """A sign of life."""
        return self.encoding.write(frames.heartbeat(self.mark, timestamp, feed, market))

    def shutdown(self, retry_after_ms: int) -> Frame:
        """The farewell of a server that restarts."""
        return self.encoding.write(frames.shutdown(retry_after_ms))

    def pause(self, now: float) -> float:
        """Counts one command; seconds to wait before the next may be read (monotonic `now`)."""
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
            # What is rejected now may have been known then: only starting over tells that it is gone.
            resumed = self._resume(command.since, known=not rejected)
            return [self._acknowledgement(command.id, rejected), resumed]
        if wanted == self.wanted:
            return [self._acknowledgement(command.id, rejected)]
        return self._extend(wanted, command.id, rejected)

    def _extend(self, wanted: Wanted, request: Id, rejected: Sequence[Rejected]) -> list[Frame]:
        """Brings the old set to the present, then adds: one cursor serves both."""
        update = self.advance()
        held = self.keys
        self._want(wanted)
        opening = [update] if update else []
        return [*opening, self._acknowledgement(request, rejected), self._snapshot("subscribe", held)]

    def _resume(self, since: str, *, known: bool) -> Frame:
        """What changed past a point that the client vouches for, or everything if it is not known here."""
        self.mark = self._mirror.mark
        self._want(self.wanted)
        epoch, seq = parse_since(since)
        changed = self._changes_past(seq) if known and epoch == self.mark.epoch else None
        if epoch:  # anything else asks to start over
            self._resumptions["resync" if changed is None else "resume"] += 1
        return self._snapshot("resync") if changed is None else self._encode_snapshot("resume", changed)

    def _changes_past(self, seq: int) -> list[QuoteEntry] | None:
        """What is wanted and changed past a point; None if only starting over tells what is gone since."""
        if seq > self.mark.seq:
            return None
        changed = [entry for entry in self._mirror.changes_past(seq) if self._wants(entry.key)]
        # A snapshot cannot say that a symbol is gone; starting over can.
        whole = all(entry.quote is not None for entry in changed) and not self._may_have_lost_members(seq)
        return changed if whole else None

    def _snapshot(self, reason: str, held: frozenset[str] = frozenset()) -> Frame:
        """All that is wanted and not yet held; the whole feed is encoded once for all who want it."""
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
        # What left a group until now must be told before the set changes.
        update = self.advance()
        if isinstance(command.symbols, str) or self.wanted is None:
            self._want(frozenset())
        else:
            gone, _ = self._resolve(command.symbols)
            self._want(self.wanted - (gone or frozenset()) - frozenset(command.symbols))
        return [*([update] if update else []), self._acknowledgement(command.id)]

    def _resolve(self, symbols: list[str] | str | None) -> tuple[Wanted, list[Rejected]]:
        """Keys and groups of the names, and the names that the feed does not know.

        Raises CommandError before any work on a list that is too long.
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
        """Whether a symbol may have left a wanted group since: then the client holds one too many."""
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
    """Epoch and seq of `<epoch>-<seq>`; of anything else an epoch that never was."""
    epoch, _, digits = text.rpartition("-")
    return (epoch, int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 20 else ("", 0)


def is_ahead(mirror: Mirror, since: str | None) -> bool:
    """Whether a client comes with more than this worker knows yet, from one that was a moment faster.

    That one may be of another version: then its epoch has another shape, or none.
    """
    epoch, seq = parse_since(since or "")
    return epoch.partition(".")[0] == mirror.epoch and seq > mirror.mark.seq
