"""Requests in the log of a worker."""

import json
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.runs.deadlines import scaled
from support.servers.processes import Valkey
from support.servers.service import Service

CANARY = "planted-canary"
PATHS = [
    "/api/market/quotes/AAPL",
    "/api/market/quotes?symbols=all",
    "/api/crypto/bars/BTC-USDT?timeframe=1m&limit=1000",
    "/api/crypto/bars/BTC-USDT?timeframe=1h&limit=7",
    f"/api/nowhere/{CANARY}?token={CANARY}",
]


@pytest.mark.slow
@pytest.mark.parametrize(("share", "logged"), [("1", True), ("off", False)])
def test_each_request_is_logged_under_its_own_id(
    own_valkey: Valkey, tmp_path: Path, share: str, *, logged: bool
) -> None:
    """Also for concurrent requests in one process; events hold nothing secret."""
    log = tmp_path / "log"
    sent = {f"request-{number}": PATHS[number % len(PATHS)] for number in range(60)}
    settings = {"QUOTECAST_MODE": "production", "QUOTECAST_ACCESS_LOG": share}
    with log.open("wb") as written, Service(own_valkey, settings) as service:
        service.start("ingest")
        worker = service.launch("api", stderr=written, stdout=subprocess.DEVNULL)
        service.answers("/api/health")
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda each: ask(service, *each), sent.items()))
        worker.terminate()
        worker.wait(timeout=scaled(20))
    events = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    requests = [each for each in events if each.get("request_id", "").startswith("request-")]
    assert CANARY not in log.read_text("utf-8")
    assert Counter(each["request_id"] for each in requests) == Counter([*sent] if logged else [])
    assert all(has_its_route(each, sent[each["request_id"]]) for each in requests)


def ask(service: Service, request_id: str, path: str) -> None:
    headers = {"x-request-id": request_id, "authorization": f"Bearer {CANARY}"}
    service.get(path, headers=headers)


def has_its_route(event: dict[str, Any], path: str) -> bool:
    """Whether an event has its own request's route, and no further fields."""
    assert event.keys() == {
        *("event", "level", "timestamp", "request_id"),
        *("method", "route", "status", "milliseconds"),
    }
    start = event["route"].partition("{")[0]
    return path.startswith(start) or event["route"] == "other"
