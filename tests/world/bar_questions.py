"""What some readers of a world ask for: bars over REST or UDF, whose final ones must be those of the feed."""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgspec

from quotecast.market.own_bars import LiveInterval, OwnBar
from world.questions import Mark, states_between
from world.truth import FeedTruth

#: The lengths of bars that end while a world runs, and their names to charts.
_INTERVALS: Final[dict[LiveInterval, str]] = {"1m": "1", "5m": "5", "15m": "15"}
_SECONDS: Final = {"1m": 60, "5m": 300, "15m": 900}
#: The end of a span that lies after every world.
_LATEST: Final = 1_800_000_000
#: Bars that a chart asks for.
_COUNT: Final = 50

Problem = tuple[str, str]


class ReadBar(NamedTuple):
    """A bar of an answer; `opened` is Unix time, and the volume is 0 where the feed has none."""

    opened: int
    open: float
    high: float
    low: float
    close: float
    volume: float


class Bars:
    """The bars of one symbol, of several, or of a chart."""

    def __init__(self, truth: FeedTruth, chance: random.Random) -> None:
        self._truth = truth
        feed = truth.feed
        self._interval = chance.choice([*_INTERVALS])
        self._way = chance.choice(("one", "several", "chart"))
        self._names = truth.names if self._way == "several" else [chance.choice(truth.names)]
        name, own = self._names[0], chance.choice(("", "&source=own"))
        #: One whose name ends counts in the window of all unknown names meanwhile.
        self.windows = 2 if self._way == "one" else 1
        match self._way:
            case "one":
                self.path = f"/api/{feed.spec.name}/bars/{name}"
                query = f"interval={self._interval}{own}"
            case "several":
                self.path = f"/api/{feed.spec.name}/bars"
                query = f"symbols={','.join(self._names)}&interval={self._interval}{own}"
            case _:
                self.path = "/api/udf/history"
                query = (
                    f"symbol={name}&resolution={_INTERVALS[self._interval]}&to={_LATEST}&countback={_COUNT}"
                )
        self.query = query.encode()

    def parse(self, body: bytes) -> Mapping[str, list[ReadBar]]:
        """See Question."""
        answer = msgspec.json.decode(body)
        if self._way == "chart":
            return {self._names[0]: _of_table(answer)}
        found = {self._names[0]: answer} if self._way == "one" else answer
        return {key: [_of_item(bar) for bar in bars] for key, bars in found.items()}

    def problems(self, items: Mapping[str, list[ReadBar]], before: Mark, after: Mark) -> list[Problem]:
        """See Question."""
        found = [
            problem for key, bars in items.items() for problem in self._problems_of(key, bars, before, after)
        ]
        if before.epoch == after.epoch:
            states = states_between(self._truth, before, after)
            if self._truth.clocks_are_right:
                found += self._problems_of_prices(items, states, after)
            missing = [key for key in self._names if key not in items]
            found += [
                ("an answer has each symbol", f"{key} is missing at {after.epoch}-{after.seq}")
                for key in missing
                if all(key in state for state in states)
            ]
        return found

    def _problems_of_prices(
        self, items: Mapping[str, list[ReadBar]], states: Sequence[Mapping[str, Any]], after: Mark
    ) -> Iterator[Problem]:
        """Yields the bars in progress that close with none of the prices of some states."""
        for key, bars in items.items():
            prices = {state[key]["price"] for state in states if key in state}
            # PostgreSQL may have bars that a late worker does not know yet.
            in_progress = [
                bar
                for bar in bars[-1:]
                if bar.opened + _SECONDS[self._interval] > after.through and not self._variants(key, bar)
            ]
            for bar in in_progress:
                if prices and bar.close not in prices:
                    yield "a bar closes with the price", f"{key} has {bar} instead of {prices}"

    def _problems_of(self, key: str, bars: list[ReadBar], before: Mark, after: Mark) -> Iterator[Problem]:
        if any(first.opened >= second.opened for first, second in pairwise(bars)):
            yield "a bar is read once", f"{key} has {bars}"
        closings = self._truth.bars.ends() if not self._truth.bars.losses else before.closings
        opened = {bar.opened for bar in bars}
        for place in self._truth.bars.surely_known(
            self._interval, key, (end for end in closings if end <= before.through)
        ):
            if place[2] not in opened:
                yield "a final bar is read", f"{key} has {bars} without {self._truth.bars.variants(place)}"
        for bar in bars:
            yield from self._problems_of_bar(key, bar, before, after)

    def _variants(self, key: str, bar: ReadBar) -> list[OwnBar]:
        return self._truth.bars.variants((self._interval, key, bar.opened))

    def _problems_of_bar(self, key: str, bar: ReadBar, before: Mark, after: Mark) -> Iterator[Problem]:
        truth = self._truth
        if bar.opened + _SECONDS[self._interval] <= before.through:
            known = [
                (each.open, each.high, each.low, each.close, each.volume or 0.0)
                for each in self._variants(key, bar)
            ]
            if bar[1:] not in known:
                yield "a final bar is the same everywhere", f"{key} has {bar} instead of {known}"
        for price in bar[1:5]:
            issued = truth.issued_at(key, price)
            if issued is None:
                yield "nothing that no upstream sent", f"{key} has {bar}"
            elif truth.clocks_are_right and issued + truth.delay_seconds > after.at:
                yield "delayed bars are never early", f"{key} has {bar} of a price of {issued} at {after.at}"


def _of_item(bar: dict[str, Any]) -> ReadBar:
    opened = int(datetime.fromisoformat(bar["time"]).timestamp())
    return ReadBar(opened, bar["open"], bar["high"], bar["low"], bar["close"], bar["volume"] or 0.0)


def _of_table(table: dict[str, Any]) -> list[ReadBar]:
    if table["s"] != "ok":
        return []
    columns = [table[name] for name in "tohlc"]
    return [ReadBar._make(row) for row in zip(*columns, table.get("v", [0.0] * len(columns[0])), strict=True)]
