"""Figures of an audit: ages of quotes, silences, and disagreements with REST."""

import time
from bisect import bisect_left
from collections import deque
from datetime import datetime
from heapq import nlargest
from typing import Final, NamedTuple, Self

from quotecast.observe.histograms import Histogram

#: Relative width of a bucket: a percentile is at most that much above the true one.
_WIDTH: Final = 0.02
#: Upper limits in milliseconds, from 1 ms to a month.
_BOUNDS: Final = tuple((1 + _WIDTH) ** power for power in range(1100))
#: Ages that wait for the offset of the clock.
_MOST_WAITING: Final = 100_000
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


class Ages:
    """Ages in milliseconds; a quote from the future has the age 0, and `ahead` counts it."""

    def __init__(self) -> None:
        #: Number of ages.
        self.count = 0
        #: The greatest age.
        self.largest = 0.0
        #: Number of quotes from the future.
        self.ahead = 0
        self._histogram = Histogram(_BOUNDS)
        self._offset: float | None = None
        self._waiting: list[float] = []

    def correct(self, offset: float) -> None:
        """Sets the milliseconds by which the service's clock is ahead of ours."""
        self._offset = offset
        waiting, self._waiting = self._waiting, []
        for age in waiting:
            self.add(age)

    def settle(self) -> None:
        """Counts the ages that wait, by our own clock if the service does not tell its time."""
        if self._offset is None:
            self.correct(0.0)

    def add(self, age: float) -> None:
        """Counts an age by our clock; the first ones wait for the offset of the clock."""
        if self._offset is None:
            self._waiting.append(age)
            if len(self._waiting) >= _MOST_WAITING:
                self.correct(0.0)
            return
        corrected = age + self._offset
        # Timestamps have whole milliseconds, and so has the clock that the service tells.
        self.ahead += corrected < -1
        corrected = max(corrected, 0.0)
        self.count += 1
        self.largest = max(self.largest, corrected)
        self._histogram.observe(corrected)

    def percentile(self, share: float) -> float | None:
        """Returns the age that a share of the quotes does not exceed, at most 2 % too high, or None."""
        if not self.count:
            return None
        counts = [count for _, count in self._histogram.cumulative()]
        place = bisect_left(counts, share * self.count)
        return min(_BOUNDS[place], self.largest) if place < len(_BOUNDS) else self.largest


class Moment(NamedTuple):
    """Seconds of a steady clock, for lengths, and Unix seconds, for ages."""

    steady: float
    unix: float

    @classmethod
    def now(cls) -> Self:
        """Returns the present moment."""
        return cls(time.monotonic(), time.time())


def milliseconds(timestamp: str) -> float:
    """Returns a timestamp of a quote in Unix milliseconds."""
    return datetime.fromisoformat(timestamp).timestamp() * 1000


class ClockOffset:
    """The lead of a service's clock over ours, by the fastest answer to a ping."""

    def __init__(self) -> None:
        #: Milliseconds; None before the first answer.
        self.offset: float | None = None
        #: Milliseconds between the ping and its answer; the offset is at most half of it wrong.
        self.round_trip: float | None = None

    def take(self, timestamp: str, sent: float, received: float) -> None:
        """Takes the time in an answer, which was between two Unix times of ours."""
        round_trip = (received - sent) * 1000
        if self.round_trip is None or round_trip < self.round_trip:
            self.round_trip = round_trip
            self.offset = milliseconds(timestamp) - (sent + received) * 500


class Silence:
    """The longest time between two signs of life; it begins at `start`, in seconds of a steady clock."""

    def __init__(self, start: float) -> None:
        self._last = start
        self._longest = 0.0

    def note(self, now: float) -> float:
        """Ends a silence; returns its length."""
        length = now - self._last
        self._longest = max(self._longest, length)
        self._last = now
        return length

    def longest(self, now: float) -> float:
        """Returns the longest silence; the present one counts, too."""
        return max(self._longest, now - self._last)


class QuoteFigures:
    """Takes the quotes of one feed in the order in which they come."""

    def __init__(self) -> None:
        #: Number of quotes.
        self.count = 0
        #: Number of quotes older than the one before of their symbol.
        self.backwards = 0
        self.ages = Ages()
        self._silences: dict[str, Silence] = {}
        self._times: dict[str, float] = {}

    def take(self, symbol: str, timestamp: str | None, now: Moment, *, counts: bool = True) -> float | None:
        """Takes a quote; returns its time in Unix milliseconds.

        The first quote of a symbol has no age: it was there before we came. `counts` is false for the quotes
        of a snapshot.
        """
        self.count += counts
        # The first silence begins with the first quote.
        self._silences.setdefault(symbol, Silence(now.steady)).note(now.steady)
        if timestamp is None:
            return None
        time, before = milliseconds(timestamp), self._times.get(symbol)
        self._times[symbol] = time
        if before is not None and time != before:
            self.backwards += time < before
            if counts:
                self.ages.add(now.unix * 1000 - time)
        return time

    def forget(self, symbol: str) -> None:
        """Drops a symbol that is gone."""
        self._times.pop(symbol, None)
        self._silences.pop(symbol, None)

    def quietest(self, count: int, now: float) -> dict[str, float]:
        """Returns the symbols with the longest times without a change, the longest first."""
        lengths = ((symbol, silence.longest(now)) for symbol, silence in self._silences.items())
        return dict(nlargest(count, lengths, key=lambda each: each[1]))
