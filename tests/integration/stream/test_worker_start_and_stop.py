"""A worker says goodbye to its clients when it stops, and names a port that it cannot listen on."""

import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest

from quotecast.stream.clients import retry_ms
from support.runs.deadlines import scaled
from support.servers.processes import Valkey
from support.servers.service import Service


@pytest.fixture
def own_service(own_valkey: Valkey) -> Iterator[Service]:
    """A service for one test, not started yet."""
    with Service(own_valkey, {"QUOTECAST_SIMULATOR_RATE": "8"}) as running:
        yield running


@pytest.mark.parametrize(
    ("split", "number"),
    [(False, signal.SIGTERM), (True, signal.SIGTERM), (False, signal.SIGHUP)],
    ids=["one port", "two ports", "hangup"],
)
def test_a_stopping_worker_says_goodbye(own_valkey: Valkey, number: signal.Signals, *, split: bool) -> None:
    """Every client gets a reconnection delay and a close with 1012; the process exits with 0."""
    with Service(own_valkey, {"QUOTECAST_SIMULATOR_RATE": "8"}, split=split) as service:
        worker = service.start("ingest", "api")
        with service.feed("/api/ws/market?symbols=AAPL") as client:
            client.next_of("snapshot")
            worker.send_signal(number)
            least, most = retry_ms(1)
            assert least <= client.next_of("shutdown")["retryAfterMs"] <= most
            assert client.closed() == 1012
        assert worker.wait(scaled(10)) == 0


@pytest.mark.slow
def test_a_worker_stops_cleanly_before_it_is_ready(own_service: Service) -> None:
    """After a moment it serves without data, and still sends the farewell."""
    worker = own_service.launch("api")
    own_service.answers("/api/health")
    with own_service.feed("/api/ws/market?symbols=all") as client:
        client.next_of("welcome")
        worker.terminate()
        client.next_of("shutdown")
        assert client.closed() == 1012
    assert worker.wait(scaled(10)) == 0


@pytest.mark.slow
def test_a_worker_that_cannot_listen_says_so(own_service: Service) -> None:
    """It prints one line and never calls itself ready."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        worker = own_service.launch("api", {"QUOTECAST_PORT": str(port)}, stderr=subprocess.PIPE)
        _, said = worker.communicate(timeout=scaled(20))
    assert worker.returncode == 1
    assert said.decode().splitlines()[-1].startswith(f"quotecast: cannot listen on port {port} of 127.0.0.1:")
    assert b"Traceback" not in said
