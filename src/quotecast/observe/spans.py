"""Spans of requests and of their calls to Redis, PostgreSQL and upstreams, exported by OTLP over HTTP.

A trace begins with a request to the service. Work without a request, such as a batch on the bus, makes no
span. `quotecast.observe.tracing` imports this module only if the environment configures traces.
"""

import contextlib
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.asyncpg import AsyncPGInstrumentor
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from quotecast.asgi import EVENTS_PATH, PROBES, App, Message, Send


class OnlyRequests(Sampler):
    """A sampler that drops spans without a request, and leaves requests to another sampler."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def should_sample(
        self,
        parent_context: Any,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        *others: Any,
        **more: Any,
    ) -> SamplingResult:
        """See Sampler."""
        begins = not trace.get_current_span(parent_context).get_span_context().is_valid
        if begins and kind is not SpanKind.SERVER:
            return SamplingResult(Decision.DROP)
        return self._sampler.should_sample(parent_context, trace_id, name, kind, *others, **more)

    def get_description(self) -> str:
        """See Sampler."""
        return f"OnlyRequests({self._sampler.get_description()})"


class TracingApp:
    """An ASGI application that makes a span for each HTTP request of another, except for feeds and probes."""

    def __init__(
        self, tracer: trace.Tracer, app: App, describe: Callable[[Mapping[str, Any]], Mapping[str, str]]
    ) -> None:
        self._tracer = tracer
        self._app = app
        self._describe = describe

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one connection of any ASGI type."""
        path = scope["path"]
        # The answer of an event stream lasts for hours.
        if scope["type"] != "http" or path.rstrip("/") in PROBES or path.startswith(EVENTS_PATH):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        # Takes only the caller's trace context: upstreams must not get its baggage.
        caller = TraceContextTextMapPropagator().extract(headers)
        # The name is the method until the route is known: a path has unbounded values.
        with self._tracer.start_as_current_span(
            scope["method"], context=caller, kind=SpanKind.SERVER
        ) as span:
            span.set_attribute("http.request.method", scope["method"])
            try:
                await self._app(scope, receive, _record_status(send, span))
            finally:
                attributes = self._describe(scope)
                span.set_attributes({**attributes})
                if route := attributes.get("http.route"):
                    span.update_name(f"{scope['method']} {route}")


@contextlib.contextmanager
def export_spans(service: str) -> Iterator[Callable[..., TracingApp]]:
    """Gives a function that wraps an application in a TracingApp; exports spans until its end.

    OpenTelemetry's own environment variables configure exporter and sampler. The end flushes pending spans.
    """
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": service}
    provider = TracerProvider(
        resource=Resource.create({**named, "service.version": version("quotecast")}), shutdown_on_exit=False
    )
    provider.sampler = OnlyRequests(provider.sampler)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    # The instrumentor of asyncpg has no types.
    instrumentors: tuple[Any, ...] = (AsyncPGInstrumentor, RedisInstrumentor, HTTPXClientInstrumentor)
    libraries = [instrumentor() for instrumentor in instrumentors]
    for library in libraries:
        library.instrument(tracer_provider=provider, async_request_hook=_without_query)
    try:
        yield partial(TracingApp, provider.get_tracer("quotecast", version("quotecast")))
    finally:
        for library in libraries:
            library.uninstrument()
        provider.shutdown()


def _record_status(send: Send, span: trace.Span) -> Send:
    def answer(message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            span.set_attribute("http.response.status_code", message["status"])
            if message["status"] >= 500:
                span.set_status(Status(StatusCode.ERROR))
        return send(message)

    return answer


async def _without_query(span: trace.Span, request: Any) -> None:
    """Removes the query from a span's URL: some upstreams take their API key there."""
    address = str(request.url).partition("?")[0]
    # The attribute's names before and after the semantic conventions became stable.
    for name in ("http.url", "url.full"):
        span.set_attribute(name, address)
