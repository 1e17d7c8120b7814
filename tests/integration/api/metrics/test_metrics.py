"""Metrics of running processes, and their use in the dashboard and the alerts."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml  # type: ignore[import-untyped]  # PyYAML ships no types
from websockets.exceptions import InvalidStatus

from quotecast.api.accounts.logins import OUTCOMES, PER_CLIENT
from quotecast.database import migrations
from support.clients.scraping import Scrape, scrape, wait_for_scrape
from support.runs.deadlines import scaled
from support.servers.processes import running_postgres, running_valkey
from support.servers.service import Service
from support.stages.measured import SETTINGS, Measured

ROOT = Path(__file__).parents[4]
PROMETHEUS = ROOT / "deploy" / "prometheus"
FEEDS = ("stocks", "crypto", "doviz")
#: Metrics that Prometheus itself adds for every target.
OWN = {"up"}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    """Shared by tests that look at differences made by their own requests."""
    history = {"QUOTECAST_HISTORY": "1h", "QUOTECAST_HISTORY_STORE": str(tmp_path_factory.mktemp("history"))}
    with (
        running_valkey() as valkey,
        running_postgres() as postgres,
        Service(valkey, {**SETTINGS, **history, "QUOTECAST_DATABASE_URL": postgres.url}) as service,
    ):
        asyncio.run(migrations.apply(postgres.url))
        yield Measured(service)


def test_requests_are_counted_over_the_whole_way(measured: Measured) -> None:
    """As clients see them, including repeated reads."""
    labels = {"method": "GET", "route": "/api/market/quotes/{symbol}", "status": "200"}
    name = "quotecast_http_request_duration_seconds_count"
    before = measured.counted(name, **labels)
    for _ in range(5):
        measured.service.get("/api/market/quotes/AAPL?fields=secret")
    assert measured.counted(name, **labels) - before == 5
    assert measured.counted("quotecast_http_request_duration_seconds_sum", **labels) > 0


def test_decisions_of_limits_are_counted(measured: Measured) -> None:
    """A worker that has used up the limit refuses without calling Redis."""
    for _ in range(6):
        measured.service.get("/api/doviz/symbols")
    # A late answer of Redis makes the worker decide alone for a moment.
    decisions = wait_for_scrape(measured.api, lambda one: not one.value("quotecast_limit_fallback"))
    assert [
        decisions.value("quotecast_limit_decisions_total", group="doviz", outcome=outcome)
        for outcome in ("admitted", "refused", "remembered")
    ] == [3, 0, 3]
    assert decisions.value("quotecast_limit_calls_total") > 0


def test_a_feed_is_measured_to_its_sockets(measured: Measured) -> None:
    """Open sockets, frames and their length, ages on the bus and at the send, and closes."""
    with measured.service.feed("/api/ws/crypto?symbols=all&interval=100") as client:
        for _ in range(3):
            client.next_of("update")
        found = wait_for_scrape(measured.api, lambda one: one.value("quotecast_feed_frames_total") > 5)
        assert found.value("quotecast_feed_sockets", feed="crypto") == 1
        for _ in range(11):
            client.send("{")
        assert client.closed() == 4400
    found = wait_for_scrape(measured.api, lambda one: not one.value("quotecast_feed_sockets"))
    assert found.value("quotecast_feed_closes_total", feed="crypto", code="4400") == 1
    assert found.value("quotecast_feed_bytes_total", feed="crypto") > 10_000
    ages, lags = "quotecast_feed_send_age_seconds", "quotecast_bus_lag_seconds"
    assert found.value(f"{ages}_count", feed="crypto") >= 3
    assert 0 < found.value(f"{ages}_sum", feed="crypto") < found.value(f"{ages}_count", feed="crypto") * 20
    assert found.value(f"{lags}_count", feed="crypto") >= 3


def test_refused_handshakes_are_counted_by_reason(measured: Measured) -> None:
    """Malformed handshakes, and feeds that are closed to this client."""
    handshake = {"Connection": "Upgrade", "Upgrade": "websocket"}
    assert measured.service.get("/api/ws/market", headers=handshake).status_code == 400
    with pytest.raises(InvalidStatus), measured.service.feed("/api/ws/nothing"):
        pass
    with pytest.raises(InvalidStatus), measured.service.feed("/api/ws/crypto", origin="https://else.example"):
        pass
    found = scrape(measured.api)
    name = "quotecast_feed_handshakes_refused_total"
    refused = {each["reason"]: found.value(name, reason=each["reason"]) for each in found.labels(name)}
    full = {"worker_full": 0, "address_full": 0, "replays_full": 0}
    assert refused == {"malformed": 1, "unknown_feed": 1, "origin": 1, "relay": 0, **full}


def test_clients_that_come_back_are_counted(measured: Measured) -> None:
    """Resumed at the cursor or started over; a client without a cursor does not count."""
    path = "/api/ws/doviz?symbols=all"
    before = scrape(measured.api)
    with measured.service.feed(path) as client:
        client.next_of("snapshot")
        since = client.state.since
    with measured.service.feed(f"{path}&since={since}") as client:
        assert client.next_of("snapshot")["reason"] == "resume"
        for since in ("none", f"{'0' * 20}-7"):
            client.send(json.dumps({"action": "subscribe", "since": since}))
            assert client.next_of("snapshot")["reason"] == "resync"
    found = scrape(measured.api)

    def added(name: str, **labels: str) -> float:
        return found.value(name, feed="doviz", **labels) - before.value(name, feed="doviz", **labels)

    assert added("quotecast_feed_connects_total") == 2
    assert added("quotecast_feed_resumptions_total", outcome="resume") == 1
    assert added("quotecast_feed_resumptions_total", outcome="resync") == 1
    assert added("quotecast_feed_resumptions_total") == 2


def test_the_state_of_feeds_is_exported(measured: Measured) -> None:
    """One state of three, epoch, seq, number of symbols, and seconds since the last update."""

    def is_live(one: Scrape) -> bool:
        return all(one.value("quotecast_feed_state", feed=feed, state="live") for feed in FEEDS)

    def has_epochs(one: Scrape) -> bool:
        epochs = {each["feed"]: each["epoch"] for each in one.labels("quotecast_feed_epoch_info")}
        states = measured.service.get("/api/market/status").json()["feeds"]
        return epochs == {feed: state["epoch"] for feed, state in states.items()}

    # A call of the bus that takes too long makes a feed stale for a moment, and begins a new epoch.
    found = wait_for_scrape(measured.api, lambda one: is_live(one) and has_epochs(one))
    for feed in FEEDS:
        assert found.value("quotecast_feed_state", feed=feed) == 1
        assert found.value("quotecast_feed_symbols", feed=feed) > 50
        assert found.value("quotecast_feed_seq", feed=feed) > 0
        assert 0 <= found.value("quotecast_feed_silence_seconds", feed=feed) < 20
        assert found.value("quotecast_feed_last_update_timestamp_seconds", feed=feed) > 1_700_000_000


def test_the_ingest_tells_that_it_leads(measured: Measured) -> None:
    """It also counts what it published."""

    def is_leader(one: Scrape) -> bool:
        return all(one.value("quotecast_ingest_lease_held", feed=feed) == 1 for feed in FEEDS)

    found = wait_for_scrape(measured.ingest, is_leader)
    for feed in FEEDS:
        assert found.value("quotecast_ingest_epochs_total", feed=feed) >= 1
        assert found.value("quotecast_ingest_changes_total", feed=feed) > 0


def test_cache_and_database_are_measured(measured: Measured) -> None:
    """A first read is a miss, the second a hit; a used connection stays open."""
    for _ in range(2):
        measured.service.get("/api/crypto/bars/ETH-USDT?timeframe=1h&limit=3")
    body = {"name": "Ayşe", "email": "ayse@example.com", "password": "long enough a password"}
    httpx.post(f"{measured.service.url}/api/auth/login", json=body, timeout=scaled(10))
    found = scrape(measured.api)
    assert found.value("quotecast_cache_reads_total", result="miss") >= 1
    assert found.value("quotecast_cache_reads_total", result="hit") >= 1
    assert found.value("quotecast_cache_fetches_total") >= 1
    # The worker reads keys in transactions of its own meanwhile.
    assert 1 <= found.value("quotecast_database_connections") <= 8
    assert found.value("quotecast_database_connections_limit") == 8


def test_logins_are_counted_by_outcome(measured: Measured) -> None:
    """The right password, a wrong one, and an attempt too many, which is not checked."""
    body = {"name": "Ece", "email": "ece@example.com", "password": "long enough a password"}
    assert measured.service.post("/api/auth/register", json=body).status_code == 201
    before = scrape(measured.api)
    statuses = Counter(
        measured.service.post("/api/auth/login", json={"email": body["email"], "password": each}).status_code
        for each in (body["password"], *["wrong"] * (PER_CLIENT + 1))
    )
    after = scrape(measured.api)

    def added(outcome: str) -> float:
        name = "quotecast_logins_total"
        return after.value(name, outcome=outcome) - before.value(name, outcome=outcome)

    counted = {outcome: added(outcome) for outcome in OUTCOMES}
    # On a busy machine a call of Redis that came late counts twice, and an attempt less is checked.
    assert counted == {"ok": 1, "refused": statuses[401], "limited": statuses[429], "unavailable": 0}
    assert statuses[401] + statuses[429] == PER_CLIENT + 1
    assert statuses[429] >= 1


def test_transactions_are_measured(measured: Measured) -> None:
    """Durations of transactions, statements and waits, and opened connections."""
    measured.service.post("/api/auth/login", json={"email": "nobody@example.com", "password": "wrong"})

    def committed(one: Scrape) -> float:
        return one.value("quotecast_database_transaction_duration_seconds_count", outcome="committed")

    found = wait_for_scrape(measured.api, lambda one: committed(one) >= 1)
    assert found.value("quotecast_database_statement_duration_seconds_count") >= committed(found)
    assert found.value("quotecast_database_wait_seconds_count") >= committed(found)
    assert found.value("quotecast_database_connects_total", outcome="opened") >= 1


def test_the_process_is_measured(measured: Measured) -> None:
    """CPU and memory under their usual names, and the delay of the event loop."""
    for url in (measured.ingest, measured.api):
        found = wait_for_scrape(url, lambda one: one.value("quotecast_event_loop_lag_seconds_count") > 0)
        assert found.value("process_cpu_seconds_total") > 0
        assert found.value("process_resident_memory_bytes") > 10_000_000


def test_metrics_are_not_public(measured: Measured) -> None:
    """They have their own port, on which the API does not answer."""
    assert measured.service.get("/metrics").status_code == 404
    assert measured.service.get("/api/metrics").status_code == 404
    assert httpx.get(measured.api.replace("/metrics", "/api/health"), timeout=scaled(5)).status_code == 404


def asked_for() -> set[str]:
    """Returns every metric that the dashboard or an alert names."""
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "quotecast.json").read_text("utf-8"))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    rules: list[dict[str, Any]] = [
        rule
        for group in yaml.safe_load((PROMETHEUS / "alerts.yaml").read_text("utf-8"))["groups"]
        for rule in group["rules"]
    ]
    queries += [rule["expr"] for rule in rules]
    variables = [each["definition"] for each in dashboard["templating"]["list"] if "definition" in each]
    return set(re.findall(r"\b(?:quotecast_\w+|process_\w+|up)\b", " ".join([*queries, *variables])))


def test_dashboard_and_alerts_name_existing_metrics(measured: Measured) -> None:
    """No panel is empty because its metric does not exist."""
    exported = scrape(measured.api).names() | scrape(measured.ingest).names() | OWN
    asked = asked_for()
    assert len(asked) > 30
    assert asked <= exported


def test_alerts_say_what_to_do() -> None:
    """Each has a duration, a severity and a remedy; labels in their texts are Prometheus's own."""
    [group] = yaml.safe_load((PROMETHEUS / "alerts.yaml").read_text("utf-8"))["groups"]
    for rule in group["rules"]:
        assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert rule["annotations"].keys() == {"summary", "description"}
        assert rule["expr"].count("(") == rule["expr"].count(")")


