"""The Python client's copy, as the runner of the conformance suite asks for it."""

from collections.abc import Iterable
from typing import Any, Final, cast

from quotecast_client import Copy
from quotecast_client.names import Feed
from support.oracles.reference_copy import Frame, Item

_FEEDS: Final = {"ticker": "market", "symbol": "doviz"}


class ClientCopy:
    """One feed's copy of the client."""

    def __init__(self, key: str, asked: Frame) -> None:
        self._key = key
        self._asked = asked
        self._copy = Copy(cast("Feed", _FEEDS[key]))
        self.is_served = True

    @property
    def quotes(self) -> dict[str, Any]:
        return dict(self._copy.quotes)

    @property
    def cursor(self) -> str | None:
        return self._copy.cursor

    @property
    def interval(self) -> str | None:
        return self._copy.bars.interval

    @property
    def missing(self) -> bool:
        return self._copy.bars.missing

    def take(self, frame: Frame) -> None:
        self._copy.take(frame)
        if frame["type"] == "error" and frame["code"] == 404:
            self.is_served = False

    def read_closed(self, bars: Iterable[Item]) -> None:
        closed: dict[str, list[Item]] = {}
        for bar in bars:
            closed.setdefault(bar[self._key], []).append(self._without_key(bar))
        self._copy.fill_bars(closed)

    def want(self, command: Frame) -> None:
        if command["action"] == "subscribe" and "fields" in command:
            self._asked = self._asked | {"fields": command["fields"]}

    def connect(self) -> None:
        self._copy.take({"type": "welcome"})

    def reconnection(self) -> Frame:
        copy, asked = self._copy, {"since": self._copy.since, "symbols": self._asked["symbols"]}
        options = {"fields": self._asked.get("fields"), "bars": self._asked.get("bars")}
        if copy.cursor is not None:
            names = copy.symbols
            asked["symbols"] = names if names == "all" else sorted(names)
            options = {"fields": copy.fields, "bars": copy.bars.interval, "bars_since": copy.bars.since}
        return asked | {name: value for name, value in options.items() if value}

    def held_bars(self) -> dict[str, list[Item]]:
        bars = self._copy.bars.by_symbol
        return {key: [{self._key: key, **bar} for bar in held.values()] for key, held in bars.items() if held}

    def _without_key(self, bar: Item) -> Item:
        return {name: value for name, value in bar.items() if name != self._key}
