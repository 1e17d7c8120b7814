"""A copy of one feed: the last quote of every symbol, and the cursor up to which the copy is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from quotecast_client.calls import Call
from quotecast_client.live_bars import LiveBars, LiveInterval
from quotecast_client.names import KEYS, Feed, Names, is_group
from quotecast_client.rows import items_of

if TYPE_CHECKING:
    from quotecast_client.live_bars import LiveBar
    from quotecast_client.quotes import Quote

#: How far back to read closed bars of stocks, by interval.
RANGES: dict[LiveInterval, str] = {"1m": "1D", "5m": "5D", "15m": "5D", "1h": "1M", "D": "1Y"}
#: Symbols of one request for bars.
BATCH = 50
_NO_NAMES: frozenset[str] = frozenset()


class QuoteChange(NamedTuple):
    """A quote that a frame changed; `quote` is the last one of a symbol that is gone."""

    feed: Feed
    symbol: str
    quote: Quote
    removed: bool = False


class BarChange(NamedTuple):
    """A bar that a frame or REST brought; a final one never changes."""

    feed: Feed
    symbol: str
    bar: LiveBar


class Changes(NamedTuple):
    """The changes of one frame."""

    quotes: list[QuoteChange]
    bars: list[BarChange]


NOTHING = Changes([], [])


class Copy:
    """Merges the frames of one feed by the rules of the protocol; no I/O.

    `quotes` is the last quote of every symbol; `bars` has live bars. Reconnect with `symbols` and `since`.
    """

    def __init__(self, feed: Feed) -> None:
        self.feed: Feed = feed
        self.quotes: dict[str, Quote] = {}
        self.bars = LiveBars(feed)
        #: The position `<epoch>-<seq>` up to which the copy is complete; None before the first snapshot.
        self.cursor: str | None = None
        #: The part of the subscription that the cursor covers: a name counts once its snapshot has come.
        self.symbols: Names = _NO_NAMES
        #: The moving fields that the quotes have; None for all of them.
        self.fields: list[str] | None = None
        #: The subscription and its fields after the last answer.
        self._wanted: Names = _NO_NAMES
        self._wanted_fields: list[str] | None = None
        #: Whether this connection has had quotes: heartbeats come without a subscription, too.
        self._follows = False
        #: Names of the values in a row, from the last snapshot.
        self._columns: list[str] = []

    @property
    def since(self) -> str:
        """The cursor for a subscription; before the first snapshot `none`, for which the server sends all."""
        return self.cursor or "none"

    def take(self, frame: dict[str, Any]) -> Changes:
        """Merges a frame, and returns what it changed. Ignores types that it does not know."""
        kind = frame["type"]
        if kind == "welcome":
            self._follows = False
        elif kind == "subscribed":
            return self._take_answer(frame)
        elif kind == "snapshot":
            return self._take_snapshot(frame)
        elif kind == "update":
            self._follows = True
            self._move(frame)
            return Changes(self._merge(frame) + self._remove(frame.get("removed", [])), [])
        elif kind == "bars":
            self._move(frame)
            return self._changed_bars(self.bars.take(frame))
        elif kind == "heartbeat" and self._follows:
            self._move(frame)
        return NOTHING

    def fill_bars(self, closed: dict[str, list[Any]]) -> Changes:
        """Adds closed bars of REST by symbol; a bar of REST does not replace one of a frame."""
        return self._changed_bars(self.bars.fill(closed))

    def calls_for_bars(self) -> list[Call[dict[str, list[Any]]]]:
        """Returns the requests for the newest closed bars of all symbols."""
        symbols = sorted(self.quotes)
        span = {"market": "interval", "crypto": "timeframe", "doviz": "timeframe"}[self.feed]
        query: dict[str, Any] = {
            span: self.bars.interval,
            "range": RANGES[self.bars.interval or "1m"] if self.feed == "market" else None,
            "source": "own",
            "end": self.bars.first_in_progress(),
        }
        return [
            Call("GET", f"/api/{self.feed}/bars", {"symbols": symbols[at : at + BATCH], **query})
            for at in range(0, len(symbols), BATCH)
        ]

    def _move(self, frame: dict[str, Any]) -> None:
        """Stores a frame's cursor; an empty epoch is none."""
        self.cursor = f"{frame['epoch']}-{frame['seq']}" if frame["epoch"] else None

    def _take_answer(self, frame: dict[str, Any]) -> Changes:
        """Drops what a list of names no longer has: the server does not list it as removed."""
        wanted: Names = "all" if frame["symbols"] == "all" else frozenset(frame["symbols"])
        self._wanted, self._wanted_fields = wanted, frame.get("fields")
        self.bars.follow(frame.get("bars"))
        if wanted == "all":
            return NOTHING
        self.symbols = _NO_NAMES if self.symbols == "all" else self.symbols & wanted
        if any(is_group(name) for name in wanted):
            return NOTHING
        self.bars.retain(wanted)
        return Changes(self._remove([key for key in self.quotes if key not in wanted]), [])

    def _take_snapshot(self, frame: dict[str, Any]) -> Changes:
        self._follows = True
        self.symbols, self.fields = self._wanted, self._wanted_fields
        self._columns = frame.get("columns", [])
        self._move(frame)
        if frame["reason"] != "resync":
            return Changes(self._merge(frame), [])
        before, self.quotes = self.quotes, {}
        merged = [change for change in self._merge(frame) if before.get(change.symbol) != change.quote]
        gone = [QuoteChange(self.feed, key, before[key], True) for key in before if key not in self.quotes]
        return Changes(merged + gone, [])

    def _merge(self, frame: dict[str, Any]) -> list[QuoteChange]:
        """Merges items; returns the quotes that differ from before."""
        changes = []
        for item in items_of(frame, self._columns):
            symbol: str = item[KEYS[self.feed]]
            held: Any = self.quotes.get(symbol)
            quote: Any = {**held, **item} if held else item
            if quote != held:
                self.quotes[symbol] = quote
                changes.append(QuoteChange(self.feed, symbol, quote))
        return changes

    def _remove(self, symbols: list[str]) -> list[QuoteChange]:
        self.bars.remove(symbols)
        return [
            QuoteChange(self.feed, symbol, self.quotes.pop(symbol), True)
            for symbol in symbols
            if symbol in self.quotes
        ]

    def _changed_bars(self, bars: list[tuple[str, LiveBar]]) -> Changes:
        return Changes([], [BarChange(self.feed, symbol, bar) for symbol, bar in bars])
