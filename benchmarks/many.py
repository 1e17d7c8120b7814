"""`python -m benchmarks.many URL SYMBOLS RATE`: an ingest of many stocks, whose quotes are made beforehand.

The quotes are those of the simulator; to make 48,000 of them a second would take a core of its own. They come
in ticks of 20 ms, in turn, with the time of their tick.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from itertools import cycle, islice
from typing import Final

import uvloop
from msgspec import structs

from quotecast.background import run_beside
from quotecast.bus.redis import RedisBus
from quotecast.garbage import freeze_after
from quotecast.ingest.publish import FeedPublisher
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from quotecast.simulation.market.venues import hours_of, quoters

#: Quotes of each stock, and the milliseconds between two of them.
MOVES: Final = 6
PAUSE: Final = 250
TICK_SECONDS: Final = 0.02
#: Quotes of one update: what a late tick has more follows at once.
MOST: Final = 1000
LEASE_MILLISECONDS: Final = 3_600_000


class Upstream:
    """A QuoteProvider of `rate` quotes a second."""

    name = "many"
    feed = Feed.STOCKS
    simulated = True
    delay_seconds = 0.0
    silence_seconds = 60.0
    always_open = True

    def __init__(self, symbols: int, rate: float) -> None:
        every = quoters(Feed.STOCKS, 1, hours_of(Feed.STOCKS, always_open=True), stocks=symbols)
        moment = int(time.time() * 1000)
        moves: list[Quote] = []
        for step in range(MOVES):
            found = (each.next_quote(moment + step * PAUSE) for each in every)
            moves += [quote for quote in found if quote is not None]
            if step == 0:
                self.first = list(moves)
        self._moves = cycle(moves)
        self._rate = rate

    def moves(self) -> Iterator[Quote]:
        """Returns the quotes that follow the first ones, without end."""
        return self._moves

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Yields all quotes, then those that move."""
        yield Update(self.first, complete=True)
        began, sent = time.monotonic(), 0
        while True:
            due = int((time.monotonic() - began) * self._rate) - sent
            if due < self._rate * TICK_SECONDS:
                await asyncio.sleep(TICK_SECONDS - time.monotonic() % TICK_SECONDS)
                continue
            now, count = iso_utc(time.time()), min(due, MOST)
            yield Update([structs.replace(quote, timestamp=now) for quote in islice(self._moves, count)])
            sent += count
            await asyncio.sleep(0)


async def _main(url: str, symbols: int, rate: float) -> None:
    bus = RedisBus(url, "quotecast")
    await bus.hold(Feed.STOCKS, "many", LEASE_MILLISECONDS)
    publisher = FeedPublisher(Upstream(symbols, rate), bus, "many")
    async with run_beside(freeze_after(publisher.begun)):
        await publisher.run()


if __name__ == "__main__":
    uvloop.run(_main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
