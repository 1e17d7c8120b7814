"""A quote's whole path, over real processes and real sockets."""

import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from quotecast.close_codes import CloseCode
from support.clients.scraping import scrape
from support.runs.deadlines import scaled
from support.servers.open_sockets import server_end, sockets_of
from support.servers.processes import Valkey, running_valkey
from support.servers.service import FeedClient, Service

STOCK_FIELDS = {
    "ticker",
    "name",
    "price",
    "change",
    "changePercent",
    "open",
    "high",
    "low",
    "previousClose",
    "volume",
    "sector",
    "industry",
    "type",
    "timestamp",
}
#: Slow enough that feed and REST meet at a seq within a few tries.
SHARED = {
    "QUOTECAST_LIMITS": "off",
    "QUOTECAST_HEARTBEAT_MS": "500",
    "QUOTECAST_SIMULATOR_RATE": "25",
}


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Two workers, shared by tests that do not disturb them; only tests of limits switch limits on."""
    with (
        running_valkey() as redis,
        Service(redis, SHARED) as running,
    ):
        running.start("ingest", "api", "api")
        yield running


@pytest.fixture(scope="module")
def split_service(service: Service) -> Iterator[Service]:
    """One more worker of the same feeds, with a port for HTTP and one for feeds."""
    with Service(service.redis, SHARED, split=True) as running:
        running.start("api")
        yield running


@pytest.fixture(params=["one port", "two ports"])
def either_service(request: pytest.FixtureRequest) -> Service:
    """A service with feeds beside HTTP, and one with feeds on their own port."""
    running: Service = request.getfixturevalue("service" if request.param == "one port" else "split_service")
    return running


@pytest.fixture
def own_service(own_valkey: Valkey) -> Iterator[Service]:
    """A service for one test, not started yet."""
    with Service(own_valkey, {"QUOTECAST_SIMULATOR_RATE": "8"}) as running:
        yield running


def test_quotes_have_all_fields(service: Service) -> None:
    """Frontends rely on every field."""
    answer = service.get("/api/market/quotes?symbols=AAPL,MSFT")
    quotes = answer.json()
    assert set(quotes) == {"AAPL", "MSFT"}
    assert quotes["AAPL"].keys() == STOCK_FIELDS


def same_seq(service: Service, client: FeedClient, path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the state from REST and from the feed at one seq of the epoch."""
    deadline = time.monotonic() + scaled(10)
    with httpx.Client(base_url=service.url, timeout=scaled(5)) as http:
        while time.monotonic() < deadline:
            client.next_of("update")
            answer = http.get(path)
            tag = answer.headers["etag"].removeprefix("W/").strip('"')
            seq = int(tag.rpartition("-")[2])
            while client.state.seq < seq:
                client.next()
            if client.state.since == tag:
                return answer.json(), client.state.quotes
    pytest.fail("feed and REST never met at one seq")


@pytest.mark.parametrize(
    ("feed", "path"),
    [
        ("crypto", "/api/crypto/quotes"),
        ("market", "/api/market/quotes?symbols=all"),
        ("doviz", "/api/doviz/quotes"),
    ],
)
def test_merged_updates_equal_rest_at_the_same_seq(either_service: Service, feed: str, path: str) -> None:
    """Both ways to read return one state; the entity tag names its seq."""
    with either_service.feed(f"/api/ws/{feed}?symbols=all&interval=100") as client:
        assert [client.next()["type"] for _ in range(3)] == ["welcome", "subscribed", "snapshot"]
        rest, merged = same_seq(either_service, client, path)
        assert merged == rest


def test_a_feed_without_a_provider_is_closed(service: Service) -> None:
    """Also while the bus holds an earlier provider's data: close, 503, and no entry in the status."""
    with Service(service.redis, SHARED | {"QUOTECAST_DOVIZ": "none"}) as other:
        other.start("api")
        with other.feed("/api/ws/doviz?symbols=all") as client:
            assert client.closed() == CloseCode.NO_PROVIDER
        assert other.get("/api/doviz/quotes").status_code == 503
        assert other.get("/api/market/status").json()["feeds"].keys() == {"stocks", "crypto"}
        assert other.get("/api/ready").json()["feeds"].keys() == {"stocks", "crypto"}


def test_updates_flow(service: Service) -> None:
    """While prices move, each update is one seq after the last."""
    with service.feed("/api/ws/crypto?symbols=all") as client:
        client.next_of("snapshot")
        seqs = [client.next_of("update")["seq"] for _ in range(8)]
    assert seqs == sorted(set(seqs))


def test_a_client_resumes_on_any_worker(service: Service, split_service: Service) -> None:
    """It continues from its cursor on any worker and on either port."""
    with service.feed("/api/ws/crypto?symbols=all") as client:
        client.next_of("update")
        state = client.state
    for other in 3 * (service, split_service):
        # A worker that stays behind the cursor answers with a resync. Two workers give these answers.
        other.wait_for_seq("crypto", state.seq, answers=6)
        with other.feed(f"/api/ws/crypto?symbols=all&since={state.since}") as client:
            client.state = state
            assert client.next_of("snapshot")["reason"] == "resume"
            client.next_of("update")
    assert len(state.quotes) == len(service.get("/api/crypto/quotes").json())


