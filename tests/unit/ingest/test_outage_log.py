"""What an ingest logs while the bus is away."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from quotecast.bus.base import ASSETS, NO_MEMORY, Document, Memory, Snapshot
from quotecast.errors import BusError
from quotecast.ingest import lease
from quotecast.ingest.documents import DocumentPublisher, DocumentSource
from quotecast.ingest.publish import FeedPublisher
from quotecast.market.feeds import Feed
from quotecast.providers.simulator.client import SimulatorProvider
from support.made.documents import asset, assets_of
from support.made.memory_bus import MemoryBus
from support.runs import virtual_time

STANDING_BY = "another ingest leads; standing by"
AGAIN = "the bus answers again"


class Bus(MemoryBus):
    """A bus that fails a given number of times."""

    def __init__(self, failures: int) -> None:
        super().__init__(lambda: 0.0)
        self.failures = failures

    async def hold(self, feed: Feed, owner: str, milliseconds: int) -> bool:
        self._fail()
        return await super().hold(feed, owner, milliseconds)

    async def digest(self, feed: Feed, name: str) -> str | None:
        self._fail()
        return await super().digest(feed, name)

    async def begin(self, owner: str, snapshot: Snapshot, memory: Memory = NO_MEMORY) -> bool:
        self._fail()
        return await super().begin(owner, snapshot, memory)

    def _fail(self) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise BusError("away")


class Enough(Exception):
    """The test has seen what it waited for."""


class Seconds:
    """Pauses that take no time; after `count` of them no other begins."""

    def __init__(self, count: int) -> None:
        self._left = count

    async def sleep(self, _: float) -> None:
        self._left -= 1
        if self._left < 0:
            raise Enough


@pytest.fixture
def logs() -> Iterator[list[Any]]:
    with capture_logs() as entries:
        yield entries


def said(logs: list[Any], *levels: str) -> list[str]:
    return [entry["event"] for entry in logs if entry["log_level"] in (levels or ("warning", "info"))]


async def test_outage_of_the_bus_is_one_warning_and_nobody_is_said_to_lead(logs: list[Any]) -> None:
    """Ten seconds of it; nobody knows then who leads."""
    await lease.acquire(Bus(40), Feed.STOCKS, "me", Seconds(40).sleep)
    assert said(logs) == ["cannot ask for the lease", AGAIN, "leading"]


async def test_ingest_stands_by_while_another_leads(logs: list[Any]) -> None:
    """Also when it learns that only after an outage."""
    bus = Bus(0)
    await bus.hold(Feed.STOCKS, "other", lease.LEASE_MILLISECONDS)
    bus.failures = 5
    with pytest.raises(Enough):
        await lease.acquire(bus, Feed.STOCKS, "me", Seconds(20).sleep)
    assert said(logs) == ["cannot ask for the lease", AGAIN, STANDING_BY]


async def test_lease_that_cannot_be_renewed_is_one_warning(logs: list[Any]) -> None:
    with pytest.raises(Enough):
        await lease.renew(Bus(30), Feed.STOCKS, "me", Seconds(32).sleep)
    assert said(logs) == ["could not renew the lease", AGAIN]


async def test_document_that_cannot_be_stored_is_a_warning_a_minute(logs: list[Any]) -> None:
    """By the publisher's own clock, which passes while it sleeps."""
    now = 0.0

    async def fetch() -> Document:
        return assets_of(asset("AAPL"))

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        if now > 100:
            raise Enough

    bus = Bus(0)
    await bus.hold(Feed.STOCKS, "me", lease.LEASE_MILLISECONDS)
    bus.failures = 90
    source = DocumentSource(Feed.STOCKS, ASSETS, 3600.0, fetch)
    with pytest.raises(Enough):
        await DocumentPublisher(source, bus, "me", clock=lambda: now, sleep=sleep).run()
    assert said(logs) == ["could not store document"] * 2 + [AGAIN, "document changed"]


def test_epoch_is_logged_when_the_bus_has_it(logs: list[Any]) -> None:
    """Not at each attempt of an outage, of which there are ten a second."""

    async def publish() -> None:
        bus = Bus(0)
        await bus.hold(Feed.CRYPTO, "me", 600_000)
        provider = SimulatorProvider(Feed.CRYPTO, seed=1, rate=1.0, speed=1.0, always_open=True)
        publisher = FeedPublisher(provider, bus, "me")
        bus.failures = 50
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(30):
                await publisher.run()

    virtual_time.run(publish())
    publisher = {"could not publish the feed": 1, "epoch begins": 1, "feed is published again": 1}
    assert Counter(said(logs)) == {**publisher, "could not renew the lease": 1, AGAIN: 1}
