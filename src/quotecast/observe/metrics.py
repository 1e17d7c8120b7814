"""Metrics of this process in Prometheus's text format, and its health, on a private port.

Each part counts with plain integers; a scrape reads and formats them. So counting costs no more than an
addition, and a process without a scraper pays for nothing else.
"""

import asyncio
import contextlib
import http
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Final, TypeVar

from prometheus_client import CollectorRegistry, Metric, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from quotecast.errors import ServerFailedError
from quotecast.observe.histograms import Histogram

PREFIX: Final = "quotecast_"
#: The port number that means any free port.
ANY_PORT: Final = -1
LAG_SECONDS: Final = 0.1
#: Seconds for one scrape: request and response.
SCRAPE_SECONDS: Final = 5.0
MAX_REQUEST_BYTES: Final = 8192
_NOT_FOUND: Final = b"Metrics are at /metrics, health at /health and /ready.\n"

#: The values of a metric's labels.
Labels = TypeVar("Labels", bound=tuple[str, ...])
Source = Callable[[], Iterable[Metric]]
#: Returns the status, and a JSON body, of the process's readiness.
Readiness = Callable[[], Awaitable[tuple[http.HTTPStatus, bytes]]]
#: Returns a complete HTTP response.
Page = Callable[[], Awaitable[bytes]]


def counter(
    name: str, meaning: str, values: float | Mapping[Labels, float], labels: Sequence[str] = ()
) -> Metric:
    """Returns a counter, which only grows while the process lives; its name ends in `_total`."""
    family = CounterMetricFamily(PREFIX + name, meaning, labels=labels)
    for each, value in _by_labels(values):
        family.add_metric(each, value)
    return family


def gauge(
    name: str, meaning: str, values: float | Mapping[Labels, float], labels: Sequence[str] = ()
) -> Metric:
    """Returns a gauge, which goes up and down."""
    family = GaugeMetricFamily(PREFIX + name, meaning, labels=labels)
    for each, value in _by_labels(values):
        family.add_metric(each, value)
    return family


def histogram(
    name: str, meaning: str, values: Mapping[Labels, Histogram], labels: Sequence[str] = ()
) -> Metric:
    """Returns a histogram of observations."""
    family = HistogramMetricFamily(PREFIX + name, meaning, labels=labels)
    for each, observed in values.items():
        family.add_metric(each, observed.cumulative(), observed.total)
    return family


async def ready() -> tuple[http.HTTPStatus, bytes]:
    """Returns 200 always: for a process without dependencies."""
    return http.HTTPStatus.OK, b'{"status":"ready"}'


@contextlib.asynccontextmanager
async def serve_metrics(
    host: str, port: int, *sources: Source, readiness: Readiness = ready
) -> AsyncIterator[str]:
    """Serves `GET /metrics` with the metrics of the sources and of the process.

    `GET /health` answers 200 while the event loop runs, `GET /ready` answers as `readiness` does. Gives a
    phrase with the URL, for the process's first line; an empty one for port 0, which switches metrics off.
    Raises ServerFailedError if it cannot listen on the port.
    """
    if not port:
        yield ""
        return
    lag = Histogram()
    all_sources: list[Source] = [
        ProcessCollector(registry=None).collect,
        partial(_process_metrics, lag),
        *sources,
    ]
    pages: dict[bytes, Page] = {
        b"/metrics": partial(_metrics, all_sources),
        b"/health": _health,
        b"/ready": partial(_ready, readiness),
    }
    scrapes: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        scrape = asyncio.create_task(_answer(pages, reader, writer))
        scrapes.add(scrape)
        scrape.add_done_callback(scrapes.discard)

    try:
        server = await asyncio.start_server(begin, host, max(port, 0), limit=MAX_REQUEST_BYTES)
    except OSError as error:
        raise ServerFailedError(f"no metrics on port {port} of {host}: {error.strerror}") from error
    measuring = asyncio.create_task(_measure_lag(lag))
    try:
        bound = server.sockets[0].getsockname()[1]
        yield f"; metrics on http://{f'[{host}]' if ':' in host else host}:{bound}/metrics"
    finally:
        server.close()
        ending = [measuring, *scrapes]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)


def _by_labels(values: float | Mapping[Labels, float]) -> Iterable[tuple[tuple[str, ...], float]]:
    return values.items() if isinstance(values, Mapping) else [((), values)]


def _process_metrics(lag: Histogram) -> Iterator[Metric]:
    yield gauge(
        "build_info", "Always 1; the version is the label.", {(version("quotecast"),): 1}, ["version"]
    )
    yield histogram(
        "event_loop_lag_seconds",
        "Delay of a timer on the event loop; every request of the process is late by as much.",
        {(): lag},
    )


async def _measure_lag(lag: Histogram) -> None:
    while True:
        # Not the loop's clock, which uvloop reads only once per turn.
        due = time.perf_counter() + LAG_SECONDS
        await asyncio.sleep(LAG_SECONDS)
        lag.observe(max(0.0, time.perf_counter() - due))


class _CollectedFamilies(CollectorRegistry):
    """A registry of metrics that were already collected."""

    def __init__(self, families: list[Metric]) -> None:
        super().__init__()
        self._families = families

    def collect(self) -> Iterator[Metric]:
        return iter(self._families)


async def _answer(
    pages: Mapping[bytes, Page], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    # A scraper that disconnects or sends no request gets no response.
    broken = (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
    try:
        with contextlib.suppress(*broken):
            async with asyncio.timeout(SCRAPE_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                method, _, rest = head.partition(b" ")
                page = pages.get(rest.partition(b" ")[0].partition(b"?")[0])
                if method == b"GET" and page is not None:
                    writer.write(await page())
                else:
                    writer.write(_response_bytes(http.HTTPStatus.NOT_FOUND, _NOT_FOUND, "text/plain"))
                await writer.drain()
    finally:
        writer.close()


async def _metrics(sources: Iterable[Source]) -> bytes:
    # Collects on the event loop, where no count changes meanwhile; formats in a thread, to not delay clients.
    families = [family for source in sources for family in source()]
    body = await asyncio.to_thread(generate_latest, _CollectedFamilies(families))
    return _response_bytes(http.HTTPStatus.OK, body, CONTENT_TYPE_PLAIN_0_0_4)


async def _health() -> bytes:
    return _response_bytes(http.HTTPStatus.OK, b'{"status":"ok"}', "application/json")


async def _ready(readiness: Readiness) -> bytes:
    status, body = await readiness()
    return _response_bytes(status, body, "application/json")


def _response_bytes(status: http.HTTPStatus, body: bytes, kind: str) -> bytes:
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: {kind}\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
