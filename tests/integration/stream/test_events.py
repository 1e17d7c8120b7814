"""Event streams of a running service: frames, resuming, errors, compression, reused connections, stops."""

import signal
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from support.clients.event_stream import EventStream
from support.runs.deadlines import scaled
from support.servers.processes import running_valkey
from support.servers.service import Service

STREAM = "/api/sse/market?symbols=all&interval=100"
HEALTH = b"GET /api/health HTTP/1.1\r\nHost: test\r\n\r\n"
#: A request that our own server answers, and one that comes through granian.
VERSIONS = ("1.1", "1.0")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    settings = {"QUOTECAST_LOG_LEVEL": "error", "QUOTECAST_SIMULATOR_HOURS": "always"}
    with running_valkey() as redis, Service(redis, settings) as running:
        running.start("ingest", "api")
        yield running


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stream_has_the_frames_of_the_feed(service: Service, version: str) -> None:
    """Its ids are cursors, heartbeats are comments, and the browser may read it from any origin."""
    path = f"{STREAM}&heartbeat=1&fields=price"
    with EventStream(service.port, path, {"Origin": "http://page.test"}, version=version) as stream:
        assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream")
        assert stream.headers["access-control-allow-origin"] == "*"
        assert "no-store" in stream.headers["cache-control"]
        frames = stream.frames()
        welcome, subscribed, snapshot = (next(frames) for _ in range(3))
        assert (welcome["type"], welcome["heartbeatMs"]) == ("welcome", 1000)
        assert (subscribed["symbols"], snapshot["reason"]) == ("all", "subscribe")
        assert stream.retry_ms is not None
        assert 1000 <= stream.retry_ms <= 3000
        for frame in frames:
            assert stream.last_id == f"{frame['epoch']}-{frame['seq']}"
            if stream.comments:
                break
        assert stream.comments[0].startswith('{"type":"heartbeat"')


@pytest.mark.parametrize("version", VERSIONS)
def test_the_last_id_resumes(service: Service, version: str) -> None:
    """The header goes before the address, which `EventSource` repeats with each reconnection."""
    with EventStream(service.port, f"{STREAM}&since=none", version=version) as stream:
        assert stream.next_of("snapshot")["reason"] == "resync"
        stream.next_of("update")
    last = {"Last-Event-ID": stream.last_id}
    with EventStream(service.port, f"{STREAM}&since=none", last, version=version) as stream:
        assert stream.next_of("snapshot")["reason"] == "resume"
    with EventStream(service.port, f"{STREAM}&since={last['Last-Event-ID']}", version=version) as stream:
        assert stream.next_of("snapshot")["reason"] == "resume"


@pytest.mark.parametrize("version", VERSIONS)
def test_gzip_streams_hold_the_same_frames(service: Service, version: str) -> None:
    """Parts that several clients share are compressed once."""
    gzip = {"Accept-Encoding": "gzip, br"}
    with (
        EventStream(service.port, STREAM, gzip, version=version) as first,
        EventStream(service.port, STREAM, gzip, version=version) as second,
    ):
        assert first.headers["content-encoding"] == second.headers["content-encoding"] == "gzip"
        for stream in (first, second):
            assert len(stream.next_of("snapshot")["data"]) == 500
            for _ in range(5):
                assert stream.next_of("update")["data"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("path", "status", "field"),
    [
        ("market", 422, "symbols"),
        ("market?symbols=,", 422, "symbols"),
        ("market?symbols=AAPL&interval=7", 422, "interval"),
        ("market?symbols=AAPL&fields=prize", 422, "fields"),
        ("market?symbols=AAPL&bars=2m", 422, "bars"),
        ("market?symbols=AAPL&bars_since=2026-01-01", 422, "bars_since"),
        ("market?symbols=AAPL&heartbeat=0", 422, "heartbeat"),
        ("market?symbols=AAPL&feilds=price", 422, "feilds"),
        ("market?symbols=AAPL&snapshot=no", 422, "snapshot"),
        ("market?symbols=AAPL&at=2026-01-01T00:00:00Z", 422, "at"),
        ("market?symbols=" + "sector:A," * 2001, 422, "symbols"),
        ("nothing?symbols=AAPL", 404, None),
        ("market/?symbols=", 422, "symbols"),
    ],
)
def test_errors_are_the_services_own(
    service: Service, version: str, path: str, status: int, field: str | None
) -> None:
    """Browsers may read them, too."""
    with EventStream(service.port, f"/api/sse/{path}", version=version) as answer:
        problem = answer.body()
        assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert problem["request_id"] == answer.headers["x-request-id"]
        assert [each["field"] for each in problem.get("errors", [])] == ([field] if field else [])


