"""The AsyncAPI document of the feeds, generated from the structs and functions of the frames."""

from importlib.metadata import version
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from quotecast.api.reference.examples import QUOTES
from quotecast.errors import CloseCode
from quotecast.feed import frames
from quotecast.feed.commands import DEFAULT_INTERVAL, INTERVALS, Command
from quotecast.feed.frames import Limits, Rejected
from quotecast.feed.mirror import Mark, QuoteEntry
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote

_EPOCH: Final = "06a1f3c2b7"
_TIME: Final = "2026-11-20T15:30:00.000Z"

#: Tags of frames that carry quotes.
_CARRYING: Final = ("snapshot", "update")

_WHAT: Final = {
    "welcome": "The first frame of every connection.",
    "subscribed": "The answer to subscribe, unsubscribe and list: all subscribed symbols.",
    "snapshot": (
        "Full quotes. `subscribe`: the added symbols, to merge; `resume`: the changes since `since`, to "
        "merge; `resync`: replaces the whole state of the client."
    ),
    "update": (
        "Changes, to merge by key: the moving fields as absolute values, or the full quote if any other "
        "field changed. `removed`, absent when empty, names symbols that are gone."
    ),
    "heartbeat": "Sent at intervals, and at once when `feed` changes; carries the cursor.",
    "pong": "The answer to ping.",
    "error": "A command was malformed or out of bounds, and changed nothing.",
    "shutdown": "The server restarts: reconnect after the given time.",
}

_DESCRIPTION: Final = f"""\
The state of a connection is its subscription and a cursor: `epoch` and `seq` of the last snapshot, update \
or heartbeat, not of the welcome. After a disconnection a client sends the cursor as `since`, to any worker, \
and receives the changes since then. A slow consumer receives the newest state at its own pace; there is no \
queue. `sector:Energy`, `category:gold` and `bank:akbank` are groups and follow their members. Clients must \
ignore unknown types and fields. \
Subprotocol: none, or `quotecast.v1.json` (text), `quotecast.v1.msgpack` (binary MessagePack, same \
structures) or `quotecast.v1.json.deflate` (deprecated: raw deflate of the JSON). \
The server accepts permessage-deflate (RFC 7692) without context takeover and compresses shared frames.

Close codes: {", ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in CloseCode)}. \
Below 4450 reconnecting will not help; from 4450, and after 1012, reconnect with backoff."""


def asyncapi_document() -> dict[str, Any]:
    """Returns the AsyncAPI 3.0 document of all feeds."""
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "quotecast feeds", "version": version("quotecast"), "description": _DESCRIPTION},
        "defaultContentType": "application/json",
        "channels": {feed.spec.name: _channel(feed) for feed in Feed},
        "operations": {name: each for feed in Feed for name, each in _operations(feed).items()},
        "components": {"schemas": _schemas()},
    }


def _channel(feed: Feed) -> dict[str, Any]:
    sent = _examples(feed)
    messages = {tag: _message(tag, what, _schema_name(tag, feed), [sent[tag]]) for tag, what in _WHAT.items()}
    commands = _message("command", "A command of a client.", "Command", _commands(QUOTES[feed].key))
    return {
        "address": f"/api/ws/{feed.spec.name}",
        "title": f"The {feed.spec.name} feed",
        "messages": messages | {"command": commands},
        "bindings": {"ws": {"method": "GET", "query": _query()}},
    }


def _operations(feed: Feed) -> dict[str, Any]:
    """Returns the operations from the service's side: it sends frames and receives commands."""
    name = feed.spec.name
    channel = f"#/channels/{name}"
    sent = [{"$ref": f"{channel}/messages/{tag}"} for tag in _WHAT]
    received = [{"$ref": f"{channel}/messages/command"}]
    return {
        f"{name}Frames": {"action": "send", "channel": {"$ref": channel}, "messages": sent},
        f"{name}Commands": {"action": "receive", "channel": {"$ref": channel}, "messages": received},
    }


def _message(name: str, what: str, schema: str, payloads: list[dict[str, Any]]) -> dict[str, Any]:
    examples = [{"payload": payload} for payload in payloads]
    return {"name": name, "summary": what, "payload": _reference(schema), "examples": examples}


