"""The state of a feed's client, and checks of the feed's promises."""

from collections.abc import Collection
from typing import Any

#: The key field of a quote, by feed.
KEYS = {"market": "ticker", "crypto": "ticker", "doviz": "symbol"}
#: Batches between two heartbeats that may change no quote: they close a minute's bars.
CLOSING_BATCHES = 1


class BrokenPromise(Exception):
    """A broken promise of the feed."""


class FeedState:
    """The quotes of one subscription, merged from its frames over any number of connections.

    `wanted` are the symbols subscribed to; None is everything. With `among_feeds` the subscription is one on
    the socket of all feeds, and its quotes are rows. `bars` is the interval of live bars, if there are any.
    """

    def __init__(
        self,
        feed: str,
        wanted: Collection[str] | None = None,
        *,
        among_feeds: bool = False,
        bars: str | None = None,
    ) -> None:
        self.feed = feed
        self.wanted = wanted
        self.among_feeds = among_feeds
        self._columns: list[str] = []
        self.quotes: dict[str, dict[str, Any]] = {}
        self.epoch = ""
        self.seq = 0
        self.bars = bars
        #: The time of the last marker of final bars, and each symbol's last final bar.
        self.bars_since = ""
        self._finals: dict[str, str] = {}
        self._bar_columns: list[str] = []

    @property
    def since(self) -> str:
        """Returns the cursor; empty before the first snapshot."""
        return f"{self.epoch}-{self.seq}" if self.epoch else ""

    def clear(self) -> None:
        """Clears quotes and cursor after a broken promise."""
        self.quotes.clear()
        self.epoch, self.seq = "", 0
        self._clear_bars()

    def merge(self, frame: dict[str, Any]) -> None:
        """Merges a snapshot or an update, or compares a heartbeat. Raises Broken for an impossible one."""
        over = frame.get("reason") == "resync"
        ahead = frame["seq"] - self.seq if frame["epoch"] == self.epoch else 0
        if ahead < 0 and not over:
            raise BrokenPromise("seq went back")
        if frame["type"] == "heartbeat" and ahead > CLOSING_BATCHES and self.wanted is None:
            # Every other seq changes a quote, so a client of everything gets a frame for it.
            raise BrokenPromise("a gap: the heartbeat is ahead of the frames")
        if over:
            self.quotes.clear()
        self._columns = frame.get("columns", self._columns)
        for item in self.items(frame):
            self._merge_item(item, whole=frame["type"] == "snapshot")
        for gone in frame.get("removed", ()):
            self.quotes.pop(gone, None)
        self.epoch, self.seq = frame["epoch"], frame["seq"]

    def merge_bars(self, frame: dict[str, Any]) -> None:
        """Checks that final bars come once, in order, and are counted. Raises BrokenPromise."""
        if frame.get("reason") == "resync":
            self._clear_bars()
        self._bar_columns = frame.get("columns", self._bar_columns)
        data: list[Any] = frame["data"]
        bars = [dict(zip(self._bar_columns, row, strict=True)) for row in data] if self.among_feeds else data
        for bar in bars:
            key, time = bar[KEYS[self.feed]], bar["time"]
            if time <= self._finals.get(key, ""):
                raise BrokenPromise("a bar that was final already")
            if bar["final"]:
                self._finals[key] = time
        closed = frame.get("closed")
        if closed is not None:
            if closed["count"] != len(bars) or not all(bar["final"] for bar in bars):
                raise BrokenPromise("a marker that does not count its final bars")
            self.bars_since = closed["time"]

    def _clear_bars(self) -> None:
        self._finals.clear()
        self.bars_since = ""

    def items(self, frame: dict[str, Any]) -> list[dict[str, Any]]:
        """Returns a frame's quotes; a row of moving fields has the first of the columns."""
        data: list[Any] = frame.get("data", [])
        return [dict(zip(self._columns, row, strict=False)) for row in data] if self.among_feeds else data

    def _merge_item(self, item: dict[str, Any], *, whole: bool) -> None:
        key = item[KEYS[self.feed]]
        if self.wanted is not None and key not in self.wanted:
            raise BrokenPromise("a quote outside of the subscription")
        if "name" not in item and (whole or key not in self.quotes):
            raise BrokenPromise("a merge conflict: moving fields of an unknown quote")
        self.quotes[key] = self.quotes.get(key, {}) | item
