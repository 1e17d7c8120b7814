"""A worker stops while one of its clients reads nothing."""

import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest
from websockets.exceptions import WebSocketException

from faults.test_client_faults import connected_client, request_everything
from support.clients.scraping import wait_for_scrape
from support.runs.deadlines import scaled
from support.runs.figures import Figures
from support.servers.processes import Valkey
from support.servers.service import FeedClient, Service

PATIENCE_SECONDS = 60.0
GOOD = 5
#: Updates that a client did not take before the test believes that it reads nothing.
PASSED_OVER = 20
SETTINGS = {"QUOTECAST_METRICS_PORT": "-1", "QUOTECAST_LIMITS": "off", "QUOTECAST_SIMULATOR_RATE": "67"}
FEED = "/api/ws/market?symbols=AAPL"


@pytest.mark.parametrize(
    "split",
    [pytest.param(False, id="one port"), pytest.param(True, id="two ports")],
)
@pytest.mark.vital
def test_nobody_comes_back_to_a_stopping_worker(own_valkey: Valkey, figures: Figures, *, split: bool) -> None:
    """It leaves its port, then says goodbye: each client receives one `shutdown` and finds nobody after."""
    with (
        Service(own_valkey, SETTINGS, split=split) as service,
        ThreadPoolExecutor(GOOD) as pool,
        ExitStack() as stack,
    ):
        service.start("ingest")
        worker, metrics = started(service)
        clients = [stack.enter_context(service.feed(FEED)) for _ in range(GOOD)]
        for client in clients:
            client.next_of("snapshot")
        request_everything(stack.enter_context(connected_client(service.feed_port)))
        wait_for_scrape(metrics, lambda found: found.value("quotecast_feed_passed_over_total") > PASSED_OVER)
        began = time.monotonic()
        worker.terminate()
        returned = [pool.submit(farewells, service, worker, client) for client in clients]
        received, closed_at = zip(*(each.result(scaled(PATIENCE_SECONDS)) for each in returned), strict=True)
        assert received == (1,) * GOOD
        figures.at_most("clients that read are closed", max(closed_at) - began, 1)
        assert worker.wait(scaled(PATIENCE_SECONDS)) == 0
        figures.at_most("ended", time.monotonic() - began, 10)


def started(service: Service) -> tuple["subprocess.Popen[bytes]", str]:
    """A worker and the address of its metrics."""
    worker = service.launch("api")
    found = re.search(rb"; metrics on (http://\S+)", service._links[-1].recv(1000))
    assert found
    return worker, found[1].decode()


def farewells(service: Service, worker: "subprocess.Popen[bytes]", client: FeedClient) -> tuple[int, float]:
    """Reconnects after each `shutdown` frame until the worker has ended.

    Returns how many `shutdown` frames it received, and when the first connection was closed.
    """
    told, received = client.next_of("shutdown"), 1
    assert client.closed() == 1012
    closed_at = time.monotonic()
    while worker.poll() is None:
        time.sleep(told["retryAfterMs"] / 1000)
        with suppress(WebSocketException, OSError, EOFError), service.feed(FEED) as again:
            told = again.next_of("shutdown")
            received += 1
            again.closed()
    return received, closed_at
