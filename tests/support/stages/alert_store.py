"""What PostgreSQL does for alerts, in memory, and a leader's view of the thresholds there."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from msgspec import Struct

from quotecast.alerts import storage
from quotecast.alerts.storage import Written
from quotecast.errors import DatabaseAway
from quotecast.market.crossings import (
    NO_CROSSING,
    Crossing,
    CrossingId,
    Levels,
    Measure,
    Thresholds,
)
from quotecast.market.feeds import Feed

#: An event: the alert, when it happened, and the value then.
Event = tuple[str, float, float]


class AlertRow(Struct):
    id: str
    feed: Feed
    ticker: str
    measure: Measure
    direction: Literal["up", "down"]
    threshold: float
    armed_at: float
    repeats: bool = False
    active: bool = True
    #: Whether the oracle has seen the only event of an alert that does not repeat.
    is_spent: bool = False

    def is_crossed(self, before: float, value: float) -> bool:
        if self.direction == "up":
            return before < self.threshold <= value
        return before > self.threshold >= value


class MemoryStore:
    """Runs the transactions of `storage`; `fails` says whether the next one fails, and when."""

    def __init__(self) -> None:
        self.alerts: dict[str, AlertRow] = {}
        self.events: list[Event] = []
        self.written: dict[Feed, CrossingId] = {}
        self.fails: Literal["", "before", "after"] = ""

    async def session(self, work: partial[Any]) -> Any:
        fails, self.fails = self.fails, ""
        if fails == "before":
            raise DatabaseAway
        answer = self._answer(work.func, work.keywords)
        if fails == "after":
            raise DatabaseAway
        return answer

    def _answer(self, function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
        if function is storage.last_written:
            return self.written.get(values["feed"], NO_CROSSING)
        assert function is storage.write
        return self._write(**values)

    def _write(self, feed: Feed, after: CrossingId, crossings: list[Crossing]) -> Written:
        stored = self.written.get(feed, NO_CROSSING)
        if stored != after:
            return Written(stored)
        count = len(self.events)
        for crossing in crossings:
            for alert in self.waiting(feed, crossing):
                self.events.append((alert.id, crossing.at, crossing.value))
                alert.active = alert.repeats
        self.written[feed] = crossings[-1].id
        return Written(crossings[-1].id, len(self.events) - count)

    def waiting(self, feed: Feed, crossing: Crossing) -> list[AlertRow]:
        return [
            alert
            for alert in self.alerts.values()
            if (alert.feed, alert.ticker, alert.measure) == (feed, crossing.ticker, crossing.measure)
            and alert.active
            and alert.armed_at <= crossing.at
            and alert.is_crossed(crossing.before, crossing.value)
        ]


class MemoryLevels:
    """The thresholds in a MemoryStore, as of the last `read`."""

    def __init__(self, store: MemoryStore) -> None:
        self.written = dict.fromkeys(Feed, NO_CROSSING)
        self._store = store
        self._levels: dict[Feed, Levels] = {feed: {} for feed in Feed}

    async def wait_until_known(self) -> None:
        self.read()

    def of(self, feed: Feed) -> Levels:
        return self._levels[feed]

    def read(self) -> None:
        for feed in Feed:
            found: dict[str, dict[Measure, dict[str, set[float]]]] = {}
            for alert in self._store.alerts.values():
                if alert.feed is feed and alert.active:
                    sides = found.setdefault(alert.ticker, {}).setdefault(alert.measure, {})
                    sides.setdefault(alert.direction, set()).add(alert.threshold)
            self._levels[feed] = {
                ticker: tuple(
                    Thresholds(measure, *(tuple(sorted(sides.get(side, ()))) for side in ("up", "down")))
                    for measure, sides in measures.items()
                )
                for ticker, measures in found.items()
            }
