"""JSON Schemas of the feeds' frames and commands, from their structs."""

from typing import Any, Final, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from quotecast.feed import frames
from quotecast.feed.bar_styles import LiveBar
from quotecast.feed.commands import INTERVALS, Command
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS

#: Tags of frames that carry quotes or bars.
_CARRYING: Final = ("snapshot", "update", "bars")
#: Schemas of the socket of all feeds by tag, where they differ from those of a feed's own socket.
_AMONG_FEEDS: Final = {"welcome": "WelcomeToAll", "heartbeat": "FeedHeartbeat"}
#: Schemas of commands by action, and the fields that each reads beside its action, id and feed.
COMMANDS: Final = {"subscribe": "Subscribe", "unsubscribe": "Unsubscribe", "list": "List", "ping": "Ping"}
_READ: Final = {
    "subscribe": ("symbols", "interval", "since", "fields", "bars", "barsSince", "snapshot"),
    "unsubscribe": ("symbols",),
    "list": (),
    "ping": (),
}
_FEEDS: Final = [feed.spec.name for feed in Feed]
#: The values of fields that the structs know as text or a number.
_VALUES: Final[dict[str, list[Any]]] = {
    "Command.feed": [*_FEEDS, None],
    "Command.interval": [*INTERVALS, None],
    "Error.code": [400, 401, 403, 404, 422, 503],
    "Error.feed": _FEEDS,
    "FeedHeartbeat.feed": _FEEDS,
    "FeedHeartbeat.market": ["open", "closed"],
    "Heartbeat.market": ["open", "closed"],
    "Rejected.code": [404],
    "Subscribed.feed": _FEEDS,
    "Subscribed.interval": [*INTERVALS],
    "Welcome.feed": _FEEDS,
}
_ROW: Final = {"type": "array", "items": {"type": ["string", "number", "null"]}}
_BAR_ROW: Final = {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}}


def feed_schemas() -> dict[str, Any]:
    """Returns the schemas of all frames and commands, by name."""
    specs = [feed.spec for feed in Feed]
    _, components = msgspec.json.schema_components(
        [
            Command,
            frames.Closed,
            *frame_structs(),
            *(spec.quote for spec in specs),
            *(spec.move for spec in specs),
        ],
        ref_template="#/components/schemas/{name}",
    )
    named = {name.strip("_"): schema | {"title": name.strip("_")} for name, schema in components.items()}
    for key, values in _VALUES.items():
        name, field = key.split(".")
        named[name]["properties"][field] = {"enum": values}
    commands = {name: _command(action, named["Command"]) for action, name in COMMANDS.items()}
    parts = {_part_name(feed): _part(feed, named[feed.spec.quote.__name__]) for feed in Feed}
    carrying = {schema_name(tag, feed): _carrying(tag, feed) for feed in Feed for tag in _CARRYING}
    choices = {
        schema_name(tag, None): {"oneOf": [reference(schema_name(tag, feed)) for feed in Feed]}
        for tag in _CARRYING
    }
    return named | commands | parts | {_bar_name(feed): _bar(feed) for feed in Feed} | carrying | choices


def frame_structs() -> list[type[Struct]]:
    """Returns the structs of frames, without those that carry quotes or bars, which differ by feed."""
    kinds = [kind for kind in vars(frames).values() if isinstance(kind, type) and issubclass(kind, Struct)]
    return [kind for kind in kinds if kind.__struct_config__.tag not in (None, *_CARRYING)]


def schema_name(tag: str, feed: Feed | None) -> str:
    """Returns the name of a frame's schema, on the socket of a feed or, for None, of all feeds."""
    if tag in _CARRYING:
        return f"{feed.spec.name.capitalize() if feed else 'Any'}{tag.capitalize()}"
    return tag.capitalize() if feed else _AMONG_FEEDS.get(tag, tag.capitalize())


def reference(name: str) -> dict[str, str]:
    """Returns a reference to a schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def _carrying(tag: str, feed: Feed) -> dict[str, Any]:
    """Returns the schema of a frame that carries quotes or bars."""
    full, part = reference(feed.spec.quote.__name__), reference(_part_name(feed))
    properties: dict[str, Any] = {
        "type": {"const": tag},
        "epoch": {"type": "string"},
        "seq": {"type": "integer"},
    }
    names = {"type": "array", "items": {"type": "string"}}
    reasons = {"enum": [*get_args(frames.Reason)]}
    if tag == "bars":
        properties["interval"] = {"enum": [*LIVE_INTERVALS]}
        properties["data"] = {"type": "array", "items": {"anyOf": [reference(_bar_name(feed)), _BAR_ROW]}}
        optional = {"reason": reasons, "columns": names, "closed": reference("Closed")}
    elif tag == "snapshot":
        properties["reason"] = reasons
        properties["data"] = {"type": "array", "items": {"anyOf": [full, part, _ROW]}}
        optional = {"columns": names}
    else:
        move = reference(feed.spec.move.__name__)
        properties["data"] = {"type": "array", "items": {"anyOf": [move, full, part, _ROW]}}
        optional = {"removed": names}
    return {
        "title": schema_name(tag, feed),
        "type": "object",
        "properties": properties | {"feed": {"const": feed.spec.name}} | optional,
        "required": list(properties),
    }


def _command(action: str, command: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of the command with one action."""
    fields = {name: command["properties"][name] for name in (*_READ[action], "id", "feed")}
    required = ["action", "symbols"] if action == "unsubscribe" else ["action"]
    properties = {"action": {"const": action}} | fields
    return {"title": COMMANDS[action], "type": "object", "properties": properties, "required": required}


def _bar_name(feed: Feed) -> str:
    return f"{feed.spec.name.capitalize()}Bar"


def _bar(feed: Feed) -> dict[str, Any]:
    """Returns the schema of a live bar."""
    _, components = msgspec.json.schema_components([LiveBar], ref_template="#/components/schemas/{name}")
    schema: dict[str, Any] = components["LiveBar"]
    key = fields(feed.spec.move)[0].encode_name
    return schema | {
        "title": _bar_name(feed),
        "properties": {key: {"type": "string"}, **schema["properties"]},
        "required": [key, *schema["required"]],
    }


def _part_name(feed: Feed) -> str:
    return f"{feed.spec.quote.__name__}Part"


def _part(feed: Feed, quote: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of a quote whose client has selected fields."""
    key = fields(feed.spec.move)[0].encode_name
    return quote | {"title": _part_name(feed), "required": [key]}
