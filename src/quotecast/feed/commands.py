"""Parses what clients send to a feed: the query of its address and the commands on its socket."""

from datetime import UTC, datetime
from typing import Annotated, Final, Literal, TypeVar, get_type_hints

import msgspec
from msgspec import Meta, Struct

from quotecast.complaints import choices_of, complaint
from quotecast.feed.encoding import Encoding
from quotecast.feed.frames import Id
from quotecast.market.own_bars import LIVE_INTERVALS, LiveInterval

INTERVALS: Final = (100, 250, 500, 1000, 5000)
DEFAULT_INTERVAL: Final = 250
MAX_MESSAGE_BYTES: Final = 65_536
#: Bounds of the seconds between two heartbeats that a client may ask for.
MIN_HEARTBEAT_SECONDS: Final = 1
MAX_HEARTBEAT_SECONDS: Final = 60


#: Integers that every notation can write.
WireInteger = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


#: `all` in any letter case. A list always names symbols, even a symbol ALL. `decode` checks the spelling: a
#: struct with two fields of a type that has a pattern and a list crashes at exit (msgspec 0.22).
All = Annotated[str, Meta(extra_json_schema={"enum": ["all"]})]


class Query(Struct, frozen=True):
    """The query parameters of a feed's address, unparsed; None where one is missing."""

    symbols: str | None = None
    interval: str | None = None
    since: str | None = None
    fields: str | None = None
    bars: str | None = None
    bars_since: str | None = None
    snapshot: str | None = None
    #: A parameter of the address that does not exist, and the one that it resembles.
    unknown: str | None = None
    meant: str | None = None


#: The interval of live bars; `none` ends them.
BarsChoice = LiveInterval | Literal["none"]


class Command(Struct, frozen=True, rename="camel"):
    """A command of a client; `interval` in milliseconds, `since` as `<epoch>-<seq>`.

    `bars_since` is the time up to which the client has final bars, ISO 8601. Without `snapshot` the client
    receives added symbols by their changes alone; with `since` it has no effect.
    `feed` names the feed on the socket of all feeds; a feed's own socket ignores which.
    """

    action: Literal["subscribe", "unsubscribe", "list", "ping"]
    symbols: list[str] | All | None = None
    id: WireInteger | str | None = None
    interval: int | None = None
    since: str | None = None
    fields: list[str] | All | None = None
    bars: BarsChoice | None = None
    bars_since: str | None = None
    snapshot: bool = True
    feed: str | None = None


#: Fields of a command that are a list, or `all`.
_LISTS: Final = ("symbols", "fields")


class _Numbered(Struct):
    id: WireInteger | str | None = None


class _OfFeed(Struct):
    feed: str | None = None


_Tag = TypeVar("_Tag", _Numbered, _OfFeed)


class CommandError(Exception):
    """A command is rejected; the session is unchanged. Its client is at fault if `code` is 400."""

    def __init__(self, detail: str, code: int = 400) -> None:
        super().__init__(detail)
        self.code = code


_commands = msgspec.json.Decoder(Command)
_packed_commands = msgspec.msgpack.Decoder(Command)


def decode(message: str | bytes, encoding: Encoding) -> Command:
    """Returns a client's command. Raises CommandError."""
    packed = isinstance(message, bytes)
    if packed and encoding.notation != "msgpack":
        raise CommandError("Commands must be JSON in text messages")
    size = len(message) if isinstance(message, bytes) else len(message.encode("utf-8", "surrogatepass"))
    if size > MAX_MESSAGE_BYTES:
        raise CommandError(f"A message may have at most {MAX_MESSAGE_BYTES} bytes")
    try:
        if isinstance(message, bytes):
            command = _packed_commands.decode(message)
        else:
            command = _commands.decode(message)
    except msgspec.ValidationError as error:
        raise CommandError(_explain(str(error))) from None
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise CommandError("Commands must be valid MessagePack" if packed else "Malformed JSON") from None
    for field in _LISTS:
        value = getattr(command, field)
        if isinstance(value, str) and value.lower() != "all":
            raise CommandError(_list_rule(field))
    return command


