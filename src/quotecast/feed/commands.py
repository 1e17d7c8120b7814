"""What clients say to a feed: the query of its address and the commands on its socket; pure parsing."""

from typing import Annotated, Final, Literal, get_type_hints

import msgspec
from msgspec import Meta, Struct

from quotecast.complaints import choices_of, complaint
from quotecast.feed.encoding import Encoding
from quotecast.feed.frames import Id

INTERVALS: Final = (100, 250, 500, 1000, 5000)
DEFAULT_INTERVAL: Final = 250
MAX_MESSAGE_BYTES: Final = 65_536


#: Integers that every notation can write.
WireInteger = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


#: Everything, in any letter case; a list always names symbols, also one that is called ALL.
All = Annotated[str, Meta(pattern="^[Aa][Ll][Ll]$", extra_json_schema={"enum": ["all"]})]


class Query(Struct, frozen=True):
    """What the address of a feed asked for."""

    symbols: str | None = None
    interval: str | None = None
    since: str | None = None


class Command(Struct, frozen=True):
    """What a client sends."""

    action: Literal["subscribe", "unsubscribe", "list", "ping"]
    symbols: list[str] | All | None = None
    id: WireInteger | str | None = None
    interval: int | None = None
    since: str | None = None


class _Tagged(Struct):
    id: WireInteger | str | None = None


class CommandError(Exception):
    """A command that is malformed or out of bounds; nothing was changed."""


_commands = msgspec.json.Decoder(Command)
_packed_commands = msgspec.msgpack.Decoder(Command)
_tags = msgspec.json.Decoder(_Tagged)
_packed_tags = msgspec.msgpack.Decoder(_Tagged)


def decode(message: str | bytes, encoding: Encoding) -> Command:
    """A client's command. Raises CommandError."""
    packed = isinstance(message, bytes)
    if packed and encoding.notation != "msgpack":
        raise CommandError("commands are JSON in text messages")
    size = len(message) if isinstance(message, bytes) else len(message.encode("utf-8", "surrogatepass"))
    if size > MAX_MESSAGE_BYTES:
        raise CommandError(f"at most {MAX_MESSAGE_BYTES} bytes per message")
    try:
        if isinstance(message, bytes):
            return _packed_commands.decode(message)
        return _commands.decode(message)
    except msgspec.ValidationError as error:
        raise CommandError(_explain(str(error))) from None
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise CommandError("Malformed MessagePack" if packed else "Malformed JSON") from None


def _explain(text: str) -> str:
    field = complaint(text).field
    if field == "symbols":
        return "symbols: Must be a list of symbols, or all"
    said = complaint(text, choices_of(get_type_hints(Command).get(field)))
    return f"{field or 'command'}: {said.message}"


def tag_of(message: str | bytes) -> Id:
    """The id of a command that could not be obeyed, so that its sender knows which it was."""
    try:
        if isinstance(message, bytes):
            return _packed_tags.decode(message).id
        return _tags.decode(message).id
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def names_of(symbols: str | None) -> list[str] | Literal["all"]:
    """The names of a comma-separated list; `all`, in any case, is everything if nothing stands beside it."""
    names = [name.strip() for name in (symbols or "").split(",") if name.strip()]
    return "all" if [name.lower() for name in names] == ["all"] else names


def interval_of(text: str | None) -> int | None:
    """The number that an address gives. Raises CommandError."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise CommandError(_interval_rule())
    return int(text[:9])


def require_interval(interval: int | None, present: int) -> int:
    """An interval that is served, the present one by default. Raises CommandError."""
    if interval is None:
        return present
    if interval not in INTERVALS:
        raise CommandError(_interval_rule())
    return interval


def _interval_rule() -> str:
    return f"interval is one of {', '.join(map(str, INTERVALS))} milliseconds"
