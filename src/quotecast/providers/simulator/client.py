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

#: Seconds between two updates, unless so few would not carry the rate: the shortest interval of a client.
_TICK: Final = 0.1
#: Seconds after which an update comes even if it is empty.
_SIGN_OF_LIFE: Final = 1.0
#: How much a late tick makes up for, in seconds of the rate; what is older is skipped.
_CATCH_UP: Final = 0.25
#: Part of the instruments that a tick is to bring: not all of them have moved since the tick before.
_SHARE_PER_TICK: Final = 0.4
#: First quotes between which others may run.
_SLICE: Final = 25


class SimulatorProvider:
    """Quotes of one feed's simulated instruments.

    They are a function of seed and time alone: whoever asks at the same moment sees the same market. Time
    runs `speed` times as fast as the clock from when the provider was made. On average `rate` quotes a
    second are sent as long as that many change: an instrument trades 500 times a (simulated) second.
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
        """Everything at first, then what changed; something every second even if nothing did."""
        everyone = quoters(self.feed, self._seed, self._hours)
        yield Update(await self._first(everyone), complete=True)
        turn = cycle(everyone)
        tick = self._tick(len(everyone))
        last = spoke = self._clock()
        credit, pause = 0.0, tick
        while True:
            await self._sleep(_until_next(pause, self._clock()))
            now = self._clock()
            credit = min(credit + max(0.0, now - last) * self._rate, max(1.0, _CATCH_UP * self._rate))
            last = now
            moment = self._moment(now)
            news = _news(islice(turn, len(everyone)), moment, int(credit))
            credit -= len(news)
            if news or abs(now - spoke) >= _SIGN_OF_LIFE:
                spoke = now
                yield Update(news)
            pause = tick if news or self._is_open(moment) else _SIGN_OF_LIFE

    async def _first(self, everyone: list[Quoter]) -> list[Quote]:
        moment = self._moment(self._clock())
        quotes: list[Quote] = []
        turn = iter(everyone)
        while some := list(islice(turn, _SLICE)):
            quotes += _news(iter(some), moment, _SLICE)
            await self._sleep(0)
        return quotes

    def _moment(self, now: float) -> int:
        return int((self._start + (now - self._start) * self._speed) * 1000)

    def _is_open(self, moment: int) -> bool:
        return moment < self._hours.latest(moment).end

    def _tick(self, instruments: int) -> float:
        enough = max(PAUSE / 1000, min(_TICK, _SHARE_PER_TICK * instruments / self._rate))
        return min(_SIGN_OF_LIFE, max(enough, 1 / self._rate))


def _until_next(pause: float, now: float) -> float:
    """Seconds to the next multiple of a pause, or to the one after it if the next is about to come.

    So the feeds tick together, and each process that hears of it wakes once for all of them.
    """
    wait = pause - now % pause
    return wait if wait > pause / 4 else wait + pause


def _news(asked: Iterator[Quoter], moment: int, most: int) -> list[Quote]:
    news: list[Quote] = []
    while len(news) < most and (quoter := next(asked, None)):
        quote = quoter.newer(moment)
        if quote is not None:
            news.append(quote)
    return news
