"""Edges as processes: one follows a service, and another one follows that edge."""

import re
import signal
import socket
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import httpx
import pytest

from support.clients.event_stream import EventStream
from support.clients.plain_http import NO_TLS
from support.clients.scraping import scrape, wait_for_scrape
from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.fault_proxy import FaultProxy
from support.servers.processes import running_valkey
from support.servers.service import Service
from support.stages.tiers import SECRET, EdgeProcess, Tiers, running_tiers

pytestmark = pytest.mark.slow

PATIENCE_SECONDS: Final = 20.0
#: Slow enough that the tiers meet at a seq within a few tries.
SETTINGS: Final = {
    "QUOTECAST_LIMITS": "off",
    "QUOTECAST_LOG_LEVEL": "error",
    "QUOTECAST_SIMULATOR_RATE": "10",
    "QUOTECAST_HEARTBEAT_MS": "500",
}
QUOTES: Final = ("/api/market/quotes?symbols=all", "/api/crypto/quotes", "/api/doviz/quotes")
#: Requests that every tier answers equally; the feeds rest meanwhile.
READS: Final = (
    "/api/market/quotes?symbols=all",
    "/api/market/quotes?symbols=AAPL,MSFT,NONE",
    "/api/market/quotes?symbols=all&format=csv",
    "/api/market/quotes/AAPL",
    "/api/market/quotes/NONE",
    "/api/market/quotes?symbols=" + "A" * 300,
    "/api/market/heatmap",
    "/api/market/movers?limit=3",
    "/api/market/news",
    "/api/market/assets?limit=20",
    "/api/crypto/quotes",
    "/api/crypto/quotes/BTC-USDT",
    "/api/crypto/symbols",
    "/api/doviz/quotes",
    "/api/doviz/quotes/gram-altin",
    "/api/doviz/symbols",
    "/api/search?q=apple",
    # Those that only the origin answers.
    "/api/market/bars/AAPL?range=1d",
    "/api/market/quotes?symbols=AAPL&at=2020-01-01T00:00:00Z",
    "/api/financials/AAPL",
    "/api/openapi.json",
    "/api/docs",
    "/api/auth/profile",
    "/api/nothing",
)


class Running(NamedTuple):
    """A service with one worker, and its edges."""

    service: Service
    tiers: Tiers

    @property
    def urls(self) -> list[str]:
        return [self.service.url, *(f"http://127.0.0.1:{edge.port}" for edge in self.tiers.edges)]


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with (
        running_valkey() as redis,
        Service(redis, {**SETTINGS, "QUOTECAST_RELAY_SECRET": SECRET, "QUOTECAST_ADMIN": "on"}) as service,
    ):
        service.start("ingest", "api")
        with running_tiers(service.port, SETTINGS) as tiers:
            yield Running(service, tiers)


@pytest.fixture
def resting(running: Running) -> Iterator[Running]:
    """Stops the prices, and waits until all tiers have the last ones."""
    ingest = running.service.processes[0]
    ingest.send_signal(signal.SIGSTOP)
    wait_until(lambda: len({httpx.get(f"{url}{READS[0]}", verify=NO_TLS).text for url in running.urls}) == 1)
    yield running
    thaw(running.service)


def thaw(service: Service) -> None:
    """Lets the frozen ingest of a service go on, and waits until each feed does.

    A call of the bus that took too long begins a new epoch: the next test must not read the old one.
    """
    last = [service.get(path).content for path in QUOTES]
    service.processes[0].send_signal(signal.SIGCONT)
    wait_until(
        lambda: all(service.get(path).content != then for path, then in zip(QUOTES, last, strict=True))
    )


def content_of(answer: httpx.Response) -> tuple[Any, ...]:
    """Returns what no tier may change: an error's id is the request's."""
    body = re.sub(r'"request_id":"\w+"', "", answer.text)
    names = (
        "content-type",
        "access-control-allow-origin",
        "content-security-policy",
        "x-content-type-options",
    )
    return answer.status_code, body, *(tuple(answer.headers.get_list(name)) for name in names)


def test_every_tier_answers_the_same(resting: Running) -> None:
    """An edge answers from its copy of the feeds, or passes on what the origin answers."""
    with httpx.Client(timeout=scaled(10)) as http:
        for path in READS:
            # A worker may repeat a costly answer for a moment.
            wait_until(lambda: len({content_of(http.get(url + path)) for url in resting.urls}) == 1, path)  # noqa: B023 - called at once


def test_a_cursor_of_one_tier_is_good_at_another(running: Running) -> None:
    """A client that changes to another tier gets what changed past its cursor, and no more."""
    services = [running.service, *(edge.service for edge in running.tiers.edges)]
    with services[0].feed("/api/ws/crypto?symbols=all") as client:
        client.next_of("snapshot")
        state = client.state
    for service in (services[2], services[1], services[0], services[2]):
        # A tier that stays behind the cursor answers with a resync.
        service.wait_for_seq("crypto", state.seq)
        with service.feed(f"/api/ws/crypto?symbols=all&since={state.since}") as client:
            client.state = state
            resumed = client.next_of("snapshot")
            assert resumed["reason"] == "resume"
            assert len(resumed["data"]) < len(state.quotes)
            client.next_of("heartbeat")
    running.service.processes[0].send_signal(signal.SIGSTOP)
    try:
        with services[1].feed(f"/api/ws/crypto?symbols=all&since={state.since}") as client:
            client.state = state
            wait_until(lambda: client.next() and state.quotes == services[0].get("/api/crypto/quotes").json())
    finally:
        thaw(running.service)


