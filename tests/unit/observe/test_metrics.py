"""The metrics of one process on its private port, and of the parts that count."""

import asyncio
import contextlib
import socket

import httpx
import pytest

from quotecast.errors import ServerFailedError
from quotecast.ingest.metrics import families
from quotecast.ingest.publish import IngestStatistics
from quotecast.limits.budget import budget
from quotecast.limits.fallback import LocalWindow
from quotecast.market.feeds import Feed
from quotecast.observe import metrics
from quotecast.observe.histograms import Histogram
from quotecast.observe.metrics import ANY_PORT, counter, gauge, histogram, serve_metrics
from quotecast.providers.transport import outcomes
from support.clients import scraping


def url_of(line: str) -> str:
    return line.rpartition(" ")[2]


async def answer(url: str) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(url)


async def test_what_sources_tell_is_answered() -> None:
    """Each kind has its full name and its labels in Prometheus's text format."""
    latency = Histogram((1.0, 2.0))
    latency.observe(1.5)
    families = [
        counter("frames", "Frames.", {("crypto",): 3}, ["feed"]),
        gauge("sockets", "Sockets.", 2),
        histogram("age_seconds", "Age.", {(): latency}),
    ]
    async with serve_metrics("127.0.0.1", ANY_PORT, lambda: families) as where:
        response = await answer(url_of(where))
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = scraping.parse_metrics(response.text)
    assert found.value("quotecast_frames_total", feed="crypto") == 3
    assert found.value("quotecast_sockets") == 2
    assert found.value("quotecast_age_seconds_bucket", le="1.0") == 0
    assert found.value("quotecast_age_seconds_bucket", le="2.0") == 1
    assert found.value("quotecast_age_seconds_sum") == 1.5
    assert found.value("quotecast_build_info") == 1


async def test_a_source_is_read_at_every_scrape() -> None:
    """A part only counts; the scrape reads its numbers."""
    counts = [1.0]
    async with serve_metrics("127.0.0.1", ANY_PORT, lambda: [counter("c", "C.", counts[0])]) as where:
        first = scraping.parse_metrics((await answer(url_of(where))).text)
        counts[0] = 5.0
        second = scraping.parse_metrics((await answer(url_of(where))).text)
    assert [each.value("quotecast_c_total") for each in (first, second)] == [1, 5]


async def test_a_busy_loop_shows_as_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer's delay is the delay of every request."""
    monkeypatch.setattr(metrics, "LAG_SECONDS", 0.001)
    async with serve_metrics("127.0.0.1", ANY_PORT) as where:
        deadline = asyncio.get_running_loop().time() + 20
        observed = 0.0
        while not observed:
            assert asyncio.get_running_loop().time() < deadline
            found = scraping.parse_metrics((await answer(url_of(where))).text)
            observed = found.value("quotecast_event_loop_lag_seconds_count")
    assert found.value("quotecast_event_loop_lag_seconds_sum") >= 0


@pytest.mark.parametrize("path", ["/", "/metricsandmore", "/api/health"])
async def test_nothing_else_is_there(path: str) -> None:
    """The port serves only metrics and health."""
    async with serve_metrics("127.0.0.1", ANY_PORT) as where:
        url = url_of(where).removesuffix("/metrics")
        assert (await answer(url + path)).status_code == 404


async def test_who_says_nothing_holds_nobody_up() -> None:
    """A client that sends nonsense delays no scrape either."""
    async with serve_metrics("127.0.0.1", ANY_PORT) as where:
        port = httpx.URL(url_of(where)).port
        _, silent = await asyncio.open_connection("127.0.0.1", port)
        reader, long = await asyncio.open_connection("127.0.0.1", port)
        long.write(b"x" * 100_000)
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""
        assert (await answer(url_of(where))).status_code == 200
        for writer in (silent, long):
            writer.close()


async def test_a_taken_port_is_said() -> None:
    """Two processes on one machine need two ports."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerFailedError, match=f"no metrics on port {port} of 127.0.0.1"):
            async with serve_metrics("127.0.0.1", port):
                pass


async def test_port_zero_is_none() -> None:
    """Without a port nothing is printed."""
    async with serve_metrics("127.0.0.1", 0) as where:
        assert where == ""


async def test_a_budget_tells_what_is_left() -> None:
    """The gauge shows the state after the last call."""
    window = LocalWindow(60)

    async def check(key: str, limit: int) -> object:
        return window.check(key, limit)

    left: dict[str, int] = {}
    admitted = budget(check, "finnhub", 55, left)  # type: ignore[arg-type]  # a double of Decision
    await admitted()
    await admitted()
    found = scraping.scrape_of(outcomes.families(left))
    assert found.value("quotecast_upstream_budget_remaining", upstream="finnhub") == 53


def test_an_ingest_tells_what_it_leads() -> None:
    """By feed; one that it does not lead is there with zero."""
    statistics = {feed: IngestStatistics() for feed in Feed}
    statistics[Feed.CRYPTO] = IngestStatistics(
        leading=True, batches=2, changes=7, epochs=1, failures=1, seq=9
    )
    found = scraping.scrape_of(families(statistics, {}))
    assert found.value("quotecast_ingest_lease_held", feed="crypto") == 1
    assert found.value("quotecast_ingest_lease_held", feed="stocks") == 0
    names = ["batches_total", "changes_total", "epochs_total", "failures_total", "seq"]
    assert [found.value(f"quotecast_ingest_{name}", feed="crypto") for name in names] == [2, 7, 1, 1, 9]
