"""The venues of a world: quotes that nobody else makes, and the upstreams that bring them to each ingest."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from typing import Final

import msgspec

from quotecast.errors import UpstreamError
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from support.made.market import doviz, pair, stock
from world.clock import PROCESS, wall_time
from world.loop import Process, WorldLoop

#: Seconds without an update after which an upstream counts as dead.
SILENCE_SECONDS: Final = 8.0
#: Seconds from a venue to an ingest.
_LINE_SECONDS: Final = (0.001, 0.02)

#: Names of one update, and their mean.
_COUNTS: Final = (1, 1, 1, 2, 5)
_NAMES_AT_ONCE: Final = sum(_COUNTS) / len(_COUNTS)
#: How often symbols end, to begin again at some later update.
_REMOVED: Final = 0.08

_MADE: Final[dict[Feed, Callable[[str, float], Quote]]] = {
    Feed.STOCKS: stock,
    Feed.CRYPTO: pair,
    Feed.DOVIZ: doviz,
}
_NAMES: Final = {Feed.STOCKS: "S{}", Feed.CRYPTO: "C{}/USDT", Feed.DOVIZ: "d-{}"}


class Venue:
    """One feed's instruments, and every quote that they ever had."""

    def __init__(
        self, feed: Feed, loop: WorldLoop, chance: random.Random, symbols: int, pause: float
    ) -> None:
        self.feed = feed
        self._loop = loop
        self._chance = chance
        self._pause = pause
        self.names = [_NAMES[feed].format(number) for number in range(symbols)]
        self.quotes: dict[str, Quote] = {}
        #: The quotes that the first ingest found: a feed begins with them, and none crosses a threshold.
        self.first: dict[str, Quote] = {}
        #: Every quote that an upstream may bring, in JSON.
        self.issued: set[bytes] = set()
        self.lines: dict[Line, None] = {}
        #: Names that never end.
        self.lasting: set[str] = set()
        #: Every price of each name, and the Unix time at which it was issued.
        self.prices: dict[str, dict[float, float]] = {name: {} for name in self.names}
        self._prices = 0
        for name in self.names:
            self._issue(name)

    async def show_life(self) -> None:
        """Sends signs of life without end."""
        while True:
            await asyncio.sleep(SILENCE_SECONDS / 4)
            self.send(Update())

    async def run(self) -> None:
        """Issues quotes without end."""
        while True:
            await asyncio.sleep(self._chance.expovariate(1 / self._pause))
            names = self._chance.sample(self.names, min(self._chance.choice(_COUNTS), len(self.names)))
            gone = []
            if self._chance.random() < _REMOVED:
                gone = [name for name in names if name in self.quotes and name not in self.lasting]
                for name in gone:
                    del self.quotes[name]
            self.send(Update([self._issue(name) for name in names if name not in gone], gone))

    def price_at(self, second: float) -> float:
        """Returns a price that the venue has at about a second of the world."""
        return _price(len(self.names) + round(second * _NAMES_AT_ONCE / self._pause))

    def send(self, update: Update) -> None:
        """Sends an update to every ingest that listens."""
        for line in self.lines:
            line.send(update)

    def _issue(self, name: str) -> Quote:
        self._prices += 1
        # No two quotes have one price, so that each can be told from all others.
        made = _MADE[self.feed](name, _price(self._prices))
        self.prices[name][_price(self._prices)] = wall_time()
        changed: dict[str, str] = {"timestamp": iso_utc(wall_time())}
        if self._chance.random() < 0.02:
            changed["name"] = f"{name} of {self._prices}"
        elif name in self.quotes:
            changed["name"] = self.quotes[name].name
        quote: Quote = msgspec.structs.replace(made, **changed)
        self.quotes[name] = quote
        self.issued.add(msgspec.json.encode(quote))
        return quote


def _price(number: int) -> float:
    """Returns the price of a venue's quote by its number."""
    return 100 + number / 100


class Line:
    """An ingest's connection to a venue: it may fall silent, repeat, go back, and break."""

    def __init__(self, venue: Venue, process: Process) -> None:
        self.process = process
        #: What waits while the line is silent.
        self._held: list[Update] | None = None
        self._venue = venue
        self._arrived: asyncio.Queue[Update | Exception] = asyncio.Queue()
        self._due = 0.0

    async def updates(self) -> AsyncGenerator[Update, None]:
        """See QuoteProvider."""
        if self._held is not None:
            raise UpstreamError("the venue takes no connection")
        self._venue.lines[self] = None
        if not self._venue.first:
            self._venue.first = dict(self._venue.quotes)
        try:
            yield Update([*self._venue.quotes.values()], complete=True)
            while True:
                try:
                    async with asyncio.timeout(SILENCE_SECONDS):
                        update = await self._arrived.get()
                except TimeoutError:
                    raise UpstreamError("the venue is silent") from None
                if isinstance(update, Exception):
                    raise update
                yield update
        finally:
            self._venue.lines.pop(self, None)

    def send(self, update: Update) -> None:
        """Brings an update, after its silence if the line is silent."""
        if self._held is None:
            self._bring(update)
        else:
            self._held.append(update)

    def fall_silent(self) -> None:
        """Brings nothing until `speak`, and takes no connection."""
        self._held = []

    def speak(self) -> None:
        """Brings what waited."""
        held, self._held = self._held or [], None
        for update in held:
            self._bring(update)

    def fail(self, error: Exception) -> None:
        """Ends the connection with an error."""
        self._bring(error)

    def _bring(self, what: Update | Exception) -> None:
        venue, loop = self._venue, self._venue._loop
        self._due = max(self._due, loop.now + venue._chance.uniform(*_LINE_SECONDS))
        loop.call_at(self._due, self._arrived.put_nowait, what, context=self.process.context)


class Upstream:
    """A QuoteProvider: what an ingest has of a venue."""

    name = "venue"
    simulated = False
    delay_seconds = 0.0
    silence_seconds = SILENCE_SECONDS
    always_open = True

    def __init__(self, venue: Venue) -> None:
        self.feed = venue.feed
        self._venue = venue
        self._line = Line(venue, PROCESS.get())

    def updates(self) -> AsyncGenerator[Update, None]:
        """See QuoteProvider."""
        self._line = Line(self._venue, PROCESS.get())
        return self._line.updates()
