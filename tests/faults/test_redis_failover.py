"""A replica becomes the master while connections to the old master stay open, or break."""

import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis

from support.runs.figures import Figures
from support.servers.fault_proxy import FaultProxy
from support.servers.processes import Valkey
from support.servers.sentinel_set import Pair, SentinelSet, Server, running_pair, running_sentinels, until
from support.servers.service import Service
from support.servers.whole_service import SETTINGS
from support.stages.standard_load import StandardLoad, possible_clients

#: Update interval in milliseconds: the test needs to see each client's return, not frequent updates.
INTERVAL_MILLISECONDS = 1000
CLIENTS = 1000
STALE_SECONDS = 5.0
PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def _sentinels() -> Iterator[SentinelSet]:
    with running_sentinels() as running:
        yield running


@pytest.fixture
def sentinels(_sentinels: SentinelSet) -> SentinelSet:
    """Yields a healthy set."""
    _sentinels.until_whole()
    return _sentinels


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Yields a master and its replica without Sentinels."""
    with running_pair() as running:
        yield running


@contextmanager
def under_load(service: Service, clients: int) -> Iterator[StandardLoad]:
    """Loads an ingest and two workers; at its end no client has lost anything."""
    service.start("ingest", "api", "api")
    with StandardLoad(service.port, clients=clients, interval=INTERVAL_MILLISECONDS) as load:
        yield load
        # With the upstreams at rest every client must hold the state of REST.
        service.processes[0].send_signal(signal.SIGSTOP)
        load.until_equal(PATIENCE_SECONDS)
        load.check_reads(PATIENCE_SECONDS)
        assert (load.broken_promises, load.closes) == ([], {})


def judge(load: StandardLoad, promoted: float, figures: Figures) -> None:
    healed = load.until_newer(promoted, PATIENCE_SECONDS)
    figures.at_most(f"stale for {len(load.listeners)} clients", healed, STALE_SECONDS)


@pytest.mark.timeout(300)
def test_a_sentinel_swaps_master_and_replica(sentinels: SentinelSet, figures: Figures) -> None:
    """The old master answers READONLY on open connections, and clients leave it."""
    with Service(sentinels, SETTINGS) as service, under_load(service, possible_clients(CLIENTS)) as load:
        judge(load, sentinels.failover(), figures)


def test_two_masters_for_a_while(sentinels: SentinelSet, figures: Figures) -> None:
    """A Sentinel's failover without COORDINATED leaves two masters for seconds; all clients recover."""
    with Service(sentinels, SETTINGS) as service, under_load(service, 50) as load:
        judge(load, sentinels.failover(how=""), figures)
        sentinels.until_whole()
        judge(load, time.time(), figures)

        def listen_at_the_master() -> bool:
            sentinels.until_whole()
            return listeners_at(sentinels.master) == 2

        until(listen_at_the_master, "a worker listens elsewhere")


@pytest.mark.timeout(300)
def test_the_master_dies(sentinels: SentinelSet, figures: Figures) -> None:
    """The Sentinels promote the dead master's replica."""
    with Service(sentinels, SETTINGS) as service, under_load(service, possible_clients(CLIENTS)) as load:
        judge(load, sentinels.kill_master(), figures)
    sentinels.restart()


def test_the_master_freezes(sentinels: SentinelSet, figures: Figures) -> None:
    """The master's connections stay open without answers; clients leave it."""
    with Service(sentinels, SETTINGS) as service, under_load(service, 50) as load:
        try:
            judge(load, sentinels.freeze_master(), figures)
        finally:
            sentinels.thaw()


def test_a_demotion_behind_one_address(pair: Pair, figures: Figures) -> None:
    """A DNS name or balancer moves to the new master; the old one stays connected, as a replica."""
    with (
        FaultProxy(lambda: connect_to(pair.master)) as proxy,
        Service(pair, {**SETTINGS, "QUOTECAST_REDIS_URL": f"redis://127.0.0.1:{proxy.port}"}) as service,
        under_load(service, 50) as load,
    ):
        judge(load, pair.swap(), figures)
        # Workers' subscriptions move too, though a replica would serve them.
        until(
            lambda: (listeners_at(pair.master), listeners_at(pair.replica)) == (2, 0),
            "a worker listens elsewhere",
        )
        until(lambda: says(service, "ok"), "readiness does not say so")


def connect_to(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port))


def listeners_at(server: Server) -> int:
    """Returns the number of workers with subscriptions there."""
    counts = server.ask("PUBSUB", "NUMSUB", "quotecast:{stocks}:batches")
    return int(counts[0][1] if isinstance(counts[0], tuple) else counts[1])


@pytest.mark.parametrize(
    ("refusal", "end", "kind"),
    [
        pytest.param(
            "CONFIG SET min-replicas-to-write 9",
            "CONFIG SET min-replicas-to-write 0",
            "noreplicas",
        ),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "readonly"),
    ],
)
def test_readiness_names_the_error_of_redis(
    own_valkey: Valkey, figures: Figures, refusal: str, end: str, kind: str
) -> None:
    """Redis refuses writes: `/api/ready` names its error code, reads go on, and feeds recover afterwards."""
    with (
        redis.Redis.from_url(own_valkey.url) as client,
        Service(own_valkey, SETTINGS) as service,
        under_load(service, 10) as load,
    ):
        client.execute_command(*refusal.split())
        until(lambda: says(service, kind), "readiness does not say so")
        client.execute_command(*end.split())
        figures.at_most("healed", load.until_newer(time.time(), PATIENCE_SECONDS), STALE_SECONDS)
        until(lambda: says(service, "ok"), "readiness does not say so")


def says(service: Service, word: str) -> bool:
    answer = service.get("/api/ready")
    assert answer.status_code == 200
    return bool(answer.json()["checks"]["redis"] == word)
