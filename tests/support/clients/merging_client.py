"""A client that merges a feed's frames as the protocol says."""

import json
import zlib
from collections.abc import Callable
from typing import Any, Literal

import msgspec

#: Decoders of frames by subprotocol.
READERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "quotecast.v1.json": json.loads,
    "quotecast.v1.msgpack": msgspec.msgpack.decode,
    "quotecast.v1.rows": json.loads,
    "quotecast.v1.rows.msgpack": msgspec.msgpack.decode,
    "quotecast.v1.json.deflate": lambda data: json.loads(zlib.decompress(data, -zlib.MAX_WBITS)),
}

Names = frozenset[str] | Literal["all"]


class MergingClient:
    """A client whose `quotes` are what a frontend would show."""

    def __init__(self, key: str = "ticker", subprotocol: str = "quotecast.v1.json") -> None:
        self.quotes: dict[str, dict[str, Any]] = {}
        self.epoch = ""
        self.seq = 0
        #: Subscription after the feed's last answer: symbols and groups, or all.
        self.wanted: Names = frozenset()
        #: Part of the subscription that the cursor covers: a name counts once its snapshot has come.
        self.covered: Names = frozenset()
        self.frames: list[dict[str, Any]] = []
        self._key = key
        self._read = READERS[subprotocol]
        #: Names of a row's values, from the last snapshot.
        self._columns: list[str] = []

    @property
    def since(self) -> str:
        return f"{self.epoch}-{self.seq}"

    @property
    def names_to_resume(self) -> str:
        """Returns the names to reconnect with, beside `since`."""
        return "all" if self.covered == "all" else ",".join(sorted(self.covered))

    def names_to_subscribe(self, wanted: Names) -> list[str] | Literal["all"]:
        """Returns the names to subscribe again after a reconnection."""
        if wanted == "all":
            return [] if self.wanted == "all" else "all"
        return [] if self.wanted == "all" else sorted(wanted - self.wanted)

    def take(self, message: str | bytes) -> dict[str, Any]:
        return self.merge(self.read(message))

    def read(self, message: str | bytes) -> dict[str, Any]:
        return self._read(message)

    def merge(self, frame: dict[str, Any]) -> dict[str, Any]:
        self.frames.append(frame)
        if frame["type"] in {"snapshot", "update", "bars", "heartbeat"}:
            if frame["epoch"] == self.epoch and frame.get("reason") != "resync":
                assert frame["seq"] >= self.seq, "a cursor never goes back within an epoch"
            self.epoch, self.seq = frame["epoch"], frame["seq"]
        if frame["type"] == "subscribed":
            self._acknowledge(frame["symbols"])
        elif frame["type"] == "snapshot":
            self._snapshot(frame)
        elif frame["type"] == "update":
            self._update(frame)
        return frame

    def wants(self, key: str, sector: str) -> bool:
        return self.wanted == "all" or key in self.wanted or f"sector:{sector}" in self.wanted

    def forget_subscription(self) -> None:
        """Begins a connection that subscribes to nothing yet."""
        self.wanted = self.covered = frozenset()

    def drop_unwanted(self) -> None:
        """Deletes quotes outside of the subscription: the feed does not list them as removed."""
        for key in [key for key, quote in self.quotes.items() if not self.wants(key, quote["sector"])]:
            del self.quotes[key]

    def items(self, frame: dict[str, Any]) -> list[dict[str, Any]]:
        """Returns a frame's quotes; a row of moving fields is shorter than the columns."""
        if not self._columns:
            items: list[dict[str, Any]] = frame["data"]
            return items
        return [dict(zip(self._columns, row, strict=False)) for row in frame["data"]]

    def _acknowledge(self, symbols: list[str] | Literal["all"]) -> None:
        if symbols == "all":
            self.wanted = "all"
        else:
            self.wanted = frozenset(symbols)
            self.covered = frozenset() if self.covered == "all" else self.covered & self.wanted

    def _snapshot(self, frame: dict[str, Any]) -> None:
        self.covered = self.wanted
        if frame["reason"] == "resync":
            self.quotes.clear()
        self._columns = frame.get("columns", [])
        self.quotes.update({item[self._key]: item for item in self.items(frame)})

    def _update(self, frame: dict[str, Any]) -> None:
        for item in self.items(frame):
            held = self.quotes.setdefault(item[self._key], {})
            assert held or "name" in item, "a new symbol comes in full"
            held.update(item)
        for symbol in frame.get("removed", []):
            self.quotes.pop(symbol, None)
