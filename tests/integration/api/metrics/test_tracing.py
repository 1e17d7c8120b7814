"""Traces: they cost nothing when off, and follow requests to Redis and upstreams when on."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from litestar import Litestar, get
from litestar.params import FromQuery
from opentelemetry.trace import SpanKind
from structlog.testing import capture_logs

from fakes.http import FakeHttp
from fakes.otlp import OtlpReceiver, Span
from quotecast.api.limits.requests import span_attributes
from quotecast.observe import tracing
from quotecast.providers.transport.fetch import get_bytes, open_client
from support.runs.deadlines import scaled
from support.servers.processes import running_valkey
from support.servers.service import Service

CANARY = "planted-canary"
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as running:
        yield running


def asking(receiver: OtlpReceiver) -> dict[str, str]:
    """Returns the variables that send traces to this address, without a long delay."""
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}


@pytest.fixture
def traced(receiver: OtlpReceiver) -> Iterator[Service]:
    with running_valkey() as redis, Service(redis, asking(receiver)) as service:
        service.start("ingest", "api")
        yield service


@pytest.mark.slow
def test_a_request_is_followed_to_redis(traced: Service, receiver: OtlpReceiver) -> None:
    """One trace covers the route and the limiter's script, and continues the caller's trace."""
    caller = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "x-request-id": "my-id"}
    traced.get(f"/api/market/quotes/AAPL?token={CANARY}", headers={**caller, "cookie": CANARY})
    spans = receiver.until(lambda all_: {"", "redis"} <= {span.system for span in all_})
    [served] = [span for span in spans if not span.system]
    assert (served.service, served.name) == ("quotecast-api", "GET /api/market/quotes/{symbol}")
    assert (served.trace, served.parent) == (TRACE, "b7ad6b7169203331")
    assert served.attributes == {
        "http.request.method": "GET",
        "http.route": "/api/market/quotes/{symbol}",
        "http.response.status_code": "200",
        "quotecast.request_id": "my-id",
    }
    assert {span.trace for span in spans} == {TRACE}
    assert CANARY.encode() not in receiver.raw


@pytest.mark.slow
def test_ticks_and_batches_make_no_spans(traced: Service, receiver: OtlpReceiver) -> None:
    """While hundreds of them pass, every span belongs to the one request."""
    with traced.feed("/api/ws/crypto?symbols=all&interval=100") as client:
        for _ in range(10):
            client.next_of("update")
    traced.get("/api/market/quotes/AAPL")
    spans = receiver.until(lambda all_: {"", "redis"} <= {span.system for span in all_})
    assert [span.name for span in spans if not span.parent] == ["GET /api/market/quotes/{symbol}"]
    assert len({span.trace for span in spans}) == 1


@get("/bars")
async def asks_upstream(where: FromQuery[str]) -> str:
    async with open_client(where) as client:
        await get_bytes(client, "/v1/bars", params={"token": CANARY})
    return "done"


@get("/broken")
async def fails() -> None:
    raise RuntimeError


@pytest.fixture
async def client(receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application that is traced in this process."""
    for name, value in asking(receiver).items():
        monkeypatch.setenv(name, value)
    with tracing.export_traces("tests") as wrap:
        app = wrap(
            Litestar([asks_upstream, fails], openapi_config=None, logging_config=None), span_attributes
        )
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            yield client


def named(spans: list[Span], name: str) -> list[Span]:
    return [span for span in spans if span.name == name]


async def test_an_upstream_call_is_traced_without_its_query(
    client: httpx.AsyncClient, receiver: OtlpReceiver
) -> None:
    """Some upstreams expect their key in the query."""
    async with FakeHttp() as upstream:
        await client.get("/bars", params={"where": upstream.url})
    spans = receiver.until(lambda all_: bool(named(all_, "GET /bars")))
    [served], [asked] = named(spans, "GET /bars"), named(spans, "GET")
    assert asked.trace == served.trace
    assert asked.parent
    assert f"{upstream.url}/v1/bars" in asked.attributes.values()
    assert CANARY.encode() not in receiver.raw


