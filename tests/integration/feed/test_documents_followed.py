"""News, assets and renames on their way from the upstream over the bus to a worker's copies."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from datetime import date
from itertools import pairwise

import pytest
from msgspec import structs

from quotecast.bus.base import NEWS, Document
from quotecast.bus.redis import RedisBus
from quotecast.bus.wire import digest_of
from quotecast.errors import BusError, NotOffered, UpstreamError, UpstreamRefused
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.ingest import documents as publication
from quotecast.ingest.documents import DocumentPublisher, publish_documents
from quotecast.market.feeds import Feed
from quotecast.market.news import Article
from quotecast.market.renames import Rename
from quotecast.simulation.market.invented import SimulatorAssets
from quotecast.simulation.market.news import SimulatorNews
from support.made.documents import article, asset, assets_of, news_of, renames_of
from support.made.market import state_of, stock
from support.made.memory_bus import MemoryBus
from support.runs.waits import until

pytestmark = pytest.mark.usefixtures("patient_bus")

Bus = MemoryBus | RedisBus

ME = "me"


class Newsroom:
    """A scripted upstream of news, with a clock that advances only in sleeps."""

    name = "test"
    every_seconds = 60.0

    def __init__(self, *answers: list[Article] | Exception) -> None:
        self.answers = list(answers)
        self.asked_at: list[float] = []
        self.now = 1000.0

    async def news(self) -> Sequence[Article]:
        self.asked_at.append(self.now)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def run(self, bus: Bus, seconds: float) -> list[Document | None]:
        """Returns the bus's document at each second while the newsroom is published."""
        held: list[Document | None] = []

        async def sleep(pause: float) -> None:
            held.append(await bus.document(Feed.STOCKS, NEWS))
            self.now += pause
            if self.now >= 1000 + seconds:
                raise EndOfTimeError

        source = publication.news_source(self, Feed.STOCKS)
        publisher = DocumentPublisher(
            source, bus, ME, clock=lambda: self.now, sleep=sleep, chance=lambda: 1.0
        )
        with pytest.raises(EndOfTimeError):
            await publisher.run()
        return held


class EndOfTimeError(Exception):
    """Ends the test's clock."""


class Forgetful(MemoryBus):
    """A bus that loses a document after each read."""

    async def document(self, feed: Feed, name: str) -> Document | None:
        return self._documents.pop((feed, name), None)


class Away(MemoryBus):
    """A bus that is unreachable at first."""

    failures = 3

    async def digest(self, feed: Feed, name: str) -> str | None:
        self.failures -= 1
        if self.failures >= 0:
            raise BusError("away")
        return await super().digest(feed, name)


async def led(bus: Bus) -> Bus:
    assert await bus.hold(Feed.STOCKS, ME, 100_000)
    return bus


@contextlib.asynccontextmanager
async def following(bus: Bus, mirror: Mirror | None = None) -> AsyncIterator[Documents]:
    """Yields a worker's documents while its relay follows the bus."""
    documents = Documents()
    mirrors = {Feed.STOCKS: Mirror(Feed.STOCKS) if mirror is None else mirror}
    relay = asyncio.create_task(BusListener(bus, mirrors, documents).run())
    try:
        yield documents
    finally:
        relay.cancel()
        await asyncio.gather(relay, return_exceptions=True)


@pytest.fixture(params=["memory", "redis"])
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[Bus]:
    if request.param == "memory":
        yield await led(MemoryBus(time.monotonic))
        return
    redis_bus = RedisBus(request.getfixturevalue("redis_url"), "test")
    yield await led(redis_bus)
    await redis_bus.close()


async def test_an_upstream_is_asked_at_its_own_pace(bus: Bus) -> None:
    """Ingest polls an upstream at its own interval, and stores cleaned articles."""
    newsroom = Newsroom([article(1, headline="<b>One</b>")], [article(2)])
    held = await newsroom.run(bus, 130)
    assert newsroom.asked_at == [1000, 1060, 1120]
    assert held == [news_of(article(1, headline="One"))] * 60 + [news_of(article(2))] * 70


@pytest.mark.parametrize("failure", [UpstreamError("away"), ValueError("a bug")])
async def test_while_an_upstream_fails_the_last_good_document_stays(bus: Bus, failure: Exception) -> None:
    """While the upstream fails, the last good document stays, and retries back off."""
    newsroom = Newsroom([article(1)], failure)
    held = await newsroom.run(bus, 130)
    assert held == [news_of(article(1))] * 130
    pauses = [later - earlier for earlier, later in pairwise(newsroom.asked_at)]
    assert pauses == [60, 1, 1, 2, 4, 8, 16, 30]


@pytest.mark.parametrize(
    "refusal", [NotOffered("no news"), UpstreamRefused("403", upstream_status=403, excerpt="")]
)
async def test_an_upstream_that_refuses_is_asked_again_in_an_hour(bus: Bus, refusal: Exception) -> None:
    newsroom = Newsroom(refusal)
    await newsroom.run(bus, 3700)
    assert newsroom.asked_at == [1000, 4600]


