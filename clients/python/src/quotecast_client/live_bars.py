"""Live bars of one feed, merged by the rules of the protocol."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from quotecast_client.names import KEYS, Feed
from quotecast_client.rows import items_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LiveInterval = Literal["1m", "5m", "15m", "1h", "D"]
#: Lengths of the intervals whose ends follow from their beginnings.
SECONDS: dict[str | None, int] = {"1m": 60, "5m": 300, "15m": 900, "1h": 3600}
#: Bars of one symbol that a copy holds; the oldest make room.
MAX_BARS = 1000
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


class _Bar(TypedDict):
    time: str
    open: float
    high: float
    low: float
    close: float
    volume: float | None
    final: bool


class LiveBar(_Bar, total=False):
    """A bar that the service makes of a symbol's quotes; `updates` counts them."""

    updates: int


class LiveBars:
    """The newest bars of every symbol, and the time up to which final bars have come."""

    def __init__(self, feed: Feed) -> None:
        self.interval: LiveInterval | None = None
        #: Bars by their time, the oldest first, by symbol.
        self.by_symbol: dict[str, dict[str, LiveBar]] = {}
        #: The time of the last marker of final bars; None before the first.
        self.since: str | None = None
        #: Whether closed bars of the list are missing, which come from REST with `source=own`.
        self.missing = False
        self._key = KEYS[feed]
        self._columns: list[str] = []

    def follow(self, interval: LiveInterval | None) -> None:
        """Drops all bars if the interval of the subscription is another one."""
        if interval != self.interval:
            self.interval, self.missing = interval, False
            self._clear()

    def take(self, frame: dict[str, Any]) -> list[tuple[str, LiveBar]]:
        """Merges a frame, and returns its bars by symbol; none of an interval that the client has left."""
        reason = frame.get("reason")
        if frame["interval"] != self.interval:
            return []
        if reason:
            self._begin(reason, frame.get("columns", []))
        bars = [self._store(item) for item in items_of(frame, self._columns)]
        if closed := frame.get("closed"):
            self.since = closed["time"]
            self.missing = self.missing or closed["count"] != len(bars)
        return bars

    def fill(self, closed: dict[str, list[Any]]) -> list[tuple[str, LiveBar]]:
        """Adds closed bars of REST; those of frames stay."""
        self.missing = False
        newest = max((bar["time"] for bars in closed.values() for bar in bars), default="")
        # Without a bar in progress nobody knows whether the newest one of REST has ended.
        doubtful = newest if self.first_in_progress() is None else None
        added = []
        for symbol, bars in closed.items():
            held = self.by_symbol.setdefault(symbol, {})
            new = [{"final": bar["time"] != doubtful, **bar} for bar in bars if bar["time"] not in held]
            added += [(symbol, self._put(symbol, bar)) for bar in new]
        if self.since is None and newest and doubtful is None and self.interval in SECONDS:
            self.since = _end(newest, SECONDS[self.interval])
        return added

    def first_in_progress(self) -> str | None:
        """Returns the time of the first bar in progress, before which all are closed; None without any."""
        times = [time for bars in self.by_symbol.values() for time, bar in bars.items() if not bar["final"]]
        return min(times, default=None)

    def retain(self, symbols: Collection[str]) -> None:
        """Removes the bars of all other symbols."""
        self.by_symbol = {symbol: bars for symbol, bars in self.by_symbol.items() if symbol in symbols}

    def remove(self, symbols: Iterable[str]) -> None:
        """Removes the bars of some symbols."""
        for symbol in symbols:
            self.by_symbol.pop(symbol, None)

    def _begin(self, reason: str, columns: list[str]) -> None:
        self._columns = columns
        if reason == "resume":
            self._drop_those_in_progress()
            return
        self.missing = True
        if reason == "resync":
            self._clear()

    def _store(self, item: dict[str, Any]) -> tuple[str, LiveBar]:
        symbol: str = item[self._key]
        return symbol, self._put(symbol, {name: value for name, value in item.items() if name != self._key})

    def _put(self, symbol: str, bar: Any) -> LiveBar:
        """Stores a bar at its place in time; drops the oldest one past the bound."""
        held = self.by_symbol.setdefault(symbol, {})
        is_late = bool(held) and bar["time"] < next(reversed(held)) and bar["time"] not in held
        held[bar["time"]] = bar
        if is_late:
            held = self.by_symbol[symbol] = {time: held[time] for time in sorted(held)}
        if len(held) > MAX_BARS:
            del held[next(iter(held))]
        stored: LiveBar = bar
        return stored

    def _drop_those_in_progress(self) -> None:
        for bars in self.by_symbol.values():
            for time in [time for time, bar in bars.items() if not bar["final"]]:
                del bars[time]

    def _clear(self) -> None:
        self.by_symbol = {}
        self.since = None


def _end(time: str, seconds: int) -> str:
    """Returns the end of an interval."""
    begin = datetime.strptime(time, _FORMAT).replace(tzinfo=timezone.utc)
    return (begin + timedelta(seconds=seconds)).strftime(_FORMAT)
