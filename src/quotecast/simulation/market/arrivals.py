"""Arrivals of quotes from the simulated upstream: late, twice, not at all, or wrong."""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote
from quotecast.simulation.market.quoters import iso
from quotecast.simulation.market.scenarios.base import Spoil
from quotecast.simulation.market.scenarios.schedule import Schedule

#: How far in the future the time of a bad tick is, in milliseconds.
_FUTURE: Final = 3_600_000


class Arrival(Struct, frozen=True, gc=False):
    """A quote that arrived; `sent` is when the upstream sent it, in Unix milliseconds of the market."""

    quote: Quote
    sent: int


class Arrivals:
    """The quotes on their way over one connection."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._numbers = count(1)
        #: When each quote arrives, and a number that orders equal times.
        self._waiting: list[tuple[int, int, Arrival]] = []

    def send(self, quotes: Iterable[Quote], moment: int) -> None:
        """Sends quotes at a moment."""
        for quote in quotes:
            number = next(self._numbers)
            spoil = self._schedule.spoil(moment, quote.key, number)
            arrival = Arrival(_spoiled(quote, spoil, moment) if spoil else quote, moment)
            for delay in self._schedule.delays(moment, quote.key, number):
                heappush(self._waiting, (moment + delay, next(self._numbers), arrival))

    def receive(self, moment: int) -> Iterator[Arrival]:
        """Yields the quotes that arrive by a moment, in their order."""
        while self._waiting and self._waiting[0][0] <= moment:
            yield heappop(self._waiting)[2]


def _spoiled(quote: Quote, spoil: Spoil, moment: int) -> Quote:
    # The quote of a stock has no sides that could be crossed.
    changes: dict[str, Any] = {}
    match spoil:
        case "zero":
            changes = {"price": 0.0}
        case "hundredfold":
            changes = {"price": quote.price * 100}
        case "nan":
            changes = {"price": float("nan")}
        case "future":
            changes = {"timestamp": iso(moment + _FUTURE)}
        case "crossed" if isinstance(quote, CryptoQuote):
            changes = {"bid": quote.ask, "ask": quote.bid}
        case "crossed" if isinstance(quote, DovizQuote):
            changes = {"buying": quote.selling, "selling": quote.buying}
    return replace(quote, **changes)