def test_other_methods(service: Service) -> None:
    """HEAD is answered without a stream, and a preflight allows the header of a cursor."""
    head = httpx.head(service.url + STREAM)
    assert (head.status_code, head.headers["content-type"], head.content) == (200, "text/event-stream", b"")
    assert httpx.head(service.url + "/api/sse/market").status_code == 422
    refused = httpx.post(service.url + STREAM)
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    asked = {
        "Origin": "http://page.test",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "last-event-id",
    }
    preflight = httpx.options(service.url + STREAM, headers=asked)
    assert "Last-Event-ID" in preflight.headers["access-control-allow-headers"]


def test_a_connection_may_carry_other_requests_before(service: Service) -> None:
    """Browsers and proxies reuse connections, which a stream then ends."""
    with httpx.Client(base_url=service.url) as client:
        assert client.get("/api/health").status_code == 200
        with client.stream("GET", STREAM) as answer:
            lines = answer.iter_lines()
            assert next(line for line in lines if "snapshot" in line)
        assert client.get("/api/health").status_code == 200


def test_pipelined_requests_are_not_confused(service: Service) -> None:
    """What follows a stream on its connection gets no answer: the stream is the last one."""
    with EventStream(service.port, STREAM, before=HEALTH) as after:
        assert (after.status, after.body()) == (200, {"status": "ok"})
    request = f"GET {STREAM} HTTP/1.1\r\nHost: test\r\n\r\n".encode()
    with EventStream(service.port, "/api/health", before=request) as stream:
        stream.next_of("snapshot")
        for _ in range(3):
            assert stream.next_of("update")["type"] == "update"


def test_a_stop_ends_streams_with_a_delay(service: Service) -> None:
    """The stream ends after `retry` and the shutdown frame, on either server."""
    streams = [EventStream(service.port, STREAM, version=version) for version in VERSIONS]
    for stream in streams:
        stream.next_of("snapshot")
    service.processes[-1].send_signal(signal.SIGTERM)
    for stream in streams:
        *_, last = stream.frames()
        assert last["retryAfterMs"] >= 1000
        assert last == {"type": "shutdown", "retryAfterMs": stream.retry_ms}
        stream.__exit__()
    assert service.processes[-1].wait(scaled(20)) == 0
    service.start("api")


def test_streams_count_with_the_sockets() -> None:
    """The bounds per address and per worker hold for both together."""
    settings: dict[str, str] = {"QUOTECAST_LOG_LEVEL": "error", "QUOTECAST_SOCKETS_PER_ADDRESS": "2"}
    with running_valkey() as redis, Service(redis, settings) as service:
        service.start("ingest", "api")
        with service.feed("/api/ws/market?symbols=all"), EventStream(service.port, STREAM) as first:
            first.next_of("snapshot")
            for version in VERSIONS:
                with EventStream(service.port, STREAM, version=version) as refused:
                    assert_full(refused, "Your address holds as many feeds")
        service.processes[-1].kill()
        service.processes[-1].wait()
        limited = {"QUOTECAST_SOCKETS_PER_WORKER": "1", "QUOTECAST_SOCKETS_PER_ADDRESS": "0"}
        service.launch("api", limited)
        service.until_ready()
        with service.feed("/api/ws/market?symbols=all"), EventStream(service.port, STREAM) as refused:
            assert_full(refused, "This worker holds as many feeds")


def assert_full(refused: EventStream, detail: str) -> None:
    problem: dict[str, Any] = refused.body()
    assert (refused.status, refused.headers["retry-after"]) == (503, "5")
    assert problem["detail"].startswith(detail)
    assert problem["code"] == "service_unavailable"
