"""A region loses its line, its Redis or its ingest; its clients see no wrong price, and no new epoch."""

import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import redis

from support.runs.figures import Figures
from support.runs.waits import wait_until
from support.servers.fault_proxy import FaultProxy
from support.servers.processes import Valkey, running_valkey
from support.servers.service import Service
from support.servers.whole_service import SETTINGS
from support.stages.standard_load import StandardLoad

SECRET = "known-to-every-test-and-32-bytes-long"
FOLLOWED = dict.fromkeys(("QUOTECAST_STOCKS", "QUOTECAST_CRYPTO", "QUOTECAST_DOVIZ"), "quotecast")
STALE_SECONDS = 5.0
HEALED_SECONDS = 2.0
TAKEOVER_SECONDS = 5.0
BACK_SECONDS = 8.0
PATIENCE_SECONDS = 30.0
AWAY_SECONDS = 10.0


@dataclass
class Region:
    """The region, its Redis, and its line to the origin."""

    origin: Service
    service: Service
    valkey: Valkey
    line: FaultProxy

    @contextmanager
    def under_load(self) -> Iterator[StandardLoad]:
        """Runs the standard load on the region; at its end every client has the region's prices."""
        with StandardLoad(self.service.port) as load:
            before = {each.state.epoch for each in load.listeners}
            yield load
            self.origin.processes[0].send_signal(signal.SIGSTOP)
            try:
                load.until_equal(PATIENCE_SECONDS)
                assert {each.state.epoch for each in load.listeners} == before
            finally:
                self.origin.processes[0].send_signal(signal.SIGCONT)
            # A call of the bus that took too long begins a new epoch, which the next test must not meet.
            load.until_newer(time.time(), PATIENCE_SECONDS)
            assert load.broken_promises == []


@pytest.fixture(scope="module")
def region() -> Iterator[Region]:
    """Runs an origin, and a region with two ingests and two workers."""
    with (
        running_valkey() as own,
        running_valkey() as valkey,
        Service(own, {**SETTINGS, "QUOTECAST_RELAY_SECRET": SECRET}) as origin,
    ):
        origin.start("ingest", "api")
        with FaultProxy(lambda: socket.create_connection(("127.0.0.1", origin.port))) as line:
            settings = {
                **SETTINGS,
                **FOLLOWED,
                "QUOTECAST_ORIGIN": f"ws://127.0.0.1:{line.port}",
                "QUOTECAST_ORIGIN_SECRET": SECRET,
            }
            with Service(valkey, settings) as service:
                service.start("ingest", "api", "api")
                service.start("ingest")
                yield Region(origin, service, valkey, line)


def state_of(region: Region) -> str:
    return str(region.service.get("/api/market/quotes/AAPL").headers["x-feed-state"])


def until_state(region: Region, state: str) -> float:
    """Returns the seconds until the region's stocks have a state."""
    at = time.monotonic()
    wait_until(lambda: state_of(region) == state, f"never {state}")
    return time.monotonic() - at


def test_a_line_that_holds_everything_back(region: Region, figures: Figures) -> None:
    """Quotes are served on and marked stale; afterwards clients get what changed."""
    with region.under_load() as load:
        region.line.passes.clear()
        figures.at_most("stale", until_state(region, "stale"), STALE_SECONDS)
        time.sleep(AWAY_SECONDS)
        region.line.passes.set()
        at = time.time()
        figures.at_most("prices again", load.until_newer(at, PATIENCE_SECONDS), BACK_SECONDS)
        assert not load.closes


def test_a_redis_of_the_region_that_lost_its_data(region: Region, figures: Figures) -> None:
    """Its ingest writes the state once more, without the origin."""
    with region.under_load() as load:
        with redis.Redis.from_url(region.valkey.url) as client:
            client.flushall()
        figures.at_most("healed", load.until_newer(time.time(), PATIENCE_SECONDS), HEALED_SECONDS)
        assert not load.closes


def test_a_killed_ingest_of_the_region(region: Region, figures: Figures) -> None:
    """The standby goes on where the origin is."""
    with region.under_load() as load:
        leader, _, _, _ = region.service.processes
        leader.kill()
        at = time.time()
        figures.at_most("taken over", load.until_newer(at + 0.5, PATIENCE_SECONDS) + 0.5, TAKEOVER_SECONDS)
        assert not load.closes