async def test_an_upstream_is_left_alone_for_as_long_as_it_asks(bus: Bus) -> None:
    """Ingest waits for the upstream's `retry_after`, and then polls at its interval again."""
    newsroom = Newsroom(UpstreamError("too many", retry_after=40), [article(1)])
    await newsroom.run(bus, 130)
    assert newsroom.asked_at == [1000, 1040, 1100]


async def test_a_bus_that_lost_its_data_is_filled_again() -> None:
    """Ingest refills a bus that lost its data within a second, without a call to the upstream."""
    newsroom = Newsroom([article(1)])
    assert await newsroom.run(await led(Forgetful(time.monotonic)), 5) == [news_of(article(1))] * 5
    assert newsroom.asked_at == [1000]


async def test_a_bus_that_cannot_be_reached_is_tried_again() -> None:
    """Ingest retries an unreachable bus with the same document."""
    newsroom = Newsroom([article(1)])
    held = await newsroom.run(await led(Away(time.monotonic)), 5)
    assert held == [None] * 3 + [news_of(article(1))] * 2
    assert newsroom.asked_at == [1000]


async def test_an_ingest_that_does_not_lead_stores_nothing() -> None:
    """An ingest without the lease stores nothing."""
    bus = MemoryBus(time.monotonic)
    assert await bus.hold(Feed.STOCKS, "other", 100_000)
    assert await Newsroom([article(1)]).run(bus, 3) == [None] * 3


async def test_the_simulators_documents_reach_a_worker(bus: Bus) -> None:
    """The simulator's news and assets reach a worker."""
    news, assets = SimulatorNews(1, time.time), SimulatorAssets()
    sources = [publication.news_source(news, Feed.STOCKS), publication.assets_source(assets, Feed.STOCKS)]
    async with following(bus) as documents, publish_documents(sources, bus, ME):
        await until(lambda: documents.news.items and documents.assets.items)
    assert documents.assets.items == await assets.assets()


async def test_a_worker_finds_stocks_by_the_upstream_s_renames(bus: Bus) -> None:
    """A former symbol finds the stock once the upstream tells of the rename."""
    mirror = Mirror(Feed.STOCKS)
    await bus.begin(ME, state_of([stock("AAPL")]))
    async with following(bus, mirror):
        await until(lambda: mirror.find("AAPL"))
        assert mirror.find("OLD") is None
        await bus.store(ME, renames_of(Rename(former="OLD", symbol="AAPL", day=date(2026, 11, 20))))
        await until(lambda: mirror.find("OLD"))
        assert mirror.keys_named(["old", "AAPL"]) == {"old": "AAPL", "AAPL": "AAPL"}


async def test_a_worker_that_starts_late_knows_the_documents(bus: Bus) -> None:
    """A worker that starts late loads the documents from the bus."""
    await bus.store(ME, assets_of(asset()))
    async with following(bus) as documents:
        await until(lambda: documents.assets.items == [asset()])
    assert documents.news.items is None


async def test_a_worker_hears_of_changes(bus: Bus) -> None:
    """Its views of the old version are computed again."""
    await bus.store(ME, news_of(article(1)))
    async with following(bus) as documents:
        await until(lambda: documents.news.items == [article(1)])
        assert documents.news.derive(len) == 1
        await bus.store(ME, news_of(article(2), article(1)))
        await until(lambda: documents.news.items == [article(2), article(1)])
        assert documents.news.derive(len) == 2


async def test_a_document_that_cannot_be_read_changes_nothing(bus: Bus) -> None:
    """An unreadable document changes nothing; the next readable one replaces the old one."""
    unreadable = structs.replace(news_of(article(2)), digest=digest_of(b"\xc1"), content=b"\xc1")
    await bus.store(ME, news_of(article(1)))
    async with following(bus) as documents:
        await until(lambda: documents.news.items)
        await bus.store(ME, unreadable)
        await until(lambda: documents.news.digest == unreadable.digest)
        assert documents.news.items == [article(1)]
        await bus.store(ME, news_of(article(3)))
        await until(lambda: documents.news.items == [article(3)])


async def test_a_change_that_was_not_heard_of_is_noticed_with_the_feeds_next_reload() -> None:
    """The next reload of the feed finds a change whose message was lost."""
    bus = MemoryBus(time.monotonic)
    await led(bus)
    await bus.store(ME, news_of(article(1)))
    async with following(bus) as documents:
        await until(lambda: documents.news.items == [article(1)])
        bus._documents[Feed.STOCKS, NEWS] = news_of(article(2))
        await bus.begin(ME, state_of([stock()]))
        await until(lambda: documents.news.items == [article(2)])


async def test_a_document_that_is_gone_from_the_bus_is_kept() -> None:
    """A worker keeps its copy of a document that the bus has lost."""
    bus = MemoryBus(time.monotonic)
    await led(bus)
    await bus.store(ME, news_of(article(1)))
    async with following(bus) as documents:
        await until(lambda: documents.news.items)
        bus._documents.clear()
        await bus.begin(ME, state_of([stock()]))
        await bus.store(ME, assets_of(asset()))
        await until(lambda: documents.assets.items)
        assert documents.news.items == [article(1)]
