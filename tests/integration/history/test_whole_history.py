"""A running service with history: what its clients saw, seen again through its own worker."""

import json
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from quotecast.market.codec import iso_utc
from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.processes import running_valkey
from support.servers.service import Service

pytestmark = pytest.mark.slow

PATIENCE_SECONDS = 20.0
QUOTES = "/api/market/quotes?symbols=all"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Runs an ingest that records and a worker that replays, in processes of their own."""
    settings = {
        "QUOTECAST_HISTORY": "1h",
        "QUOTECAST_HISTORY_STORE": str(tmp_path_factory.mktemp("history")),
        "QUOTECAST_LOG_LEVEL": "error",
        "QUOTECAST_HEARTBEAT_MS": "1000",
    }
    with running_valkey() as valkey, Service(valkey, settings) as running:
        running.start("ingest", "api")
        yield running


@pytest.fixture(scope="module")
def seen(service: Service) -> tuple[float, dict[str, Any]]:
    """Returns a moment, and the quotes that a live client had then; both are recorded by now."""
    with service.feed("/api/ws/market?symbols=all&interval=100") as client:
        for _ in range(20):
            client.next_of("update")
    deadline = time.monotonic() + scaled(PATIENCE_SECONDS)
    while True:
        at, quotes = quotes_at_rest(service)
        # The ingest may have published a price before the rest that it recorded after it.
        if recorded_quotes(service, at) == quotes:
            return at, quotes
        assert time.monotonic() < deadline, "the record has other quotes"


def quotes_at_rest(service: Service) -> tuple[float, Any]:
    """Returns a moment at which prices rested, and the quotes then."""
    ingest = service.processes[0]
    ingest.send_signal(signal.SIGSTOP)
    try:
        while True:
            before, at = service.get(QUOTES), time.time()
            if service.get(QUOTES).content == before.content:
                return at, before.json()
    finally:
        ingest.send_signal(signal.SIGCONT)


def recorded_quotes(service: Service, at: float) -> Any:
    """Returns the quotes of a moment once later ones are recorded too."""

    def recorded() -> Any:
        later, then = (service.get(f"{QUOTES}&at={moment:.3f}") for moment in (at + 1, at))
        known = later.status_code == then.status_code == 200 and later.content != then.content
        return then.json() if known else None

    return wait_until(recorded, "the moment is not recorded", seconds=PATIENCE_SECONDS, pause=0.2)


def test_a_replay_has_the_quotes_that_a_client_had(
    service: Service, seen: tuple[float, dict[str, Any]]
) -> None:
    """Over HTTP (the fixture waits for it) and over WebSocket, which continues from there."""
    at, quotes = seen
    with service.feed(f"/api/ws/market?symbols=all&at={iso_utc(at)}&speed=0.1&interval=5000") as client:
        welcome = client.next_of("welcome")
        assert (welcome["replayed"], welcome["at"][:19]) == (True, iso_utc(at)[:19])
        snapshot = client.next_of("snapshot")
        assert {item["ticker"]: item for item in snapshot["data"]} == quotes
        beat = client.next_of("heartbeat")
        assert (beat["replayed"], beat["feed"]) == (True, "live")


def test_a_replay_ends_in_the_present(service: Service, seen: tuple[float, dict[str, Any]]) -> None:
    """With its own close code."""
    with service.feed(f"/api/ws/market?symbols=all&at={seen[0]:.3f}&speed=100") as client:
        assert client.closed(PATIENCE_SECONDS) == 4410


def test_a_moment_that_is_not_recorded_is_refused(service: Service) -> None:
    """Over both, with what there is."""
    answer = service.get("/api/market/quotes?symbols=all&at=1000000000")
    assert answer.status_code == 422
    assert "the history of market has from" in answer.text
    with service.feed("/api/ws/market?symbols=all&at=1000000000") as client:
        refusal = client.next_of("error")
        assert (refusal["code"], client.closed()) == (422, 4422)
    assert "the history of market has from" in json.dumps(refusal)
