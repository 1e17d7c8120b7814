"""The AsyncAPI document of the feeds, generated from the structs and functions of the frames.

A channel is a path: one for each feed, and one for all of them, whose `Feed` is None here.
"""

import json
from importlib.metadata import version
from typing import Any, Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from quotecast.api.reference.examples import QUOTES
from quotecast.api.reference.feed_schemas import COMMANDS, feed_schemas, reference, schema_name
from quotecast.close_codes import CloseCode
from quotecast.feed import frames
from quotecast.feed.bar_styles import bar_style_of
from quotecast.feed.commands import DEFAULT_INTERVAL, INTERVALS, MAX_HEARTBEAT_SECONDS, MIN_HEARTBEAT_SECONDS
from quotecast.feed.encoding import JSON, ROWS, Encoding
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.frames import Closed, Label, Limits, Place, Rejected
from quotecast.feed.mirror import Mark
from quotecast.feed.projection import moving_fields, projection_of
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS, OwnBar
from quotecast.stream.replay import MAX_SPEED, MIN_SPEED

#: The channel of the socket that serves all feeds.
_ALL: Final = "all"

_WHAT: Final = {
    "welcome": "The first frame of every connection; of a replay with `replayed` and the moment `at`.",
    "subscribed": "The answer to subscribe, unsubscribe and list: all subscribed symbols.",
    "snapshot": (
        "Full quotes. `subscribe`: the added symbols, to merge; `resume`: the changes since `since`, to "
        "merge; `resync`: replaces the whole state of the client. `columns`: the names of the values, if "
        "the quotes are rows."
    ),
    "update": (
        "Changes, to merge by key: the moving fields as absolute values, or the full quote if any other "
        "field changed. `removed`, absent when empty, names symbols that are gone. A row follows the "
        "columns of the last snapshot, and may have only the first of them."
    ),
    "bars": (
        "Bars of one interval, sent before the update of the same tick. With `closed`: the final bars of the "
        "interval that ended at its time, and their count; otherwise bars in progress. `subscribe`: begins "
        "the bars of added symbols, and `resync` those of all: read closed bars from REST with "
        "`source=own`; `resume`: begins with the final bars after `bars_since` or `since`. `columns`: the "
        "names of the values of rows, until the next frame with a reason."
    ),
    "heartbeat": (
        "Sent at intervals, and at once when the feed's state changes; carries the cursor, and in a replay "
        "the moment `at`."
    ),
    "pong": "The answer to ping.",
    "error": "A command was malformed or out of bounds, and changed nothing.",
    "shutdown": "The server restarts: reconnect after the given time.",
}

#: What each command does, by its action.
_ASKED: Final = {
    "subscribe": "Adds symbols to the subscription, or changes its interval, fields or bars; may resume.",
    "unsubscribe": "Removes symbols from the subscription; `all` empties it.",
    "list": "Asks for the subscription.",
    "ping": "Asks for a pong.",
}
_RECONNECT: Final = {code: not 4400 <= code < 4450 for code in CloseCode}

_DESCRIPTION: Final = f"""\
The state of a connection is its subscription and a cursor: `epoch` and `seq` of the last snapshot, update, \
bars or heartbeat, not of the welcome. After a disconnection a client sends the cursor as `since`, to any \
worker, and receives the changes since then. A slow consumer receives the newest state at its own pace; \
there is no queue. `sector:Energy`, `category:gold` and `bank:akbank` are groups and follow their members. \
Clients must ignore unknown types and fields. \
Subprotocol: none, or `quotecast.v1.json` (text), `quotecast.v1.msgpack` (binary MessagePack, same \
structures), `quotecast.v1.rows` and `quotecast.v1.rows.msgpack` (quotes are rows) or \
`quotecast.v1.json.deflate` (deprecated: raw deflate of the JSON). \
A socket of all feeds has a subscription and a cursor for each: commands and frames name their feed. \
The server accepts permessage-deflate (RFC 7692) without context takeover and compresses shared frames.

Close codes: {", ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in CloseCode)}. \
After codes from 4400 to 4449 reconnecting will not help; after any other, reconnect with backoff."""


_EPOCH: Final = "06a1f3c2b7"
_TIME: Final = "2026-11-20T15:30:00.000Z"
#: 2026-11-20 15:29.
_MINUTE: Final = 1_795_188_540
#: The moment that a replay has reached.
_MOMENT: Final = 1_795_185_060.0
#: The id of a connection.
_CONNECTION: Final = "5f0c9b3a7d21e846"
_MARK: Final = Mark(1, _EPOCH, 11)
_LATER: Final = Mark(2, _EPOCH, 12)


