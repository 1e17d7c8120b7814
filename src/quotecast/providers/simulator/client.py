"""The simulated market as a provider of quotes."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from itertools import cycle, islice
from typing import Final

from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from quotecast.providers.simulator.quoters import NAME, Quoter
from quotecast.providers.simulator.trades import PAUSE
from quotecast.providers.simulator.venues import hours_of, quoters

#: Seconds between two updates: the shortest interval a client can choose. Shorter when the rate needs it.
_TICK_SECONDS: Final = 0.1
#: Seconds after which an update is sent even if it is empty.
_HEARTBEAT_SECONDS: Final = 1.0
#: Seconds of the rate that a late tick makes up for; older quotes are skipped.
_CATCH_UP_SECONDS: Final = 0.25
#: Maximum share of the instruments in one tick, because not all of them trade between two ticks.
_SHARE_PER_TICK: Final = 0.4
#: Quotes of the first update computed before the event loop runs other tasks.
_SLICE: Final = 25


class SimulatorProvider:
    """Quotes of one feed's simulated instruments, a pure function of seed and time.

    Two providers with the same seed return the same quotes at the same time. Simulated time starts with the
    provider and runs `speed` times as fast as the clock. The provider sends `rate` quotes per second on
    average, as long as enough of them change: an instrument trades 500 times per simulated second.
    """

    name = NAME
    simulated = True
    delay_seconds = 0.0
    silence_seconds = 5.0

    def __init__(
        self,
        feed: Feed,
        *,
        seed: int,
        rate: float,
        speed: float,
        always_open: bool,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.feed = feed
        self.always_open = always_open or feed is not Feed.STOCKS
        self._seed = seed
        self._rate = rate
        self._speed = speed
        self._clock = clock
        self._sleep = sleep
        self._start = clock()
        self._hours = hours_of(feed, always_open=always_open)

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Yields all quotes, then the changed ones; an empty update after a second without changes."""
        all_quoters = quoters(self.feed, self._seed, self._hours)
        yield Update(await self._first_quotes(all_quoters), complete=True)
        turn = cycle(all_quoters)
        tick = self._tick_seconds(len(all_quoters))
        last = updated_at = self._clock()
        credit, pause = 0.0, tick
        while True:
            await self._sleep(_seconds_to_next(pause, self._clock()))
            now = self._clock()
            credit = min(credit + max(0.0, now - last) * self._rate, max(1.0, _CATCH_UP_SECONDS * self._rate))
            last = now
            moment = self._moment(now)
            quotes = _new_quotes(islice(turn, len(all_quoters)), moment, int(credit))
            credit -= len(quotes)
            if quotes or abs(now - updated_at) >= _HEARTBEAT_SECONDS:
                updated_at = now
                yield Update(quotes)
            pause = tick if quotes or self._is_open(moment) else _HEARTBEAT_SECONDS

    async def _first_quotes(self, all_quoters: list[Quoter]) -> list[Quote]:
        moment = self._moment(self._clock())
        quotes: list[Quote] = []
        turn = iter(all_quoters)
        while some := list(islice(turn, _SLICE)):
            quotes += _new_quotes(iter(some), moment, _SLICE)
            await self._sleep(0)
        return quotes

    def _moment(self, now: float) -> int:
        return int((self._start + (now - self._start) * self._speed) * 1000)

    def _is_open(self, moment: int) -> bool:
        return moment < self._hours.latest(moment).end

    def _tick_seconds(self, instruments: int) -> float:
        enough = max(PAUSE / 1000, min(_TICK_SECONDS, _SHARE_PER_TICK * instruments / self._rate))
        return min(_HEARTBEAT_SECONDS, max(enough, 1 / self._rate))


def _seconds_to_next(pause: float, now: float) -> float:
    """Returns the seconds to the next multiple of `pause`, or to the one after if the next is imminent.

    All feeds then tick at the same time, so a worker process wakes once for all of them.
    """
    wait = pause - now % pause
    return wait if wait > pause / 4 else wait + pause


def _new_quotes(turn: Iterator[Quoter], moment: int, limit: int) -> list[Quote]:
    quotes: list[Quote] = []
    while len(quotes) < limit and (quoter := next(turn, None)):
        quote = quoter.next_quote(moment)
        if quote is not None:
            quotes.append(quote)
    return quotes
