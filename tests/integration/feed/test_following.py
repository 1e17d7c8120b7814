"""From ingest to mirror over a lossy bus: the worker always recovers."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from quotecast.bus.redis import RedisBus
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.mirror import Mirror
from quotecast.ingest import lease
from quotecast.ingest.main import _lead
from quotecast.ingest.publish import SPACING_SECONDS, IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.providers.base import Update
from support.made.market import stock
from support.runs.waits import until
from support.servers.processes import Valkey
from support.stages.following import ScriptedProvider, lead, price, running

pytestmark = pytest.mark.usefixtures("patient_bus")


class SlowToClose(ScriptedProvider):
    """A provider whose connection closes slowly."""

    def __init__(self) -> None:
        super().__init__()
        self.closing = asyncio.Event()

    async def updates(self) -> AsyncGenerator[Update, None]:
        try:
            async for update in super().updates():
                yield update
        finally:
            self.closing.set()
            await asyncio.sleep(0.2)


@pytest.fixture
async def bus(own_valkey: Valkey) -> AsyncIterator[RedisBus]:
    redis_bus = RedisBus(own_valkey.url, "test")
    yield redis_bus
    await redis_bus.close()


@pytest.fixture
def mirror() -> Mirror:
    return Mirror(Feed.STOCKS)


@pytest.fixture
def relay(bus: RedisBus, mirror: Mirror) -> BusListener:
    return BusListener(bus, {Feed.STOCKS: mirror})


async def test_what_an_upstream_tells_reaches_the_mirror(
    bus: RedisBus, relay: BusListener, mirror: Mirror
) -> None:
    """Quotes reach the mirror, also after the upstream broke."""
    upstream = ScriptedProvider()
    async with running(lead(bus, upstream, "a"), relay.run()):
        upstream.send(stock("AAPL", 1.0), stock("MSFT", 1.0))
        await until(lambda: price(mirror, "AAPL") == 1.0)
        upstream.fail()
        upstream.send(stock("AAPL", 2.0))
        await until(lambda: price(mirror, "AAPL") == 2.0)
        assert price(mirror, "MSFT") == 1.0
        assert upstream.connections == 2


async def test_a_second_ingest_stands_by_and_takes_over(
    bus: RedisBus, relay: BusListener, mirror: Mirror
) -> None:
    """A second ingest takes over within five seconds, with a new epoch and the first one's symbols."""
    first, second = ScriptedProvider(), ScriptedProvider()
    async with running(relay.run()):
        async with running(lead(bus, first, "a")):
            first.send(stock("AAPL", 1.0), stock("MSFT", 1.0))
            await until(lambda: price(mirror, "AAPL") == 1.0)
            epoch = mirror.mark.epoch
            standby = asyncio.create_task(lead(bus, second, "b"))
            second.send(stock("AAPL", 5.0))
        try:
            await until(lambda: price(mirror, "AAPL") == 5.0, seconds=5.0)
        finally:
            standby.cancel()
        assert mirror.mark.epoch > epoch
        assert price(mirror, "MSFT") == 1.0


async def test_redis_that_comes_back_empty_is_filled_again(
    own_valkey: Valkey, bus: RedisBus, relay: BusListener, mirror: Mirror
) -> None:
    """Ingest refills an empty Redis within two seconds; the mirror serves its last state until then."""
    upstream = ScriptedProvider()
    async with running(lead(bus, upstream, "a"), relay.run()):
        upstream.send(stock("AAPL", 1.0), stock("MSFT", 1.0))
        await until(lambda: price(mirror, "AAPL") == 1.0)
        own_valkey.kill()
        upstream.send(stock("AAPL", 2.0))
        assert price(mirror, "MSFT") == 1.0
        own_valkey.start()
        await until(lambda: price(mirror, "AAPL") == 2.0, seconds=2.0)
        assert price(mirror, "MSFT") == 1.0


class Deaf:
    """A bus whose subscriptions look healthy and lose every batch."""

    def __init__(self, bus: RedisBus) -> None:
        self.load = bus.load
        self._bus = bus
        self.deaf = False

    @contextlib.asynccontextmanager
    async def listen(self, feeds: list[Feed]) -> AsyncIterator[AsyncIterator[object]]:
        async with self._bus.listen(feeds) as messages:
            yield self._heard(messages)

    async def _heard(self, messages: AsyncIterator[object]) -> AsyncIterator[object]:
        async for message in messages:
            yield None if self.deaf else message