async def test_a_failed_request_is_marked(client: httpx.AsyncClient, receiver: OtlpReceiver) -> None:
    """Samplers can then select failed requests."""
    assert (await client.get("/broken")).status_code == 500
    assert (await client.get("/nowhere")).status_code == 404
    spans = receiver.until(lambda all_: len(all_) == 2)
    assert {(span.name, span.failed) for span in spans} == {("GET /broken", True), ("GET", False)}


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_the_standard_variables_switch_it(environment: dict[str, str], *, wanted: bool) -> None:
    """Without an endpoint there are no traces."""
    assert tracing.is_requested(environment) is wanted


def test_a_missing_extra_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning names the package to install; the application runs untraced."""
    monkeypatch.setitem(sys.modules, "quotecast.observe.spans", None)
    asked = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}
    app = Litestar([fails], openapi_config=None, logging_config=None)
    with capture_logs() as logs, tracing.export_traces("tests", asked) as wrap:
        assert wrap(app, span_attributes) is app
    assert not tracing.is_possible(asked)
    [warning] = logs
    assert (warning["log_level"], warning["asked_by"]) == ("warning", "OTEL_EXPORTER_OTLP_ENDPOINT")
    assert "pip install 'quotecast[otel]'" in warning["event"]


@pytest.mark.slow
def test_a_service_without_the_extra_serves(receiver: OtlpReceiver, tmp_path: Path) -> None:
    """Ingest and workers start, answer and limit; they send no traces, and the worker says so."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['quotecast.observe.spans'] = None\n")
    environment = {**asking(receiver), "PYTHONPATH": str(tmp_path)}
    with running_valkey() as redis, Service(redis, environment) as service:
        with (tmp_path / "log").open("wb") as log:
            service.launch("ingest")
            service.launch("api", stderr=log)
            service.until_ready(2)
        assert service.get("/api/market/quotes/AAPL").headers["x-ratelimit-remaining"] == "119"
    assert not receiver.raw
    assert "pip install 'quotecast[otel]'" in (tmp_path / "log").read_text()


@pytest.mark.slow
def test_probes_are_not_traced(traced: Service, receiver: OtlpReceiver) -> None:
    """Neither are the probes' calls of Redis."""
    for path in ("/api/health", "/api/ready", "/api/health/", "/api/market/status"):
        traced.get(path)
    spans = receiver.until(lambda all_: any(span.name == "GET /api/market/status" for span in all_))
    assert {span.name for span in spans if not span.parent} == {"GET /api/market/status"}
    assert len({span.trace for span in spans}) == 1


@pytest.mark.slow
def test_off_it_is_not_even_loaded() -> None:
    """The application is not wrapped; only redis-py loads OpenTelemetry's metrics by itself."""
    code = (
        "import sys; from quotecast.api import main; from quotecast.observe import tracing\n"
        "app = object()\n"
        "with tracing.export_traces('tests', {}) as wrap: assert wrap(app, dict) is app\n"
        "ours = {'quotecast.observe.spans', 'opentelemetry.exporter', 'opentelemetry.instrumentation'}\n"
        "assert not ours & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ, timeout=scaled(60))


def test_only_requests_begin_traces() -> None:
    """The sampler of the environment does not decide about anything else."""
    spans = pytest.importorskip("quotecast.observe.spans")
    sampling = pytest.importorskip("opentelemetry.sdk.trace.sampling")
    sampler = spans.OnlyRequests(sampling.ALWAYS_ON)
    decisions = {
        kind: sampler.should_sample(None, 1, "name", kind).decision
        for kind in (SpanKind.SERVER, SpanKind.CLIENT, SpanKind.INTERNAL)
    }
    dropped, sampled = sampling.Decision.DROP, sampling.Decision.RECORD_AND_SAMPLE
    assert decisions == {SpanKind.SERVER: sampled, SpanKind.CLIENT: dropped, SpanKind.INTERNAL: dropped}
    assert sampler.get_description() == "OnlyRequests(AlwaysOnSampler)"