def _query() -> dict[str, Any]:
    interval = {
        "type": "integer",
        "enum": list(INTERVALS),
        "default": DEFAULT_INTERVAL,
        "description": "Minimum milliseconds between two updates.",
    }
    symbols = {
        "type": "string",
        "description": (
            "Comma-separated symbols; may be repeated. `all` alone, in any case, means every symbol; in a "
            "longer list it is a symbol."
        ),
    }
    since = {
        "type": "string",
        "description": (
            "`<epoch>-<seq>` of the last snapshot, update or heartbeat, never of the welcome, which is ahead "
            "of the client's state. Any other value, such as `none`, causes a resync."
        ),
    }
    return {"type": "object", "properties": {"symbols": symbols, "interval": interval, "since": since}}


def _schemas() -> dict[str, Any]:
    specs = [feed.spec for feed in Feed]
    _, components = msgspec.json.schema_components(
        [Command, *frame_structs().values(), *(spec.quote for spec in specs), *(spec.move for spec in specs)],
        ref_template="#/components/schemas/{name}",
    )
    carrying = {_schema_name(tag, feed): _carrying(tag, feed) for feed in Feed for tag in _CARRYING}
    public = {name.strip("_"): schema for name, schema in components.items()}
    return {name: schema | {"title": name} for name, schema in public.items()} | carrying


def frame_structs() -> dict[str, type[Struct]]:
    """Returns the structs of frames by tag, without those that carry quotes, which differ by feed."""
    kinds = [kind for kind in vars(frames).values() if isinstance(kind, type) and issubclass(kind, Struct)]
    tagged = {str(kind.__struct_config__.tag): kind for kind in kinds if kind.__struct_config__.tag}
    return {tag: kind for tag, kind in tagged.items() if tag not in _CARRYING}


def _carrying(tag: str, feed: Feed) -> dict[str, Any]:
    """Returns the schema of a frame that carries quotes."""
    full = _reference(feed.spec.quote.__name__)
    move = _reference(feed.spec.move.__name__)
    properties: dict[str, Any] = {
        "type": {"const": tag},
        "epoch": {"type": "string"},
        "seq": {"type": "integer"},
    }
    if tag == "snapshot":
        properties["reason"] = {"enum": ["subscribe", "resume", "resync"]}
        properties["data"] = {"type": "array", "items": full}
        required = list(properties)
    else:
        properties["data"] = {"type": "array", "items": {"anyOf": [move, full]}}
        required = list(properties)
        properties["removed"] = {"type": "array", "items": {"type": "string"}}
    return {
        "title": _schema_name(tag, feed),
        "type": "object",
        "properties": properties,
        "required": required,
    }


def _schema_name(tag: str, feed: Feed) -> str:
    carries = tag in _CARRYING
    return f"{feed.spec.name.capitalize() if carries else ''}{tag.capitalize()}"


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _examples(feed: Feed) -> dict[str, dict[str, Any]]:
    """Returns one frame of each type by tag, from the functions that the feed uses."""
    mark, later = Mark(1, _EPOCH, 11), Mark(2, _EPOCH, 12)
    entry = _entry(QUOTES[feed])
    sent = [
        frames.welcome(feed, mark, 15_000, Limits()),
        frames.subscribed([entry.key], [Rejected("XXXX")], DEFAULT_INTERVAL, 1),
        frames.snapshot(mark, "subscribe", [entry]),
        frames.update(later, [_moved(QUOTES[feed])], mark.revision),
        frames.heartbeat(later, _TIME, "live", "open"),
        frames.pong(_TIME, 4),
        frames.error(400, "Malformed JSON", 1),
        frames.shutdown(2731),
    ]
    return {frame["type"]: frame for frame in map(_parsed, sent)}


def _parsed(frame: Struct) -> dict[str, Any]:
    parsed: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(frame))
    return parsed


def _entry(quote: Quote) -> QuoteEntry:
    entry = QuoteEntry(quote.key)
    entry.change(quote, 1, 11, full=True)
    return entry


def _moved(quote: Quote) -> QuoteEntry:
    entry = _entry(quote)
    entry.change(replace(quote, price=round(quote.price * 1.001, 2)), 2, 12, full=False)
    return entry


def _commands(symbol: str) -> list[dict[str, Any]]:
    return [
        {"action": "subscribe", "symbols": [symbol], "interval": 500, "id": 1},
        {"action": "subscribe", "symbols": "all", "since": f"{_EPOCH}-12", "id": 2},
        {"action": "unsubscribe", "symbols": [symbol], "id": 3},
        {"action": "list", "id": 4},
        {"action": "ping", "id": 5},
    ]
