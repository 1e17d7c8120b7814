"""A collector of spans: OTLP over HTTP on a local port."""

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from msgspec import Struct
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support.runs.deadlines import scaled

PATIENCE_SECONDS = 20.0


class Span(Struct, frozen=True):
    """A span; `parent` is empty for the root of a trace."""

    service: str
    name: str
    trace: str
    parent: str
    attributes: dict[str, str]
    failed: bool

    @property
    def system(self) -> str:
        """Returns the system that the span called: `redis`, `postgresql` or an empty text."""
        return self.attributes.get("db.system", "")


class OtlpReceiver:
    """Collects spans; `raw` is every received byte, so that tests can search it for secrets."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.raw = b""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver._take(body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Logs nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def until(self, found: Callable[[list[Span]], bool]) -> list[Span]:
        """Waits for the spans that a test names, and returns all spans."""
        deadline = time.monotonic() + scaled(PATIENCE_SECONDS)
        while not found(self.spans):
            assert time.monotonic() < deadline, [span.name for span in self.spans]
            time.sleep(0.02)
        return [*self.spans]

    def _take(self, body: bytes) -> None:
        self.raw += body
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = _values(group.resource.attributes)["service.name"]
            self.spans += [_span(service, each) for scope in group.scope_spans for each in scope.spans]


def _span(service: str, span: Any) -> Span:
    return Span(
        service=service,
        name=span.name,
        trace=span.trace_id.hex(),
        parent=span.parent_span_id.hex(),
        attributes=_values(span.attributes),
        failed=span.status.code == span.status.STATUS_CODE_ERROR,
    )


def _values(attributes: Any) -> dict[str, str]:
    return {each.key: each.value.string_value or str(each.value.int_value) for each in attributes}
