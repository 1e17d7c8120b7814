"""What the readers of a world ask for: quotes over REST or UDF, and whether an answer equals the feed."""

import random
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from world.clock import wall_time
from world.truth import FeedTruth

#: How many readers of quotes are charts, which ask by UDF.
_CHARTS: Final = 0.25
#: The value of a chart's quote that they check, and the field of the feed that it is.
_CHART_VALUES: Final = {
    Feed.STOCKS: ("lp", "price"),
    Feed.CRYPTO: ("lp", "price"),
    Feed.DOVIZ: ("bid", "buying"),
}


class Mark(NamedTuple):
    """How far a worker's copy of a feed is: its quotes, and the closings of bars that it has."""

    epoch: str
    seq: int
    #: Unix time up to which bars are final.
    through: int
    closings: tuple[int, ...]
    #: The Unix time of the mark, by a clock that is right.
    at: float

    @classmethod
    def of(cls, mirror: Mirror) -> "Mark":
        """Returns the mark of a mirror now."""
        bars, seq = mirror.bars, mirror.mark.seq
        closings = tuple(each.closing.through for each in bars.closings)
        return cls(mirror.epoch, seq, bars.through, closings, wall_time())


class Question(Protocol):
    """One address, which a reader asks again and again."""

    path: str
    query: bytes
    #: Windows of limits in which its requests count.
    windows: int

    def parse(self, body: bytes) -> Mapping[str, Any]:
        """Returns an answer by the symbols of the feed."""
        ...

    def problems(self, items: Mapping[str, Any], before: Mark, after: Mark) -> list[tuple[str, str]]:
        """Returns the promises that an answer of a worker between two marks breaks, and what breaks them."""
        ...


def states_between(truth: FeedTruth, before: Mark, after: Mark) -> list[dict[str, Any]]:
    """Returns the quotes that a worker had between two marks."""
    numbers = range(before.seq, after.seq + 1) if before.epoch == after.epoch else [after.seq]
    return [truth.states.get((after.epoch, number), {}) for number in numbers]


class Quotes:
    """The quotes of all symbols, or of one; for charts by UDF."""

    def __init__(self, truth: FeedTruth, chance: random.Random) -> None:
        self._truth = truth
        self._feed = truth.feed
        self._is_chart = chance.random() < _CHARTS
        self._name = None if self._is_chart else chance.choice([None, *truth.names])
        names_all = self._is_chart or (self._feed is Feed.STOCKS and not self._name)
        self.query = f"symbols={','.join(truth.names)}".encode() if names_all else b""
        self.path = f"/api/{'udf' if self._is_chart else self._feed.spec.name}/quotes"
        if self._name:
            self.path += f"/{self._name}"
        # A name that has no quote for a moment counts in the window of all unknown names meanwhile.
        self.windows = 1 if self._name is None else 2

    def parse(self, body: bytes) -> Mapping[str, Any]:
        """See Question."""
        quotes = msgspec.json.decode(body)
        if self._is_chart:
            value, _ = _CHART_VALUES[self._feed]
            return {each["n"]: each["v"][value] for each in quotes["d"] if each["s"] == "ok"}
        if self._name:
            return {self._name: quotes}
        key = "symbol" if self._feed is Feed.DOVIZ else "ticker"
        listed = quotes.values() if isinstance(quotes, dict) else quotes
        return {quote[key]: quote for quote in listed}

    def problems(self, items: Mapping[str, Any], before: Mark, after: Mark) -> list[tuple[str, str]]:
        """See Question."""
        if any(items == self._part(each) for each in states_between(self._truth, before, after)):
            return []
        return [("an answer equals the feed", f"at {after.epoch}-{after.seq} it is none of its states")]

    def _part(self, state: dict[str, Any]) -> dict[str, Any]:
        """Returns what the reader asks for of a state."""
        if self._is_chart:
            _, field = _CHART_VALUES[self._feed]
            return {key: item[field] for key, item in state.items()}
        return {key: item for key, item in state.items() if self._name in {None, key}}