def test_a_feed_is_talked_to(service: Service) -> None:
    """One socket carries subscribe, list, ping and a bad command."""
    with service.feed("/api/ws/doviz") as client:
        client.next_of("welcome")
        client.send('{"action":"subscribe","symbols":["usd","Gram-Altin","nope"],"id":1}')
        frame = client.next_of("subscribed")
        assert (frame["symbols"], frame["rejected"]) == (
            ["USD", "gram-altin"],
            [{"symbol": "nope", "code": 404}],
        )
        assert {quote["symbol"] for quote in client.next_of("snapshot")["data"]} == {"USD", "gram-altin"}
        client.send('{"action":"ping","id":"p"}')
        assert client.next_of("pong")["id"] == "p"
        client.send("{")
        assert client.next_of("error")["detail"] == "Malformed JSON"
        wait_for_feed_state(client, "live")


def wait_for_feed_state(client: FeedClient, feed_state: str) -> None:
    """Waits for a heartbeat with this state; a worker that did not run for seconds says `stale`."""
    deadline = time.monotonic() + scaled(8)
    while client.next_of("heartbeat")["feed"] != feed_state:
        assert time.monotonic() < deadline, f"the feed is not {feed_state}"


def test_a_client_that_only_sends_nonsense_is_closed(service: Service) -> None:
    """The close code says that reconnecting will not help."""
    with service.feed("/api/ws/market") as client:
        for _ in range(11):
            client.send("{")
        assert client.closed() == 4400


def test_the_subprotocol_is_agreed_on(service: Service) -> None:
    """A browser that offers subprotocols requires one in the response."""
    with service.feed("/api/ws/market", subprotocols=["quotecast.v1.json"]) as client:
        assert client.connection.subprotocol == "quotecast.v1.json"


def test_an_unknown_feed_is_refused(service: Service) -> None:
    """The worker refuses the handshake."""
    with pytest.raises(InvalidStatus, match="403"), service.feed("/api/ws/bonds"):
        pass


def test_the_limit_holds_over_all_workers(own_service: Service) -> None:
    """120 of 250 requests pass, and the others get Retry-After; another path has its own window.

    A worker decides alone when Redis takes longer than 50 ms, as on a busy machine: so many more may pass.
    """
    own_service.start("ingest")
    workers = [own_service.start_measured("api") for _ in range(2)]
    path = "/api/market/quotes?symbols=AAPL"
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: own_service.get(path), range(250)))
    alone = sum(scrape(worker).value("quotecast_limit_fallback_decisions_total") for worker in workers)
    passed = sum(answer.status_code == 200 for answer in answers)
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 120 <= passed <= 120 + alone
    assert refused.json() == {"detail": "Too Many Requests"}
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert refused.headers["retry-after"] == refused.headers["x-ratelimit-reset"]
    assert own_service.get("/api/doviz/symbols").status_code == 200


@pytest.mark.slow
def test_without_redis_the_mirror_still_answers_and_limits(own_valkey: Valkey, own_service: Service) -> None:
    """A worker serves the last state, marks it as stale, and limits by itself."""
    own_service.start("ingest", "api")
    with own_service.feed("/api/ws/crypto?symbols=all") as client:
        client.next_of("update")
        own_valkey.kill()
        # One update may have been in flight.
        wait_for_feed_state(client, "stale")
        with httpx.Client(base_url=own_service.url, timeout=scaled(5)) as http:
            statuses = Counter(http.get("/api/market/quotes?symbols=AAPL").status_code for _ in range(125))
        assert statuses == {200: 120, 429: 5}
        own_valkey.start()
        assert client.next_of("update", seconds=5)["data"]


@pytest.mark.slow
def test_a_killed_ingest_is_succeeded(own_service: Service) -> None:
    """An open client sees a new epoch, and has the right state within five seconds."""
    leader = own_service.start("ingest")
    own_service.start("api")
    with own_service.feed("/api/ws/crypto?symbols=all") as client:
        epoch = client.next_of("update")["epoch"]
        own_service.start("ingest")
        leader.kill()
        deadline = time.monotonic() + scaled(12)  # the lease, and the start of a process
        while client.state.epoch == epoch:
            assert time.monotonic() < deadline, "nobody succeeds"
            client.next()
        rest, merged = same_seq(own_service, client, "/api/crypto/quotes")
        assert merged == rest


@pytest.mark.slow
def test_clients_that_never_read_cost_no_sockets(own_valkey: Valkey) -> None:
    """The worker frees a slow consumer although its last send never ends; a neighbour gets its updates."""
    with Service(own_valkey, {"QUOTECAST_SIMULATOR_RATE": "2000"}) as service, ExitStack() as stack:
        worker = service.start("ingest", "api")
        path = "/api/ws/market?symbols=all&interval=100"
        port = service.port
        neighbour = stack.enter_context(service.feed(path))
        neighbour.next_of("snapshot")
        held = {server_end(stack.enter_context(upgraded(port, path))) for _ in range(3)}
        deadline = time.monotonic() + scaled(40)  # the kernel's buffers have to fill first
        while held & sockets_of(worker.pid):
            assert time.monotonic() < deadline, "the sockets stay open"
            neighbour.next_of("update")


def upgraded(port: int, path: str) -> socket.socket:
    """Returns a client that completed its handshake and never reads again."""
    client = socket.socket()
    # A small window: otherwise megabytes fill the kernel's buffers first.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    client.sendall(
        f"GET {path} HTTP/1.1\r\nHost: quotecast\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    assert client.recv(12) == b"HTTP/1.1 101"
    return client


def test_status_tells_how_the_feeds_are(service: Service) -> None:
    """The status names live and simulated feeds, with epoch and seq."""
    deadline = time.monotonic() + scaled(8)
    # A worker that did not run for seconds says `stale`, and `degraded`.
    while (status := service.get("/api/market/status").json())["status"] != "running":
        assert time.monotonic() < deadline, status
    assert json.dumps(status["feeds"]).count('"live"') == 3