async def test_messages_lost_on_a_healthy_connection_are_noticed(bus: RedisBus, mirror: Mirror) -> None:
    """A worker reloads after three seconds of silence, although its connection looks healthy."""
    deaf = Deaf(bus)
    relay = BusListener(deaf, {Feed.STOCKS: mirror})  # type: ignore[arg-type]  # a reader that lies
    upstream = ScriptedProvider()
    async with running(lead(bus, upstream, "a"), relay.run()):
        upstream.send(stock("AAPL", 1.0))
        await until(lambda: price(mirror, "AAPL") == 1.0)
        deaf.deaf = True
        upstream.send(stock("AAPL", 2.0))
        await until(lambda: price(mirror, "AAPL") == 2.0, seconds=6.0)


async def test_a_lost_last_batch_is_noticed_by_the_next_beat(bus: RedisBus, mirror: Mirror) -> None:
    """A heartbeat carries epoch and seq, so that the worker finds a lost last batch."""
    deaf = Deaf(bus)
    relay = BusListener(deaf, {Feed.STOCKS: mirror})  # type: ignore[arg-type]  # a reader that lies
    upstream = ScriptedProvider()
    async with running(lead(bus, upstream, "a"), relay.run()):
        upstream.send(stock("AAPL", 1.0))
        await until(lambda: price(mirror, "AAPL") == 1.0)
        deaf.deaf = True
        seq = mirror.mark.seq
        upstream.send(stock("AAPL", 2.0))
        stored = await bus.load(Feed.STOCKS)
        while stored is not None and stored.seq == seq:
            stored = await bus.load(Feed.STOCKS)
        deaf.deaf = False
        await until(lambda: price(mirror, "AAPL") == 2.0, seconds=2.0)


async def test_a_silent_upstream_makes_the_feed_overdue(
    bus: RedisBus, relay: BusListener, mirror: Mirror
) -> None:
    """Heartbeats mark the feed as overdue when the provider is silent for too long."""
    upstream = ScriptedProvider()
    async with running(lead(bus, upstream, "a"), relay.run()):
        upstream.send(stock("AAPL", 1.0))
        await until(lambda: mirror.loaded)
        await until(lambda: mirror.info and mirror.info.overdue)
        assert mirror.state(mirror.heard_at) == "stale"
        upstream.send(stock("AAPL", 2.0))
        await until(lambda: mirror.info and not mirror.info.overdue)


async def test_another_provider_does_not_inherit(bus: RedisBus, relay: BusListener, mirror: Mirror) -> None:
    """A new provider starts with an empty feed: simulated and real quotes never mix."""
    first, second = ScriptedProvider(), ScriptedProvider()
    second.name = "other"
    async with running(relay.run()):
        async with running(lead(bus, first, "a")):
            first.send(stock("AAPL", 1.0), stock("MSFT", 1.0))
            await until(lambda: price(mirror, "AAPL") == 1.0)
        async with running(lead(bus, second, "b")):
            second.send(stock("AAPL", 5.0))
            await until(lambda: price(mirror, "AAPL") == 5.0)
            assert price(mirror, "MSFT") is None


async def test_an_ingest_that_loses_the_lease_while_it_stops_still_stops(
    bus: RedisBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancellation during the loss of the lease still ends the ingest."""

    async def refuse(*_: object) -> bool:
        return False

    upstream = SlowToClose()
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.05)
    leading = asyncio.create_task(
        _lead(
            upstream,
            [],
            bus,
            "a",
            statistics=IngestStatistics(),
            bars=None,
            alerts=None,
            spacing_seconds=SPACING_SECONDS,
            sinks=(),
        )
    )
    upstream.send(stock("AAPL", 1.0))
    await until(lambda: upstream.connections)
    # Who releases a lease for another ingest to take it competes with the leader, which takes it again.
    monkeypatch.setattr(bus, "hold", refuse)
    await until(upstream.closing.is_set)
    leading.cancel()
    await until(leading.done)
    assert leading.cancelled()
