"""A client that keeps a feed's state as the protocol tells it to: what any frontend would write."""

import json
from typing import Any


class MergingClient:
    """Applies frames; `quotes` is what it would show."""

    def __init__(self, key: str = "ticker") -> None:
        self.quotes: dict[str, dict[str, Any]] = {}
        self.epoch = ""
        self.seq = 0
        self.frames: list[dict[str, Any]] = []
        self._key = key

    @property
    def since(self) -> str:
        return f"{self.epoch}-{self.seq}"

    def take(self, text: str) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(text)
        self.frames.append(frame)
        if frame["type"] in {"snapshot", "update", "heartbeat"}:
            if frame["epoch"] == self.epoch and frame.get("reason") != "resync":
                assert frame["seq"] >= self.seq, "a cursor never goes back within an epoch"
            self.epoch, self.seq = frame["epoch"], frame["seq"]
        if frame["type"] == "snapshot":
            self._snapshot(frame)
        elif frame["type"] == "update":
            self._update(frame)
        return frame

    def _snapshot(self, frame: dict[str, Any]) -> None:
        if frame["reason"] == "resync":
            self.quotes.clear()
        self.quotes.update({item[self._key]: item for item in frame["data"]})

    def _update(self, frame: dict[str, Any]) -> None:
        for item in frame["data"]:
            held = self.quotes.setdefault(item[self._key], {})
            assert held or "name" in item, "a symbol not held before comes in full"
            held.update(item)
        for symbol in frame.get("removed", []):
            self.quotes.pop(symbol, None)
