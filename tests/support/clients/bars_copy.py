"""A client's copy of live bars, as docs/feeds.md describes it."""

from collections.abc import Callable, Iterable
from typing import Any

from quotecast.market.own_bars import LiveInterval

Bar = dict[str, Any]
#: Returns the final bars of an interval and some symbols; of all for None.
Read = Callable[[LiveInterval, Iterable[str] | None], list[Bar]]


class BarsCopy:
    """`final` has the final bars by symbol and time, `progress` each symbol's newest bar in progress.

    `read` returns the final bars of some symbols, as REST does.
    """

    def __init__(self, read: Read, key: str = "ticker") -> None:
        self.final: dict[str, dict[str, Bar]] = {}
        self.progress: dict[str, Bar] = {}
        #: The time of the last marker, or of the newest bars that `read` returned.
        self.since: str | None = None
        self.reasons: list[str] = []
        #: Final bars and markers that came twice since the last resync.
        self.repeated = 0
        self._read = read
        self._key = key
        self._interval: LiveInterval | None = None
        self._columns: list[str] = []
        self._received: set[tuple[str, str]] = set()

    def forget(self) -> None:
        """Drops all bars."""
        self.final.clear()
        self.progress.clear()
        self._received.clear()
        self.since = None

    def retain(self, symbols: Iterable[str]) -> None:
        """Drops the bars of all other symbols."""
        kept = set(symbols)
        self.final = {key: bars for key, bars in self.final.items() if key in kept}
        self.progress = {key: bar for key, bar in self.progress.items() if key in kept}
        self._received = {each for each in self._received if each[0] in kept}

    def take(self, frame: dict[str, Any], symbols: Iterable[str] | None) -> None:
        """Merges a frame; `symbols` is the present list, None for all."""
        if frame["interval"] != self._interval:
            self.forget()
            self._interval = frame["interval"]
        reason = frame.get("reason")
        if reason is not None:
            self._begin(frame, symbols)
        bars = [self._bar(item) for item in frame["data"]]
        for bar in bars:
            assert bar["final"] is ("closed" in frame)
            self._store(bar)
        if "closed" in frame:
            assert frame["closed"]["count"] == len(bars)
            if self.since is not None and frame["closed"]["time"] <= self.since:
                self.repeated += 1
            self.since = frame["closed"]["time"]

    def _begin(self, frame: dict[str, Any], symbols: Iterable[str] | None) -> None:
        self.reasons.append(frame["reason"])
        self._columns = frame.get("columns", [])
        if frame["reason"] == "resync":
            self.forget()
        if frame["reason"] == "resume":  # another worker may be behind the one before
            self.progress.clear()
        if frame["reason"] in {"subscribe", "resync"}:
            for bar in self._read(frame["interval"], symbols):
                self.final.setdefault(bar[self._key], {}).setdefault(bar["time"], bar)

    def _bar(self, item: Any) -> Bar:
        return dict(zip(self._columns, item, strict=True)) if self._columns else item

    def _store(self, bar: Bar) -> None:
        symbol, time = bar[self._key], bar["time"]
        if not bar["final"]:
            self.repeated += (symbol, time) in self._received
            self.progress[symbol] = bar
            return
        known = self.final.setdefault(symbol, {})
        assert known.get(time, bar) == bar, "a final bar never changes"
        newest = max((each for key, each in self._received if key == symbol), default="")
        if (symbol, time) in self._received:
            self.repeated += 1
        else:
            assert time > newest, "final bars come in order"
        self._received.add((symbol, time))
        known[time] = bar
        if self.progress.get(symbol, bar)["time"] <= time:
            self.progress.pop(symbol, None)
