"""Copies of feeds by the rules of docs/feeds.md, written apart from the clients: they check the suite."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

Frame = dict[str, Any]
Item = dict[str, Any]
Names = frozenset[str] | str
_LENGTHS: Final = {"1m": 60, "5m": 300, "15m": 900, "1h": 3600}
_MOVING_CURSOR: Final = {"snapshot", "update", "heartbeat"}


class ReferenceCopy:
    """One feed's quotes, bars and cursor."""

    def __init__(self, key: str, asked: Frame) -> None:
        self.key = key
        self.quotes: dict[str, Item] = {}
        self.bars: dict[str, dict[str, Item]] = {}
        self.cursor: str | None = None
        #: Whether closed bars have to be read from REST.
        self.missing = False
        #: Whether the service has the feed.
        self.is_served = True
        #: What the user wants, what the server acknowledged, and what the cursor covers.
        self.wanted = asked
        self.listed: Names = frozenset()
        self.listed_fields: list[str] | None = None
        self.covered: Names = frozenset()
        self.covered_fields: list[str] | None = None
        self.interval: str | None = asked.get("bars")
        self.closed_through: str | None = None
        #: Whether this connection has had quotes.
        self._has_quotes = False
        self._columns: list[str] = []
        self._bar_columns: list[str] = []

    def take(self, frame: Frame) -> None:
        """Merges a frame of the feed."""
        if frame["type"] == "subscribed":
            self._acknowledge(frame)
        elif frame["type"] == "snapshot":
            self._open(frame)
        elif frame["type"] == "bars":
            self._take_bars(frame)
        elif frame["type"] == "error" and frame["code"] == 404:
            self.is_served = False
        if frame["type"] in {"snapshot", "update"}:
            self._merge(frame["data"], frame.get("removed", []))
            self._has_quotes = True
        if frame["type"] in _MOVING_CURSOR and self._has_quotes:
            self._move_cursor(frame)

    def read_closed(self, bars: Iterable[Item]) -> None:
        """Takes bars of REST."""
        newest = ""
        for bar in bars:
            self.bars.setdefault(bar[self.key], {}).setdefault(bar["time"], bar)
            newest = max(newest, bar["time"])
        self.missing = False
        if self.closed_through is None and newest and self.interval in _LENGTHS:
            end = datetime.fromisoformat(newest) + timedelta(seconds=_LENGTHS[self.interval])
            self.closed_through = end.strftime("%Y-%m-%dT%H:%M:%SZ")

    def want(self, command: Frame) -> None:
        """Notes a command of the user."""
        if command["action"] == "subscribe" and "fields" in command:
            self.wanted = self.wanted | {"fields": command["fields"]}

    def connect(self) -> None:
        """Begins a new connection: its heartbeats are no cursor before its quotes."""
        self._has_quotes = False

    def reconnection(self) -> Frame:
        """Returns what a client asks for when its connection ends."""
        if self.cursor is None:
            asked = {"since": "none", "symbols": self.wanted["symbols"]}
            fields = self.wanted.get("fields")
        else:
            names = self.covered if isinstance(self.covered, str) else sorted(self.covered)
            asked, fields = {"since": self.cursor, "symbols": names}, self.covered_fields
        if fields:
            asked["fields"] = fields
        if self.interval:
            asked["bars"] = self.interval
            if self.closed_through and self.cursor is not None:
                asked["bars_since"] = self.closed_through
        return asked

    def held_bars(self) -> dict[str, list[Item]]:
        """Returns the bars by symbol, in the order of time."""
        return {key: [bars[time] for time in sorted(bars)] for key, bars in self.bars.items() if bars}

    def _move_cursor(self, frame: Frame) -> None:
        self.cursor = f"{frame['epoch']}-{frame['seq']}" if frame["epoch"] else None

    def _acknowledge(self, frame: Frame) -> None:
        names = frame["symbols"]
        self.listed = names if isinstance(names, str) else frozenset(names)
        self.listed_fields = frame.get("fields")
        self._follow(frame.get("bars"))
        if isinstance(self.listed, str):
            return
        self.covered = frozenset() if isinstance(self.covered, str) else self.covered & self.listed
        if not any(":" in name for name in self.listed):
            self.quotes = {key: each for key, each in self.quotes.items() if key in self.listed}
            self.bars = {key: each for key, each in self.bars.items() if key in self.listed}

    def _open(self, frame: Frame) -> None:
        self.covered, self.covered_fields = self.listed, self.listed_fields
        self._columns = frame.get("columns", [])
        if frame["reason"] == "resync":
            self.quotes = {}

    def _merge(self, items: Iterable[Any], removed: Iterable[str]) -> None:
        for item in items:
            quote = _fields_of(item, self._columns)
            self.quotes[quote[self.key]] = self.quotes.get(quote[self.key], {}) | quote
        for symbol in removed:
            self.quotes.pop(symbol, None)
            self.bars.pop(symbol, None)

    def _follow(self, interval: str | None) -> None:
        """Drops the bars of another interval."""
        if interval != self.interval:
            self.interval, self.bars, self.closed_through = interval, {}, None

    def _take_bars(self, frame: Frame) -> None:
        if frame["interval"] != self.interval:
            return
        if "reason" in frame:
            self._begin_bars(frame["reason"], frame.get("columns", []))
        for item in frame["data"]:
            bar = _fields_of(item, self._bar_columns)
            self.bars.setdefault(bar[self.key], {})[bar["time"]] = bar
        if "closed" in frame:
            self.closed_through = frame["closed"]["time"]
            self.missing = self.missing or frame["closed"]["count"] != len(frame["data"])
        self._move_cursor(frame)

    def _begin_bars(self, reason: str, columns: list[str]) -> None:
        self._bar_columns = columns
        if reason == "resync":
            self.bars, self.closed_through = {}, None
        elif reason == "resume":
            self.bars = {
                key: {time: bar for time, bar in bars.items() if bar["final"]}
                for key, bars in self.bars.items()
            }
        self.missing = self.missing or reason != "resume"


def _fields_of(item: Any, columns: list[str]) -> Item:
    if isinstance(item, dict):
        return item
    return dict(zip(columns, item, strict=False))
