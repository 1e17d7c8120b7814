"""Copies that break one rule of the protocol each: a case of the conformance suite must find every one."""

from collections.abc import Iterable
from typing import Any

from support.oracles.reference_copy import Frame, Item, ReferenceCopy


class KeepsQuotesAtAResync(ReferenceCopy):
    def _open(self, frame: Frame) -> None:
        super()._open(frame | {"reason": "subscribe"})


class ReplacesAtAResume(ReferenceCopy):
    def _open(self, frame: Frame) -> None:
        super()._open(frame | {"reason": "resync"})


class KeepsRemoved(ReferenceCopy):
    def _merge(self, items: Iterable[Any], removed: Iterable[str]) -> None:
        super()._merge(items, list(removed)[:0])


class ReplacesItems(ReferenceCopy):
    def _merge(self, items: Iterable[Any], removed: Iterable[str]) -> None:
        self.quotes = {key: {} for key in self.quotes}
        super()._merge(items, removed)


class KeepsKnownValues(ReferenceCopy):
    """Takes null for a missing field."""

    def _merge(self, items: Iterable[Any], removed: Iterable[str]) -> None:
        before = {key: dict(quote) for key, quote in self.quotes.items()}
        super()._merge(items, removed)
        for key, quote in self.quotes.items():
            quote.update(
                {name: before.get(key, {}).get(name) for name, each in quote.items() if each is None}
            )


class ForgetsAtANewEpoch(ReferenceCopy):
    def take(self, frame: Frame) -> None:
        if (
            self.cursor
            and frame["type"] in {"update", "heartbeat"}
            and not self.cursor.startswith(frame["epoch"])
        ):
            self.quotes = {}
        super().take(frame)


class IgnoresHeartbeats(ReferenceCopy):
    def take(self, frame: Frame) -> None:
        if frame["type"] != "heartbeat":
            super().take(frame)


class TrustsEveryHeartbeat(ReferenceCopy):
    def take(self, frame: Frame) -> None:
        self._has_quotes = True
        super().take(frame)


class IgnoresCursorsOfBars(ReferenceCopy):
    def _take_bars(self, frame: Frame) -> None:
        before = self.cursor
        super()._take_bars(frame)
        self.cursor = before


class KeepsUnsubscribed(ReferenceCopy):
    def _acknowledge(self, frame: Frame) -> None:
        quotes, bars = self.quotes, self.bars
        super()._acknowledge(frame)
        self.quotes, self.bars = quotes, bars


class CoversWhatIsAcknowledged(ReferenceCopy):
    def _acknowledge(self, frame: Frame) -> None:
        super()._acknowledge(frame)
        self.covered, self.covered_fields = self.listed, self.listed_fields


class KeepsTheFirstColumns(ReferenceCopy):
    def _open(self, frame: Frame) -> None:
        columns = self._columns
        super()._open(frame)
        self._columns = columns or self._columns


class SubscribesToRefusedFeeds(ReferenceCopy):
    def take(self, frame: Frame) -> None:
        super().take(frame)
        self.is_served = True


class KeepsBarsAtAResync(ReferenceCopy):
    def _begin_bars(self, reason: str, columns: list[str]) -> None:
        bars = self.bars
        super()._begin_bars(reason, columns)
        self.bars = bars if reason == "resync" else self.bars


class KeepsProgressAtAResume(ReferenceCopy):
    def _begin_bars(self, reason: str, columns: list[str]) -> None:
        bars = self.bars
        super()._begin_bars(reason, columns)
        self.bars = bars if reason == "resume" else self.bars


class KeepsBarsOfOtherIntervals(ReferenceCopy):
    def _follow(self, interval: str | None) -> None:
        self.interval = interval


class PrefersBarsOfRest(ReferenceCopy):
    def read_closed(self, bars: Iterable[Item]) -> None:
        bars = list(bars)
        super().read_closed(bars)
        for bar in bars:
            self.bars[bar[self.key]][bar["time"]] = bar


class HasOneBarInProgress(ReferenceCopy):
    """Drops a bar in progress when the next one begins, before its final form comes."""

    def _take_bars(self, frame: Frame) -> None:
        super()._take_bars(frame)
        for bars in self.bars.values():
            for time in [time for time, bar in bars.items() if not bar["final"] and time < max(bars)]:
                del bars[time]


class NeverReadsRest(ReferenceCopy):
    def _begin_bars(self, reason: str, columns: list[str]) -> None:
        super()._begin_bars(reason, columns)
        self.missing = False


class IgnoresMarkersWithoutBars(ReferenceCopy):
    def _take_bars(self, frame: Frame) -> None:
        before = self.closed_through
        super()._take_bars(frame)
        if not frame["data"]:
            self.closed_through = before
