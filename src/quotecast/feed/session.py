"""One connection's side of the feed protocol: commands in, frames out; no I/O.

A connection's whole state is what it wants and its cursor, the point up to which it has been told.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec
from msgspec import Struct

from quotecast.errors import CloseCode
from quotecast.feed import frames
from quotecast.feed.frames import Id, Limits, Rejected
from quotecast.feed.mirror import Entry, Mark, Mirror
from quotecast.market.codec import iso_utc

INTERVALS: Final = (100, 250, 500, 1000, 5000)
DEFAULT_INTERVAL: Final = 250
MAX_MESSAGE_BYTES: Final = 65_536
MAX_FAULTS: Final = 10
COMMANDS_PER_SECOND: Final = 20

#: Keys of the symbols a connection wants; None is all of them.
Wanted = frozenset[str] | None


class Query(Struct, frozen=True):
    """What the address of a feed asked for."""

    symbols: str | None = None
    interval: str | None = None
    since: str | None = None


class Command(Struct, frozen=True):
    """What a client sends."""

    action: Literal["subscribe", "unsubscribe", "list", "ping"]
    symbols: list[str] | Literal["all"] | None = None
    id: int | str | None = None
    interval: int | None = None
    since: str | None = None


class _Tagged(Struct):
    id: int | str | None = None


class _CommandError(Exception):
    """A command that is malformed or out of bounds; nothing was changed."""


_commands = msgspec.json.Decoder(Command)
_tags = msgspec.json.Decoder(_Tagged)


class Session:
    """Answers one client; `close_code` says when the client has to go."""

    def __init__(self, mirror: Mirror, limits: Limits) -> None:
        self.wanted: Wanted = frozenset()
        self.mark = mirror.mark
        self.interval = DEFAULT_INTERVAL
        self.close_code: CloseCode | None = None
        self._mirror = mirror
        self._limits = limits
        self._faults = 0
        self._budget = float(COMMANDS_PER_SECOND)
        self._budget_at = 0.0

    def open(self, query: Query, heartbeat_ms: int) -> list[str]:
        """The frames that greet a client, with what its address asked for."""
        greeting = [frames.welcome(self._mirror.feed, self._mirror.mark, heartbeat_ms, self._limits)]
        if query == Query():
            return greeting
        try:
            interval = _interval_of(query.interval)
            command = Command("subscribe", _names(query.symbols), interval=interval, since=query.since)
            return greeting + self._subscribe(command)
        except _CommandError as refusal:
            return [*greeting, self._fault(str(refusal))]

    def receive(self, message: str | bytes, now: float) -> list[str]:
        """Obeys one command; `now` is Unix time, for the pong."""
        request: Id = None
        try:
            command = _decode(message)
            request = command.id
            return self._obey(command, now)
        except _CommandError as refusal:
            return [self._fault(str(refusal), request or _tag_of(message))]

    def owed(self) -> str | None:
        """Brings the connection to the present; the frame that does so, if anything changed."""
        before, self.mark = self.mark, self._mirror.mark
        changed = self.changed_since(before)
        return frames.update(self.mark, changed, before.revision) if changed else None

    def changed_since(self, mark: Mark) -> list[Entry]:
        """The wanted entries that changed past a point."""
        if self.wanted is None:
            return self._mirror.changed_since(mark.revision)
        return self._mirror.changed_among(self.wanted, mark.revision)

    def pause(self, now: float) -> float:
        """Counts one command; seconds to wait before the next may be read (monotonic `now`)."""
        refill = (now - self._budget_at) * COMMANDS_PER_SECOND
        self._budget = min(COMMANDS_PER_SECOND, self._budget + refill) - 1
        self._budget_at = now
        return max(0.0, -self._budget / COMMANDS_PER_SECOND)

    def _obey(self, command: Command, now: float) -> list[str]:
        match command.action:
            case "subscribe":
                return self._subscribe(command)
            case "unsubscribe":
                return self._unsubscribe(command)
            case "list":
                return [self._acknowledgement(command.id)]
            case "ping":
                return [frames.pong(iso_utc(now), command.id)]

    def _subscribe(self, command: Command) -> list[str]:
        if command.symbols is None and command.interval is None and command.since is None:
            raise _CommandError("subscribe needs symbols, a list or all")
        interval = _checked_interval(command.interval, self.interval)
        added, rejected = self._resolve(command.symbols)
        wanted = self._joined(added)
        self.interval = interval
        if command.since is not None:
            self.wanted = wanted
            return [self._acknowledgement(command.id, rejected), self._resumed(command.since)]
        if wanted == self.wanted:
            return [self._acknowledgement(command.id, rejected)]
        return self._extended(wanted, command.id, rejected)

    def _extended(self, wanted: Wanted, request: Id, rejected: Sequence[Rejected]) -> list[str]:
        """Brings the old set to the present, then adds: one cursor serves both."""
        update = self.owed()
        before, self.wanted = self.wanted or frozenset(), wanted
        opening = [update] if update else []
        snapshot = self._snapshot("subscribe", before)
        return [*opening, self._acknowledgement(request, rejected), snapshot]

    def _snapshot(self, reason: str, held: frozenset[str] = frozenset()) -> str:
        """All that is wanted and not yet held; the whole feed is encoded once for all who want it."""
        if self.wanted is None and not held:
            whole = self._mirror.live
            return self._mirror.once(reason, lambda: frames.snapshot(self.mark, reason, whole()))
        fresh = [entry for entry in self._wanted_entries() if entry.key not in held]
        return frames.snapshot(self.mark, reason, fresh)

    def _resumed(self, since: str) -> str:
        """What changed past a point that the client vouches for, or everything if it is not known here."""
        self.mark = self._mirror.mark
        epoch, seq = parse_since(since)
        if epoch == self.mark.epoch and seq <= self.mark.seq:
            changed = [entry for entry in self._mirror.changed_past(seq) if self._wants(entry.key)]
            # A snapshot cannot say that a symbol is gone; starting over can.
            if all(entry.quote is not None for entry in changed):
                return frames.snapshot(self.mark, "resume", changed)
        return self._snapshot("resync")

    def _unsubscribe(self, command: Command) -> list[str]:
        if command.symbols is None:
            raise _CommandError("unsubscribe needs symbols, a list or all")
        if command.symbols == "all":
            self.wanted = frozenset()
        elif self.wanted is None:
            raise _CommandError("the subscription is to all; unsubscribe all, then subscribe to names")
        else:
            gone, _ = self._resolve(command.symbols)
            self.wanted -= (gone or frozenset()) | frozenset(command.symbols)
        return [self._acknowledgement(command.id)]

    def _resolve(self, symbols: list[str] | Literal["all"] | None) -> tuple[Wanted, list[Rejected]]:
        """Keys of the named symbols, and the names that the feed does not know."""
        if symbols == "all":
            return None, []
        named = {name: self._mirror.find(name) for name in symbols or ()}
        keys = frozenset(entry.key for entry in named.values() if entry is not None)
        return keys, [Rejected(name[:64]) for name, entry in named.items() if entry is None]

    def _joined(self, added: Wanted) -> Wanted:
        if added is None or self.wanted is None:
            return None
        joined = self.wanted | added
        if len(joined) > self._limits.symbols:
            raise _CommandError(f"at most {self._limits.symbols} symbols per connection")
        return joined

    def _wants(self, key: str) -> bool:
        return self.wanted is None or key in self.wanted

    def _wanted_entries(self) -> Iterable[Entry]:
        if self.wanted is None:
            return self._mirror.live()
        found = (self._mirror.find(key) for key in sorted(self.wanted))
        return [entry for entry in found if entry is not None]

    def _acknowledgement(self, request: Id, rejected: Sequence[Rejected] = ()) -> str:
        symbols = "all" if self.wanted is None else sorted(self.wanted)
        return frames.subscribed(symbols, rejected, self.interval, request)

    def _fault(self, detail: str, request: Id = None) -> str:
        self._faults += 1
        if self._faults > MAX_FAULTS:
            self.close_code = CloseCode.BAD_COMMANDS
        return frames.error(400, detail, request)


def parse_since(text: str) -> tuple[str, int]:
    """Epoch and seq of `<epoch>-<seq>`; of anything else an epoch that never was."""
    epoch, _, digits = text.rpartition("-")
    return (epoch, int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 20 else ("", 0)


def is_ahead(mirror: Mirror, since: str | None) -> bool:
    """Whether a client comes with more than this worker knows yet, from one that was a moment faster."""
    epoch, seq = parse_since(since or "")
    return epoch == mirror.mark.epoch and seq > mirror.mark.seq


def _decode(message: str | bytes) -> Command:
    if isinstance(message, bytes):
        raise _CommandError("commands are JSON in text messages")
    if len(message) > MAX_MESSAGE_BYTES or len(message.encode()) > MAX_MESSAGE_BYTES:
        raise _CommandError(f"at most {MAX_MESSAGE_BYTES} bytes per message")
    try:
        return _commands.decode(message)
    except msgspec.ValidationError as error:
        raise _CommandError(str(error)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise _CommandError("Malformed JSON") from None


def _tag_of(message: str | bytes) -> Id:
    """The id of a command that could not be obeyed, so that its sender knows which it was."""
    try:
        return _tags.decode(message).id
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def _names(symbols: str | None) -> list[str] | Literal["all"]:
    names = [name.strip() for name in (symbols or "").split(",") if name.strip()]
    return "all" if [name.lower() for name in names] == ["all"] else names


def _interval_of(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise _CommandError(_interval_rule())
    return int(text[:9])


def _checked_interval(interval: int | None, present: int) -> int:
    if interval is None:
        return present
    if interval not in INTERVALS:
        raise _CommandError(_interval_rule())
    return interval


def _interval_rule() -> str:
    return f"interval is one of {', '.join(map(str, INTERVALS))} milliseconds"
