"""Health and readiness on the private port of a worker and of ingests, as processes."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx
import pytest

from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.processes import Valkey, running_valkey
from support.servers.service import Service

pytestmark = pytest.mark.slow

FEEDS: Final = ("stocks", "crypto", "doviz")


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    with running_valkey() as server:
        yield server


@pytest.fixture
def service(valkey: Valkey) -> Iterator[Service]:
    with Service(valkey, {"QUOTECAST_METRICS_PORT": "-1"}) as running:
        yield running


def started(service: Service, command: str, **settings: str) -> str:
    """Starts a process, and gives the address of its private port."""
    service.launch(command, {f"QUOTECAST_{name.upper()}": value for name, value in settings.items()})
    said = service._links[-1].recv(1000).decode()
    found = re.search(r"; metrics on (http://127\.0\.0\.1:\d+)/metrics\n", said)
    assert found, said
    return found[1]


def asked(url: str) -> tuple[int, Any]:
    answer = httpx.get(url, timeout=scaled(10))
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json()


def until(url: str, reached: Callable[[int, Any], bool]) -> Any:
    """Polls until the answer is as expected; returns it."""

    def expected() -> Any:
        status, said = asked(url)
        return said if reached(status, said) else None

    return wait_until(expected, lambda: f"the answer is {asked(url)}")


def test_a_second_ingest_stands_by_and_takes_over(service: Service) -> None:
    """The first one leads every free feed; both are ready, because either may lead."""
    first = started(service, "ingest")
    until(f"{first}/ready", lambda status, said: status == 200 and set(said["feeds"].values()) == {"leading"})
    second = started(service, "ingest")
    said = until(f"{second}/ready", lambda status, _: status == 200)
    assert said == {"status": "ready", "feeds": dict.fromkeys(FEEDS, "standby")}
    service.processes[0].kill()
    led = dict.fromkeys(FEEDS, "leading")
    until(f"{second}/ready", lambda _, said: said == {"status": "ready", "feeds": led})


def test_each_feed_may_have_an_ingest_of_its_own(service: Service) -> None:
    """A process with other feeds switched off does not lead those."""
    stocks = started(service, "ingest", crypto="none", doviz="none")
    rest = started(service, "ingest", stocks="none")
    until(f"{stocks}/ready", lambda _, said: said["feeds"] == {"stocks": "leading"})
    until(f"{rest}/ready", lambda _, said: said["feeds"] == {"crypto": "leading", "doviz": "leading"})


def test_an_ingest_without_redis_lives_but_is_not_ready(service: Service, valkey: Valkey) -> None:
    """A restart would not help, so only readiness changes; with Redis it is ready again."""
    url = started(service, "ingest")
    until(f"{url}/ready", lambda status, _: status == 200)
    valkey.kill()
    said = until(f"{url}/ready", lambda status, _: status == 503)
    assert said["status"] == "waiting"
    assert "unknown" in said["feeds"].values()
    assert asked(f"{url}/health") == (200, {"status": "ok"})
    valkey.start()
    until(f"{url}/ready", lambda status, said: status == 200 and set(said["feeds"].values()) == {"leading"})


def test_a_worker_says_the_same_on_both_ports(service: Service) -> None:
    """The private port serves health and readiness, and no other page of the API."""
    service.start("ingest")
    url = started(service, "api")
    assert asked(f"{url}/health") == (200, service.get("/api/health").json())
    status, said = asked(f"{url}/ready")
    public = service.get("/api/ready")
    assert (status, said["status"]) == (public.status_code, "ready") == (200, public.json()["status"])
    assert said.keys() == public.json().keys()
    assert httpx.get(f"{url}/api/market/status", timeout=scaled(10)).status_code == 404


def test_a_worker_without_data_lives_but_is_not_ready(service: Service) -> None:
    """The first feed is not loaded yet."""
    url = started(service, "api")
    assert asked(f"{url}/health") == (200, {"status": "ok"})
    status, said = asked(f"{url}/ready")
    assert (status, said["status"], said["code"]) == (503, "loading", "no_data")