def _explain(text: str) -> str:
    field = complaint(text).field
    if field in _LISTS:
        return _list_rule(field)
    explained = complaint(text, choices_of(get_type_hints(Command).get(field)))
    return f"{field or 'command'}: {explained.message}"


def _list_rule(field: str) -> str:
    return f"{field}: Must be a list of {field}, or all"


def tags_of(message: str | bytes) -> tuple[Id, str | None]:
    """Returns the id and the feed of a rejected command for the error frame; None for what is unreadable."""
    return _read(message, _Numbered()).id, _read(message, _OfFeed()).feed


def _read(message: str | bytes, unreadable: _Tag) -> _Tag:
    """Returns one field of a message; `unreadable` if that has another type, whatever the others have."""
    kind = type(unreadable)
    try:
        if isinstance(message, bytes):
            return msgspec.msgpack.decode(message, type=kind)
        return msgspec.json.decode(message, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return unreadable


def names_of(symbols: str | None) -> list[str] | Literal["all"]:
    """Returns the names of a comma-separated list; `all` alone, in any letter case, means every symbol."""
    names = [name for name in map(str.strip, (symbols or "").split(",")) if name]
    return "all" if len(names) == 1 and names[0].lower() == "all" else names


def command_of(query: Query) -> Command:
    """Returns the subscription that an address asks for. Raises CommandError."""
    if query.unknown is not None:
        raise CommandError(f"{query.unknown}: There is no such parameter; did you mean {query.meant}?")
    return Command(
        "subscribe",
        names_of(query.symbols),
        interval=_interval_of(query.interval),
        since=query.since,
        fields=None if query.fields is None else names_of(query.fields),
        bars=_bars_of(query.bars),
        bars_since=query.bars_since,
        snapshot=_snapshot_of(query.snapshot),
    )


def heartbeat_ms_of(text: str) -> int:
    """Returns the milliseconds between two heartbeats that an address asks for. Raises CommandError."""
    seconds = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
    if not MIN_HEARTBEAT_SECONDS <= seconds <= MAX_HEARTBEAT_SECONDS:
        raise CommandError(
            f"heartbeat: Must be whole seconds from {MIN_HEARTBEAT_SECONDS} to {MAX_HEARTBEAT_SECONDS}"
        )
    return seconds * 1000


def require_fields(given: list[str] | str, known: tuple[str, ...]) -> tuple[str, ...] | None:
    """Returns the selected fields in the order of `known`; None for all. Raises CommandError."""
    if isinstance(given, str):
        return None
    if not given:
        raise CommandError("fields: Must name a field, or be all")
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise CommandError(f'fields: There is no "{unknown[:64]}"; there are {", ".join(known)}')
    return tuple(name for name in known if name in given)


def require_time(text: str) -> int:
    """Returns the Unix time of an ISO 8601 text, in UTC if it names no zone. Raises CommandError."""
    try:
        moment = datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise CommandError("barsSince: Must be a time such as 2026-11-22T13:31:00Z") from None


def _bars_of(text: str | None) -> BarsChoice | None:
    """Returns the interval of bars that an address names. Raises CommandError."""
    if text is None:
        return None
    if text == "none":
        return "none"
    for interval in LIVE_INTERVALS:
        if text == interval:
            return interval
    raise CommandError(f"bars: Must be one of {', '.join([*LIVE_INTERVALS, 'none'])}")


def _snapshot_of(text: str | None) -> bool:
    """Returns whether an address asks for a snapshot. Raises CommandError."""
    if text not in {None, "true", "false"}:
        raise CommandError("snapshot: Must be true or false")
    return text != "false"


def _interval_of(text: str | None) -> int | None:
    """Returns the interval that an address names, in milliseconds. Raises CommandError."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise CommandError(_interval_rule())
    return int(text[:9])


def require_interval(interval: int | None, present: int) -> int:
    """Returns a supported interval in milliseconds, `present` by default. Raises CommandError."""
    if interval is None:
        return present
    if interval not in INTERVALS:
        raise CommandError(_interval_rule())
    return interval


def _interval_rule() -> str:
    return f"interval: Must be one of {', '.join(map(str, INTERVALS))} milliseconds"