def asyncapi_document() -> dict[str, Any]:
    """Returns the AsyncAPI 3.0 document of all feeds."""
    feeds = (*Feed, None)
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "quotecast feeds", "version": version("quotecast"), "description": _DESCRIPTION},
        "defaultContentType": "application/json",
        "servers": {"plain": _server("ws"), "tls": _server("wss")},
        "channels": {_name(feed): _channel(feed) for feed in feeds},
        "operations": {name: each for feed in feeds for name, each in _operations(feed).items()},
        "components": {"schemas": feed_schemas()},
        "x-close-codes": [
            {"code": int(code), "reason": code.name.lower(), "reconnect": again}
            for code, again in _RECONNECT.items()
        ],
    }


def _server(protocol: str) -> dict[str, Any]:
    address = {"default": "127.0.0.1:8000", "description": "Host and port of the service"}
    return {
        "host": "{address}",
        "protocol": protocol,
        "summary": "Directly" if protocol == "ws" else "Through a proxy that terminates TLS",
        "variables": {"address": address},
    }


def _name(feed: Feed | None) -> str:
    return feed.spec.name if feed else _ALL


def _channel(feed: Feed | None) -> dict[str, Any]:
    sent = frames_from(feed)
    messages = {tag: _message(tag, what, schema_name(tag, feed), sent[tag]) for tag, what in _WHAT.items()}
    given = commands_to(feed)
    commands = {
        action: _message(action, what, COMMANDS[action], [each for each in given if each["action"] == action])
        for action, what in _ASKED.items()
    }
    return {
        "address": f"/api/ws/{feed.spec.name}" if feed else "/api/ws",
        "title": f"The {feed.spec.name} feed" if feed else "All feeds on one socket",
        "messages": messages | commands,
        "bindings": {"ws": {"method": "GET", "query": {"type": "object", "properties": _query(feed)}}},
    }


def _operations(feed: Feed | None) -> dict[str, Any]:
    """Returns the operations from the service's side: it sends frames and receives commands."""
    name = _name(feed)
    channel = f"#/channels/{name}"
    sent = [{"$ref": f"{channel}/messages/{tag}"} for tag in _WHAT]
    received = [{"$ref": f"{channel}/messages/{action}"} for action in _ASKED]
    return {
        f"{name}Frames": {"action": "send", "channel": {"$ref": channel}, "messages": sent},
        f"{name}Commands": {"action": "receive", "channel": {"$ref": channel}, "messages": received},
    }


def _message(name: str, what: str, schema: str, payloads: list[dict[str, Any]]) -> dict[str, Any]:
    examples = [{"payload": payload} for payload in payloads]
    return {"name": name, "summary": what, "payload": reference(schema), "examples": examples}


def _query(feed: Feed | None) -> dict[str, Any]:
    symbols = (
        "Comma-separated symbols; may be repeated. `all` alone, in any case, means every symbol; in a "
        "longer list it is a symbol."
    )
    lists = {"symbols": symbols} if feed else {each.spec.name: f"As `symbols`: {symbols}" for each in Feed}
    known = f": {', '.join(moving_fields(feed))}" if feed else ", in every feed that the address names"
    since = (
        "`<epoch>-<seq>` of the last snapshot, update, bars or heartbeat, never of the welcome, which is "
        "ahead of the client's state. Any other value, such as `none`, causes a resync."
    )
    of_each = "" if feed else " One for each feed: `market:<epoch>-<seq>,crypto:<epoch>-<seq>`."
    times = "ISO 8601: the time of the last `closed`. The server sends all bars that became final since."
    times += "" if feed else " One for each feed: `market:<time>,crypto:<time>`."
    interval = {
        "type": "integer",
        "enum": list(INTERVALS),
        "default": DEFAULT_INTERVAL,
        "description": "Minimum milliseconds between two updates.",
    }
    at = "A recorded moment from which to replay the feed: ISO 8601 with a time zone, or Unix seconds."
    speed = {"type": "number", "minimum": MIN_SPEED, "maximum": MAX_SPEED, "default": 1}
    replay = {
        "at": {"type": "string", "description": at},
        "speed": speed | {"description": "How many times faster than recorded; only with `at`."},
    }
    return {
        **{name: {"type": "string", "description": text} for name, text in lists.items()},
        "interval": interval,
        "since": {"type": "string", "description": since + of_each},
        "fields": {
            "type": "string",
            "description": f"Comma-separated fields that move, or `all`{known}.",
        },
        "bars": {
            "type": "string",
            "enum": [*LIVE_INTERVALS, "none"],
            "default": "none",
            "description": "The interval of live bars of the subscribed symbols.",
        },
        "bars_since": {"type": "string", "description": times},
        "snapshot": {
            "type": "boolean",
            "default": True,
            "description": "`false`: no snapshot comes, only changes. With `since` it has no effect.",
        },
        "heartbeat": {
            "type": "integer",
            "minimum": MIN_HEARTBEAT_SECONDS,
            "maximum": MAX_HEARTBEAT_SECONDS,
            "description": "Seconds between two heartbeats; without it, as the service is set (15).",
        },
        **(replay if feed else {}),
    }


