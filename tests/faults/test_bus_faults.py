"""The network loses, delays and resets messages of the bus."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from quotecast.bus.base import Snapshot, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.mirror import Mirror
from quotecast.ingest.ledger import new_epoch
from quotecast.market.feeds import Feed
from support.made.market import INFO, stock
from support.runs.figures import Figures
from support.servers.fault_proxy import FaultProxy
from support.servers.processes import Valkey
from support.servers.service import Service
from support.servers.whole_service import SETTINGS
from support.stages.following import running
from support.stages.standard_load import StandardLoad

SUBSCRIBE = b"SUBSCRIBE"
NOTICED_SECONDS = 4.0
PATIENCE_SECONDS = 30.0


@pytest.fixture
def proxy(own_valkey: Valkey) -> Iterator[FaultProxy]:
    """Yields a proxy between workers and Redis."""

    def connect() -> socket.socket:
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(own_valkey.socket))
        return server

    with FaultProxy(connect) as running:
        yield running


def proxy_url(proxy: FaultProxy) -> str:
    return f"redis://127.0.0.1:{proxy.port}"


def test_lost_messages_are_detected(own_valkey: Valkey, proxy: FaultProxy, figures: Figures) -> None:
    """Workers detect lost messages on healthy connections; clients get new prices and lose no socket."""
    with Service(own_valkey, {**SETTINGS, "QUOTECAST_REDIS_URL": proxy_url(proxy)}) as service:
        service.start("ingest", "api", "api")
        with StandardLoad(service.port) as load:
            at = time.time()
            assert proxy.swallow(SUBSCRIBE) == 4, "each worker hears feeds and announced events"
            # Messages already on the way may still arrive.
            healed = load.until_newer(at + 1.0, PATIENCE_SECONDS) + 1.0
            figures.at_most("noticed and healed", healed, NOTICED_SECONDS + 2)
            assert (load.broken_promises, load.closes) == ([], {})
            assert (load.errors, set(load.statuses())) == ([], {200})


def test_delayed_and_reset_connections_heal(own_valkey: Valkey, proxy: FaultProxy, figures: Figures) -> None:
    """A slow or cut network to Redis closes no client's socket and delays prices briefly."""
    with Service(own_valkey, {**SETTINGS, "QUOTECAST_REDIS_URL": proxy_url(proxy)}) as service:
        service.start("ingest", "api")
        with StandardLoad(service.port, clients=30) as load:
            for fault in (delay, cut_links, cut_within_messages):
                with fault(proxy):
                    at = time.time()
                healed = load.until_newer(at, PATIENCE_SECONDS)
                figures.at_most(f"healed after {fault.__name__}".replace("_", " "), healed, 2)
            assert (load.broken_promises, load.closes) == ([], {})
            assert (load.errors, set(load.statuses())) == ([], {200})


@contextlib.contextmanager
def delay(proxy: FaultProxy) -> Iterator[None]:
    proxy.delay = 0.2
    time.sleep(2)
    yield
    proxy.delay = 0.0


@contextlib.contextmanager
def cut_links(proxy: FaultProxy) -> Iterator[None]:
    proxy.reset()
    yield


@contextlib.contextmanager
def cut_within_messages(proxy: FaultProxy) -> Iterator[None]:
    proxy.truncate_after = 3000
    proxy.reset()
    time.sleep(1)
    proxy.truncate_after = None
    proxy.reset()
    yield


class Trusting(BusListener):
    """A relay without the check for silence."""

    async def _check_silence(self) -> None:
        self._check_at = float("inf")


async def test_a_relay_that_does_not_check_starves(own_valkey: Valkey, proxy: FaultProxy) -> None:
    """Only the relay with the check for silence recovers behind the same proxy."""
    source, bus = RedisBus(own_valkey.url, "test"), RedisBus(proxy_url(proxy), "test")
    checked, starved = Mirror(Feed.STOCKS), Mirror(Feed.STOCKS)
    relays: list[Any] = [BusListener(bus, {Feed.STOCKS: checked}), Trusting(bus, {Feed.STOCKS: starved})]
    await lead(source, price=1.0)
    async with running(*(relay.run() for relay in relays)):
        await wait_for_price(checked, 1.0)
        await wait_for_price(starved, 1.0)
        assert proxy.swallow(SUBSCRIBE) == 2
        await lead(source, price=2.0)
        await wait_for_price(checked, 2.0)
        assert price_in(starved) == 1.0
    await source.close()
    await bus.close()


async def lead(bus: RedisBus, price: float) -> None:
    """Begins a new epoch with one price."""
    epoch = new_epoch(time.time())
    await bus.hold(Feed.STOCKS, "test", 60_000)
    entries = {"AAPL": StoredQuote(1, 1, stock("AAPL", price))}
    assert await bus.begin("test", Snapshot(Feed.STOCKS, epoch, 1, INFO, entries))


def price_in(mirror: Mirror) -> float | None:
    entry = mirror.find("AAPL")
    return entry.quote.price if entry and entry.quote else None


async def wait_for_price(mirror: Mirror, price: float) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        # Mirrors signal nothing, so the test polls.
        while price_in(mirror) != price:  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.01)
