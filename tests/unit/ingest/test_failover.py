"""Which of several upstreams feeds a feed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import pytest

from quotecast.errors import UpstreamError
from quotecast.ingest.sources import Failover
from quotecast.market.feeds import Feed
from quotecast.market.sessions import Unscheduled
from quotecast.providers.base import QuoteProvider, Update
from support.made.alpaca import closed_day
from support.made.market import pair

PATIENCE = 0.2


class Upstream:
    """Works or not, as a test wants; a sign of life every few milliseconds while it does."""

    feed = Feed.CRYPTO
    delay_seconds = 0.0
    always_open = True

    def __init__(self, name: str, *pairs: str, simulated: bool = False) -> None:
        self.name = name
        self.simulated = simulated
        self.silence_seconds = float(len(name))
        self.pairs = pairs
        self.price = 1.0
        self.unscheduled: Unscheduled | None = None
        self.works = True
        self.is_mute = False
        self.hangs_up = False
        self.open = 0
        self.hang_ups = 0

    async def updates(self) -> AsyncGenerator[Update, None]:
        if not self.works:
            raise UpstreamError(f"{self.name} is away")
        self.open += 1
        try:
            quotes = [pair(ticker, self.price) for ticker in self.pairs]
            yield Update(quotes, complete=True, unscheduled=self.unscheduled)
            if self.hangs_up:
                self.hang_ups += 1
                raise UpstreamError(f"{self.name} hung up")
            while self.works:
                await asyncio.sleep(PATIENCE / 50)
                if not self.is_mute:
                    yield Update(unscheduled=self.unscheduled)
                    continue
                while self.is_mute:  # noqa: ASYNC110 - a plain attribute that tests set
                    await asyncio.sleep(PATIENCE / 50)
                raise UpstreamError(f"{self.name} was silent")
            raise UpstreamError(f"{self.name} went away")
        finally:
            self.open -= 1


@asynccontextmanager
async def followed(*upstreams: QuoteProvider, gathering: float = PATIENCE / 10) -> AsyncIterator["Follower"]:
    failover = Failover(upstreams, patience=PATIENCE, gathering=gathering)
    async with aclosing(failover.updates()) as updates, asyncio.timeout(20):
        yield Follower(failover, updates)


class Follower:
    """Holds the quotes as the ledger would, and the names of their providers."""

    def __init__(self, failover: Failover, updates: AsyncGenerator[Update, None]) -> None:
        self.failover = failover
        self.state: dict[str, float] = {}
        self.unscheduled: Unscheduled | None = None
        self._updates = updates

    async def until(self, name: str) -> None:
        """Follows until that upstream is active and has sent its quotes."""
        async for update in self._updates:
            if update.complete:
                self.state.clear()
            self.state.update((quote.key, quote.price) for quote in update.quotes)
            self.unscheduled = update.unscheduled
            if self.failover.name == name and update.quotes:
                return

    async def names_until(self, condition: Callable[[], bool]) -> set[str]:
        """Who feeds meanwhile."""
        names = set()
        async for _ in self._updates:
            names.add(self.failover.name)
            if condition():
                break
        return names


async def test_the_first_feeds_while_it_works() -> None:
    """The others are not even connected."""
    first, second = Upstream("first", "BTC/USDT"), Upstream("second", "BTC/USD")
    async with followed(first, second) as follower:
        await follower.until("first")
        assert follower.state == {"BTC/USDT": 1.0}
        assert (first.open, second.open) == (1, 0)
    assert (first.open, second.open) == (0, 0)


@pytest.mark.parametrize("how", ["works", "is_mute"])
async def test_the_next_takes_over_and_gives_it_back(how: str) -> None:
    """Whether the first fails or falls silent; pairs that only the other has are gone each time."""
    first, second = Upstream("first", "BTC/USDT"), Upstream("second", "BTC/USD")
    async with followed(first, second) as follower:
        await follower.until("first")
        setattr(first, how, how != "works")
        first.price = 2.0
        await follower.until("second")
        assert follower.state == {"BTC/USD": 1.0}
        assert follower.failover.silence_seconds == len("second")
        first.works, first.is_mute = True, False
        await follower.until("first")
        assert follower.state == {"BTC/USDT": 2.0}
        assert second.open == 0
    assert (first.open, second.open) == (0, 0)


async def test_closing_that_the_first_knows_of_is_back_with_it() -> None:
    """Its quotes alone would say that the exchange keeps its calendar."""
    first, second = Upstream("first", "BTC/USDT"), Upstream("second", "BTC/USD")
    first.unscheduled = closed_day()
    async with followed(first, second) as follower:
        await follower.until("first")
        first.works = False
        await follower.until("second")
        assert follower.unscheduled is None
        first.works = True
        await follower.until("first")
        assert follower.unscheduled == closed_day()


async def test_one_that_answers_and_hangs_up_does_not_take_over() -> None:
    """Its quotes would be of the moment at which it hung up, until it answers again."""
    first, second = Upstream("first", "BTC/USDT"), Upstream("second", "BTC/USD")
    async with followed(first, second, gathering=PATIENCE / 2) as follower:
        first.works = False
        await follower.until("second")
        first.works = first.hangs_up = True
        assert await follower.names_until(lambda: first.hang_ups == 2) == {"second"}


async def test_the_third_takes_over_when_two_are_away() -> None:
    first, second, third = (Upstream(name, f"{name.upper()}/USD") for name in ("first", "second", "third"))
    first.works = second.works = False
    async with followed(first, second, third) as follower:
        await follower.until("third")
        assert follower.state == {"THIRD/USD": 1.0}
        second.works = True
        await follower.until("second")
        assert follower.state == {"SECOND/USD": 1.0}
        assert third.open == 0


async def test_without_any_it_goes_on_trying() -> None:
    """The failover yields nothing and raises nothing; the first upstream that returns becomes active."""
    first, second = Upstream("first", "BTC/USDT"), Upstream("second", "BTC/USD")
    first.works = second.works = False
    async with followed(first, second) as follower:
        waiting = asyncio.create_task(follower.until("second"))
        await asyncio.wait([waiting], timeout=PATIENCE * 3)
        assert not waiting.done()
        second.works = True
        await waiting


async def test_closing_leaves_nothing_behind() -> None:
    """No task and no connection, also in the middle of a change."""
    before = asyncio.all_tasks()
    first, second = Upstream("first", "BTC/USDT"), Upstream("second", "BTC/USD")
    async with followed(first, second) as follower:
        await follower.until("first")
        first.works = False
        await follower.until("second")
    assert asyncio.all_tasks() == before
    assert (first.open, second.open) == (0, 0)


def test_invented_quotes_never_stand_in_for_real_ones() -> None:
    """Nor one feed's for another's."""
    with pytest.raises(ValueError, match="all real or all simulated"):
        Failover([Upstream("real"), Upstream("invented", simulated=True)])
