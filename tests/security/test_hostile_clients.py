"""No client can exhaust a worker: its memory stays bounded, and others get answers."""

import contextlib
import http.client
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from security.hostile_clients import ATTACKS, attacking
from support.runs.deadlines import scaled
from support.runs.figures import Figures
from support.servers.processes import running_valkey
from support.servers.service import Service

pytestmark = pytest.mark.slow

MEMORY_MB: Final = 50.0
HEALTH_SECONDS: Final = 0.1
#: Seconds of an attack: without a bound, pings took 20 to 190 MB a second.
SECONDS: Final = {"pings": 4.0}
OTHER_SECONDS: Final = 1.5
COUNTS: Final = {"half a handshake": (1, 1000)}


class Attacked:
    """A worker, and the port that the clients attack."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._status = Path(f"/proc/{service.processes[-1].pid}/status")

    def memory_mb(self) -> float:
        """Returns the worker's memory in MB."""
        lines = dict(line.split(":", 1) for line in self._status.read_text().splitlines())
        return int(lines["VmRSS"].split()[0]) / 1024


@pytest.fixture(scope="module", params=[False, True], ids=["one port", "two ports"])
def attacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    """Yields a worker; fails if it logs an error."""
    errors = tmp_path_factory.mktemp("worker") / "errors"
    settings = {
        "QUOTECAST_LIMITS": "off",
        "QUOTECAST_LOG_LEVEL": "error",
        "QUOTECAST_SOCKETS_PER_ADDRESS": "0",
    }
    with running_valkey() as valkey, Service(valkey, settings, split=request.param) as service:
        service.start("ingest")
        with errors.open("wb") as file:
            service.launch("api", stderr=file)
        service.until_ready()
        yield Attacked(service)
    assert errors.read_text() == ""


@pytest.mark.parametrize(
    ("name", "count"),
    [(name, count) for name in ATTACKS for count in COUNTS.get(name, (1, 50))],
)
def test_no_attack_exhausts_a_worker(attacked: Attacked, figures: Figures, name: str, count: int) -> None:
    """No attack, alone or in numbers, exhausts the worker."""
    latencies, memory = [], []
    before = attacked.memory_mb()
    port = attacked.service.port if name == "slow headers" else attacked.service.feed_port
    health = http.client.HTTPConnection("127.0.0.1", attacked.service.port, timeout=scaled(30))
    with (
        attacking(name, port, count, SECONDS.get(name, OTHER_SECONDS)) as goes_on,
        contextlib.closing(health),
    ):
        while goes_on():
            began = time.perf_counter()
            health.request("GET", "/api/health")
            assert health.getresponse().read()
            latencies.append(time.perf_counter() - began)
            memory.append(attacked.memory_mb())
    latencies.sort()
    grown = max(memory) - before
    figures.note("memory grows", grown, f"at most {MEMORY_MB:g}", "MB")
    assert grown <= MEMORY_MB
    figures.at_most("health, p99", latencies[int(len(latencies) * 0.99)], HEALTH_SECONDS, room=3)


def test_invented_parameters_cost_no_memory(attacked: Attacked) -> None:
    """Invented query parameters do not fill the worker's memory with answers of 800 KB."""
    health = http.client.HTTPConnection("127.0.0.1", attacked.service.port, timeout=scaled(30))
    with contextlib.closing(health):
        sizes = []
        for number in range(150):
            health.request("GET", f"/api/market/bars/AAPL?range=1M&interval=1m&n={number // 2}")
            sizes.append(len(health.getresponse().read()))
            if number == 20:
                before = attacked.memory_mb()
        assert min(sizes) > 500_000
        assert attacked.memory_mb() - before <= MEMORY_MB