def test_each_kind_of_process_is_scraped() -> None:
    """By the names of compose.yaml's services; the alerts are in the same folder."""
    config = yaml.safe_load((PROMETHEUS / "prometheus.yaml").read_text("utf-8"))
    jobs = {each["job_name"]: each["dns_sd_configs"][0]["names"] for each in config["scrape_configs"]}
    assert jobs == {"quotecast-api": ["api"], "quotecast-ingest": ["ingest"]}
    assert all((PROMETHEUS / name).is_file() for name in config["rule_files"])


def test_panels_do_not_overlap() -> None:
    """Grafana would rearrange them."""
    panels = json.loads((ROOT / "deploy" / "grafana" / "quotecast.json").read_text("utf-8"))["panels"]
    places = [
        (place["x"] + dx, place["y"] + dy)
        for place in (panel["gridPos"] for panel in panels)
        for dx in range(place["w"])
        for dy in range(place["h"])
    ]
    assert len(places) == len(set(places))
    assert max(x for x, _ in places) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_commands_of_redis_are_measured(measured: Measured) -> None:
    """By component: durations and connections."""
    measured.service.get("/api/market/quotes/AAPL")
    measured.service.get("/api/market/bars/AAPL")
    for url, parts in ((measured.api, ("bus", "cache", "limits")), (measured.ingest, ("bus", "lease"))):
        found = scrape(url)
        for part in parts:
            name = "quotecast_redis_command_duration_seconds"
            commands = found.value(f"{name}_count", part=part)
            assert commands > 0
            assert 0 < found.value(f"{name}_sum", part=part) / commands < 60
        for part in {*parts} - {"lease"}:
            assert found.value("quotecast_redis_connects_total", part=part) >= 1
