"""The state of a feed's client, and checks of the feed's promises."""

from collections.abc import Collection
from typing import Any

#: The key field of a quote, by feed.
KEYS = {"market": "ticker", "crypto": "ticker", "doviz": "symbol"}


class BrokenPromise(Exception):
    """A broken promise of the feed."""


class FeedState:
    """The quotes of one subscription, merged from its frames over any number of connections.

    `wanted` are the symbols subscribed to; None is everything. With `among_feeds` the subscription is one on
    the socket of all feeds, and its quotes are rows.
    """

    def __init__(
        self, feed: str, wanted: Collection[str] | None = None, *, among_feeds: bool = False
    ) -> None:
        self.feed = feed
        self.wanted = wanted
        self.among_feeds = among_feeds
        self._columns: list[str] = []
        self.quotes: dict[str, dict[str, Any]] = {}
        self.epoch = ""
        self.seq = 0

    @property
    def since(self) -> str:
        """Returns the cursor; empty before the first snapshot."""
        return f"{self.epoch}-{self.seq}" if self.epoch else ""

    def clear(self) -> None:
        """Clears quotes and cursor after a broken promise."""
        self.quotes.clear()
        self.epoch, self.seq = "", 0

    def merge(self, frame: dict[str, Any]) -> None:
        """Merges a snapshot or an update, or compares a heartbeat. Raises Broken for an impossible one."""
        over = frame.get("reason") == "resync"
        ahead = frame["seq"] - self.seq if frame["epoch"] == self.epoch else 0
        if ahead < 0 and not over:
            raise BrokenPromise("seq went back")
        if frame["type"] == "heartbeat" and ahead > 0 and self.wanted is None:
            # Every seq changes something, so a client of everything gets a frame for it.
            raise BrokenPromise("a gap: the heartbeat is ahead of the frames")
        if over:
            self.quotes.clear()
        self._columns = frame.get("columns", self._columns)
        for item in self.items(frame):
            self._merge_item(item, whole=frame["type"] == "snapshot")
        for gone in frame.get("removed", ()):
            self.quotes.pop(gone, None)
        self.epoch, self.seq = frame["epoch"], frame["seq"]

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
