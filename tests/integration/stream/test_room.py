"""A worker at its capacity, as a process with few open files."""

import contextlib
import json
import re
import resource
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from quotecast.stream.capacity import SPARE_CONNECTIONS
from support.clients.scraping import Scrape, scrape, wait_for_scrape
from support.runs.deadlines import scaled
from support.servers.processes import running_valkey
from support.servers.service import FeedClient, Service

pytestmark = pytest.mark.slow

OPEN_FILES: Final = 256
FEED: Final = "/api/ws/market?symbols=AAPL"
REQUEST: Final = b"GET /api/crypto/quotes HTTP/1.1\r\nHost: quotecast\r\n\r\n"
PATIENCE_SECONDS: Final = 15.0
#: More connections than open files.
MANY: Final = 300
#: Less than granian lets a connection idle.
CLOSED_SECONDS: Final = 20.0


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))


class Small:
    """A worker with few open files; `most` is the number of feeds in its start line."""

    def __init__(self, service: Service, **settings: str) -> None:
        self.service = service
        given = {f"QUOTECAST_{name.upper()}": value for name, value in settings.items()}
        # A child of this thread alone: nothing else of this process runs between fork and exec.
        self.process = service.launch("api", given, preexec_fn=few_files)
        said = service._links[-1].recv(1000).decode()
        found = re.search(r"; at most ([\d,]+) feeds \((.+?)\); metrics on (http://.+)/metrics\n", said)
        assert found, said
        self.most, self.reason, self.private = int(found[1]), found[2], found[3]

    def scraped(self) -> Scrape:
        return scrape(f"{self.private}/metrics")

    def wait_for_scrape(self, reached: Callable[[Scrape], bool]) -> Scrape:
        return wait_for_scrape(f"{self.private}/metrics", reached)

    def files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def assert_healthy(self, *, public: bool = True) -> None:
        assert httpx.get(f"{self.private}/health", timeout=scaled(10)).status_code == 200
        assert httpx.get(f"{self.private}/ready", timeout=scaled(10)).status_code == 200
        if public:
            assert self.service.get("/api/health").status_code == 200
            assert self.service.get("/api/ready").status_code == 200


@contextlib.contextmanager
def running(*, split: bool) -> Iterator[Service]:
    settings = {"QUOTECAST_METRICS_PORT": "-1", "QUOTECAST_LIMITS": "off", "QUOTECAST_LOG_LEVEL": "error"}
    with running_valkey() as valkey, Service(valkey, settings, split=split) as service:
        service.start("ingest")
        yield service


@pytest.fixture
def one_port() -> Iterator[Service]:
    with running(split=False) as service:
        yield service


@pytest.fixture
def two_ports() -> Iterator[Service]:
    with running(split=True) as service:
        yield service


@pytest.fixture(params=["one_port", "two_ports"])
def service(request: pytest.FixtureRequest) -> Service:
    chosen: Service = request.getfixturevalue(request.param)
    return chosen


def silent(stack: contextlib.ExitStack, port: int, count: int) -> list[socket.socket]:
    """Opens connections that send nothing."""
    return [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(count)]


def test_a_full_worker_refuses_clearly_and_is_healthy(service: Service) -> None:
    """It answers 503 to further feeds and 200 to health checks, and open feeds go on."""
    worker = Small(service)
    assert (worker.most, worker.reason) == (96, "256 open files")
    with contextlib.ExitStack() as stack:
        clients: list[FeedClient] = [stack.enter_context(service.feed(FEED)) for _ in range(worker.most)]
        for _ in range(5):
            with pytest.raises(InvalidStatus) as refused, service.feed(FEED):
                pass
            answer = refused.value.response
            assert answer.status_code == 503
            assert int(answer.headers["Retry-After"]) > 0
            assert json.loads(answer.body)["detail"].startswith("This worker holds as many feeds as it can")
        worker.assert_healthy()
        assert service.get("/api/crypto/quotes").status_code == 200
        found = worker.scraped()
        assert found.value("quotecast_connections", kind="feed") == worker.most
        assert found.value("quotecast_connections_limit", kind="feed") == worker.most
        clients[0].next_of("update")
        clients[0].connection.close()
        worker.wait_for_scrape(lambda one: one.value("quotecast_connections", kind="feed") < worker.most)
        with service.feed(FEED) as next_one:
            next_one.next_of("snapshot")
        clients[-1].next_of("update")