def test_an_edge_serves_every_kind_of_client(running: Running) -> None:
    """The page, the socket of all feeds and event streams are at an edge; it has no past."""
    edge = running.tiers.edges[-1]
    assert "<!doctype html>" in edge.service.get("/").text.lower()
    with edge.service.feed("/api/ws?market=AAPL&crypto=BTC-USDT") as client:
        assert {client.next_of("snapshot")["feed"] for _ in range(2)} == {"market", "crypto"}
    with EventStream(edge.port, "/api/sse/doviz?symbols=gram-altin") as stream:
        assert stream.status == 200
        stream.next_of("snapshot")
    with edge.service.feed("/api/ws/market?symbols=all&at=2020-01-01T00:00:00Z") as client:
        assert client.closed() is not None


def test_no_edge_leads_to_the_operators_page(running: Running) -> None:
    """An edge answers 404 to every spelling of these paths, while the origin asks for a session."""
    assert running.service.get("/api/admin/overview").status_code == 401
    for edge in running.tiers.edges:
        for path in (
            "/api/admin/overview",
            "/api//admin/overview",
            "//api/admin/users",
            "/api/%61dmin/keys",
            "/admin",
        ):
            assert edge.service.get(path).status_code == 404, path
        assert edge.service.post("/api/admin/login", json={}).status_code == 404


def test_no_edge_makes_tickets_for_users(running: Running) -> None:
    """Its feeds know no users; a page that gets 404 opens them without a ticket."""
    assert running.service.post("/api/auth/ticket").status_code == 401
    for edge in running.tiers.edges:
        for path in ("/api/auth/ticket", "/api//auth/ticket/"):
            assert edge.service.post(path).status_code == 404, path


def test_no_request_hides_behind_another(running: Running) -> None:
    """What a proxy may understand differently goes no further than the edge, and ends its connection."""
    edge = running.tiers.edges[-1]
    for head in (
        b"Host: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        b"Host: a\r\nHost: b\r\n",
        b"Host: a\r\nTransfer-Encoding: gzip, chunked\r\n",
        b"Host: a\r\nContent-Length: 4\r\nContent-Length: 40\r\n",
    ):
        with socket.create_connection(("127.0.0.1", edge.port), timeout=scaled(PATIENCE_SECONDS)) as line:
            hidden = b"GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n"
            line.sendall(b"POST /api/auth/login HTTP/1.1\r\n" + head + b"\r\n0\r\n\r\n" + hidden)
            got = b""
            while part := line.recv(65536):
                got += part
            assert got.count(b"HTTP/1.1 ") == 1, head
            assert got.startswith(b"HTTP/1.1 400"), head


def test_head_and_bodies_pass(running: Running) -> None:
    """A HEAD has the length of its GET; a login's body arrives, and its refusal comes back."""
    for url in running.urls:
        read = httpx.get(f"{url}/api/openapi.json", headers={"Accept-Encoding": "identity"})
        head = httpx.head(f"{url}/api/openapi.json", headers={"Accept-Encoding": "identity"})
        assert (head.status_code, head.headers["content-length"]) == (200, str(len(read.content)))
        assert head.content == b""
        answer = httpx.post(f"{url}/api/auth/login", json={"email": "a"})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "password")
        assert httpx.request("OPTIONS", f"{url}/api/auth/login").status_code == 204


def test_an_edge_outlives_its_origin(running: Running) -> None:
    """Without its origin an edge serves the last prices, answers 503 for the rest, and says so in metrics."""
    port = running.service.port
    with (
        FaultProxy(lambda: socket.create_connection(("127.0.0.1", port))) as line,
        EdgeProcess(line, {**SETTINGS, "QUOTECAST_METRICS_PORT": "-1"}).service as edge,
    ):
        edge.launch("edge")
        told = re.search(r"; metrics on (http://\S+)/metrics", edge._links[-1].recv(1000).decode())
        assert told
        assert scrape(f"{told[1]}/metrics").value("quotecast_bus_reloads_total") >= 3
        wait_until(lambda: httpx.get(f"{told[1]}/ready").json()["checks"] == {"origin": "ok"})
        line.refuses = True
        line.reset()
        refused = edge.get("/api/financials/AAPL", headers={"x-request-id": "mine"})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert refused.json()["request_id"] == refused.headers["x-request-id"] == "mine"
        assert edge.get("/api/market/quotes/AAPL").status_code == 200
        stale = {"feed": "crypto", "state": "stale"}
        wait_for_scrape(f"{told[1]}/metrics", lambda found: found.value("quotecast_feed_state", **stale) == 1)
        wait_until(lambda: httpx.get(f"{told[1]}/ready").json()["checks"] == {"origin": "failed"})
        line.refuses = False
        wait_until(lambda: edge.get("/api/market/bars/AAPL?range=1d").status_code == 200)
        wait_until(lambda: edge.get("/api/crypto/quotes").headers["x-feed-state"] == "live")