def frames_from(feed: Feed | None) -> dict[str, list[dict[str, Any]]]:
    """Returns frames of each type, on the socket of a feed or, for None, of all feeds."""
    shown = feed or Feed.STOCKS
    label: Label = UNSET if feed else shown.spec.name
    key = QUOTES[shown].key
    sent = [
        frames.welcome(feed, _MARK, 15_000, Limits(), _CONNECTION)
        if feed
        else frames.welcome_to_all({each.spec.name: _MARK for each in Feed}, 15_000, Limits(), _CONNECTION),
        frames.subscribed(label, [key], [Rejected("XXXX")], DEFAULT_INTERVAL, request=1),
        frames.subscribed(label, [key], [], DEFAULT_INTERVAL, fields=["price"], request=2),
        *_quotes(shown, label, JSON, None),
        *_quotes(shown, label, ROWS, ("price",)),
        frames.subscribed(label, [key], [], DEFAULT_INTERVAL, bars="1m", request=3),
        *_bars(shown, label, JSON),
        *_bars(shown, label, ROWS),
        frames.heartbeat(label, _LATER, _TIME, "live", "open"),
        *([frames.heartbeat(label, _LATER, _TIME, "live", "open", replayed_at=_MOMENT)] if feed else []),
        frames.pong(_TIME, 4),
        frames.error(400, "Malformed JSON", 1),
        frames.shutdown(2731),
    ]
    examples: dict[str, list[dict[str, Any]]] = {}
    for each in sent:
        frame = json.loads(JSON.write(each).payload)
        examples.setdefault(frame["type"], []).append(frame)
    return examples


def commands_to(feed: Feed | None) -> list[dict[str, Any]]:
    """Returns a command of each kind."""
    named = {} if feed else {"feed": Feed.STOCKS.spec.name}
    symbol = QUOTES[feed or Feed.STOCKS].key
    return [
        {"action": "subscribe", **named, "symbols": [symbol], "interval": 500, "id": 1},
        {"action": "subscribe", **named, "symbols": "all", "since": f"{_EPOCH}-12", "id": 2},
        {"action": "subscribe", **named, "fields": ["price", "changePercent"], "id": 3},
        {"action": "subscribe", **named, "bars": "1m", "barsSince": "2026-11-20T15:30:00Z", "id": 4},
        {"action": "subscribe", **named, "symbols": [symbol], "snapshot": False, "id": 5},
        {"action": "unsubscribe", **named, "symbols": [symbol], "id": 6},
        {"action": "list", **named, "id": 7},
        {"action": "ping", "id": 8},
    ]


def _quotes(feed: Feed, label: Label, encoding: Encoding, fields: tuple[str, ...] | None) -> list[Struct]:
    """Returns a snapshot and an update of one quote."""
    quote = QUOTES[feed]
    form = projection_of(feed, encoding.notation, rows=encoding.rows, selected=fields)
    entry = QuoteEntry(quote.key)
    entry.change(quote, _MARK.revision, _MARK.seq, full=True)
    data = encoding.join([entry.full(form)])
    snapshot = frames.snapshot(label, _MARK, "subscribe", form.columns, data)
    moved = replace(quote, price=round(quote.price * 1.001, 2))
    entry.change(moved, _LATER.revision, _LATER.seq, full=False)
    change = encoding.join([entry.since(_MARK.revision, form)])
    return [snapshot, frames.update(label, _LATER, change)]


def _bars(feed: Feed, label: Label, encoding: Encoding) -> list[Struct]:
    """Returns the final bar of a minute, and the bar in progress after it."""
    quote = QUOTES[feed]
    style = bar_style_of(feed, encoding.notation, "1m", rows=encoding.rows)
    volume = None if feed is Feed.DOVIZ else 1204.0
    bar = OwnBar(_MINUTE, quote.price, quote.price, quote.price, quote.price, volume, 41)
    final = encoding.join([style.encode(quote.key, bar, True)])
    begun = encoding.join([style.encode(quote.key, replace(bar, opened=_MINUTE + 60, updates=1), False)])
    place = Place(_EPOCH, 12)
    closed = Closed("2026-11-20T15:30:00Z", 1)
    columns = style.columns
    return [
        frames.bars(label, place, "1m", final, reason="resume", columns=columns, closed=closed),
        frames.bars(label, place, "1m", begun),
    ]