def test_silent_connections_take_no_files_that_others_need(service: Service) -> None:
    """The worker closes the oldest of them, and serves clients that send a request."""
    worker = Small(service)
    with contextlib.ExitStack() as stack:
        silent(stack, service.feed_port, MANY)
        worker.wait_for_scrape(
            lambda one: one.value("quotecast_connections_refused_total", kind="silent") > 0
        )
        worker.assert_healthy()
        with service.feed(FEED) as client:
            client.next_of("snapshot")
        assert worker.files() < OPEN_FILES - 16


def test_idle_http_connections_leave_room_for_health_and_feeds(one_port: Service) -> None:
    """The worker answers 503 to requests beyond its capacity, and 200 to health checks."""
    worker = Small(one_port)
    with contextlib.ExitStack() as stack:
        limit = int(worker.scraped().value("quotecast_connections_limit", kind="http"))
        statuses = [asked(stack, one_port.port) for _ in range(limit + 5)]
        assert statuses == [200] * limit + [503] * 5
        refused = one_port.get("/api/crypto/quotes")
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) > 0
        assert refused.json()["detail"].startswith("This worker holds as many connections as it can")
        worker.assert_healthy()
        assert worker.scraped().value("quotecast_connections_refused_total", kind="http") == 6
        for _ in range(worker.most):
            stack.enter_context(one_port.feed(FEED))
        worker.assert_healthy()
        assert worker.files() < OPEN_FILES - 16


def test_health_checks_do_not_hold_the_reserve(one_port: Service) -> None:
    """Each connection is closed after its first answer, whatever the client asked for."""
    worker = Small(one_port)
    with contextlib.ExitStack() as stack:
        limit = int(worker.scraped().value("quotecast_connections_limit", kind="http"))
        assert [asked(stack, one_port.port) for _ in range(limit)] == [200] * limit
        for path in ("health", "ready") * SPARE_CONNECTIONS:
            [client] = silent(stack, one_port.port, 1)
            client.settimeout(CLOSED_SECONDS)
            client.sendall(f"GET /api/{path} HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n".encode())
            with client.makefile("rb") as answer:
                assert answer.read().startswith(b"HTTP/1.1 200")
        worker.assert_healthy()


def asked(stack: contextlib.ExitStack, port: int) -> int:
    """Returns the status of a request on a connection that stays open."""
    [client] = silent(stack, port, 1)
    client.sendall(REQUEST)
    return status_of(client)


def status_of(client: socket.socket) -> int:
    client.settimeout(scaled(PATIENCE_SECONDS))
    return int(client.recv(4096).split(b" ", 2)[1])


def test_http_on_a_port_of_its_own_takes_no_more_files_than_its_share(two_ports: Service) -> None:
    """Further connections wait until others close; feeds and the private port have their own share."""
    worker = Small(two_ports)
    share = int(worker.scraped().value("quotecast_connections_limit", kind="http"))
    with contextlib.ExitStack() as stack:
        clients = silent(stack, two_ports.port, MANY)
        for client in clients:
            client.sendall(REQUEST)
        assert [status_of(client) for client in clients[:share]] == [200] * share
        worker.assert_healthy(public=False)
        with two_ports.feed(FEED) as feed:
            feed.next_of("snapshot")
        assert worker.files() < OPEN_FILES - 16
        for left, client in zip(clients, clients[share:], strict=False):
            left.close()
            assert status_of(client) == 200


def test_a_setting_lowers_the_cap(one_port: Service) -> None:
    """The start line names the setting as the reason."""
    worker = Small(one_port, sockets_per_worker="2")
    assert (worker.most, worker.reason) == (2, "as set")
    with one_port.feed(FEED), one_port.feed(FEED), pytest.raises(InvalidStatus), one_port.feed(FEED):
        pass
