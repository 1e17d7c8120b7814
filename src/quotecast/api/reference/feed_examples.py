"""Examples of the feeds' frames and commands, from the functions that the feeds use."""

import json
from typing import Any, Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from quotecast.api.reference.examples import QUOTES
from quotecast.feed import frames
from quotecast.feed.bar_styles import bar_style_of
from quotecast.feed.commands import DEFAULT_INTERVAL
from quotecast.feed.encoding import JSON, ROWS, Encoding
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.frames import Closed, Label, Limits, Place, Rejected
from quotecast.feed.mirror import Mark
from quotecast.feed.projection import projection_of
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import OwnBar

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
