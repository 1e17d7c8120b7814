"""Compares quotes of a feed with those of REST: for equal times the prices are equal."""

from collections import deque
from typing import Final, NamedTuple

#: The last quotes of a symbol that an answer of REST may show.
_RECENT: Final = 8
#: Disagreements that the report shows.
_EXAMPLES: Final = 8


class Seen(NamedTuple):
    """A price and its time in Unix milliseconds."""

    time: float
    price: float


class Disagreement(NamedTuple):
    """The price of the feed and that of REST, for one time in Unix milliseconds."""

    symbol: str
    time: float
    feed_price: float
    rest_price: float


class Agreement:
    """Compares the quotes of one feed.

    REST may be ahead of the feed, which conflates: an answer waits until the feed has reached its time. A
    time that the feed skips is not compared.
    """

    def __init__(self) -> None:
        #: Number of compared quotes.
        self.compared = 0
        self.disagreements = 0
        #: The first disagreements.
        self.examples: list[Disagreement] = []
        self._recent: dict[str, deque[Seen]] = {}
        self._answers: dict[str, Seen] = {}
        self._sampled = 0

    def sample(self, count: int) -> list[str]:
        """Returns symbols to compare: each call returns the next ones, in turn."""
        symbols = sorted(self._recent)
        first, self._sampled = self._sampled, self._sampled + count
        return [symbols[(first + place) % len(symbols)] for place in range(min(count, len(symbols)))]

    @property
    def is_waiting(self) -> bool:
        """Whether an answer waits for the feed."""
        return bool(self._answers)

    def take_quote(self, symbol: str, seen: Seen) -> None:
        """Takes a quote of the feed."""
        self._recent.setdefault(symbol, deque(maxlen=_RECENT)).append(seen)
        if symbol in self._answers:
            self._judge(symbol, is_last=False)

    def take_answer(self, symbol: str, seen: Seen) -> None:
        """Takes a quote of REST."""
        if symbol in self._recent:
            self._answers[symbol] = seen
            self._judge(symbol, is_last=False)

    def forget(self, symbol: str) -> None:
        """Drops a symbol that is gone."""
        self._recent.pop(symbol, None)
        self._answers.pop(symbol, None)

    def finish(self) -> None:
        """Judges the answers that still wait."""
        for symbol in [*self._answers]:
            self._judge(symbol, is_last=True)

    def _judge(self, symbol: str, *, is_last: bool) -> None:
        """Ends the wait of an answer if the feed has its quote, or has passed its time."""
        recent, answer = self._recent[symbol], self._answers[symbol]
        if answer not in recent and not is_last and recent[-1].time <= answer.time:
            return
        del self._answers[symbol]
        same = [each.price for each in recent if each.time == answer.time]
        if not same:
            return
        self.compared += 1
        if answer.price not in same:
            self.disagreements += 1
            if len(self.examples) < _EXAMPLES:
                self.examples.append(Disagreement(symbol, answer.time, same[-1], answer.price))
