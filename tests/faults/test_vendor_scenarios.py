"""Our service under the scenarios of a vendor: a simulated Binance as a process, read by our adapter."""

import contextlib
import time
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, Final

import pytest

from support.clients.scraping import Scrape, wait_for_scrape
from support.oracles.believable import unbelievable
from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.service import FeedClient
from support.servers.simulated_vendor import SimulatedVendor, simulated_vendor
from support.stages.scenario import Metrics, Stage, scenario_stage

PATIENCE_SECONDS: Final = 60.0
REFUSED: Final = "quotecast_upstream_refused_total"
ENDED: Final = "quotecast_upstream_connections_ended_total"
FEED: Final = "/api/ws/crypto?symbols=all&interval=100"
QUOTE: Final = "/api/crypto/quotes/BTC-USDT"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """Yields a worker for all tests; each has a vendor and an ingest of its own."""
    with scenario_stage(stocks="none", doviz="none", financials="none") as running:
        yield running


@contextlib.contextmanager
def fed_by(stage: Stage, *scenarios: str) -> Iterator[Metrics]:
    """Runs a vendor under scenarios and an ingest that follows two pairs there."""
    options = [part for text in scenarios for part in ("--scenario", text)]
    with binance(*options) as vendor, following(stage, vendor) as metrics:
        yield metrics


def binance(*options: str) -> contextlib.AbstractContextManager[SimulatedVendor]:
    return simulated_vendor("binance", "--rate", "100", *options)


def following(stage: Stage, vendor: SimulatedVendor) -> contextlib.AbstractContextManager[Metrics]:
    return stage.under(
        crypto="binance",
        binance_url=vendor.url,
        binance_websocket_url=vendor.websocket_url,
        binance_pairs="BTC/USDT,ETH/USDT",
    )


def failures(found: Scrape) -> float:
    return found.value(ENDED, feed="crypto", provider="binance", outcome="failed")


def watch(client: FeedClient, seconds: float) -> list[str]:
    """Reads a feed of crypto for some seconds; returns what was wrong, and fails if no price came."""
    problems: list[str] = []
    seen: dict[str, dict[str, Any]] = {}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline or len(seen) < 2:
        frame = client.next(PATIENCE_SECONDS)
        for item in frame["data"] if frame["type"] in {"snapshot", "update"} else ():
            pair, before = item["ticker"], seen.get(item["ticker"], {})
            problems += unbelievable(pair, item, before.get("price"), time.time())
            if before and moment_of(item) < moment_of(before):
                problems.append(f"{pair}: {item['timestamp']} after {before['timestamp']}")
            seen[pair] = item
    assert seen.keys() == {"BTC/USDT", "ETH/USDT"}
    return problems


def moment_of(quote: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(quote["timestamp"])


def wait_for_state(client: FeedClient, state: str, *, after_epoch: str = "") -> None:
    """Waits until a heartbeat of another epoch reports a state of the feed."""
    deadline = time.monotonic() + scaled(PATIENCE_SECONDS)
    while True:
        heartbeat = client.next_of("heartbeat", PATIENCE_SECONDS)
        if heartbeat["feed"] == state and heartbeat["epoch"] != after_epoch:
            return
        assert time.monotonic() < deadline, f"the feed is not {state}"


def quote_from_binance(stage: Stage) -> dict[str, Any]:
    """Waits for a live quote of the vendor that is newer than this call, and returns it."""
    began = time.time()

    def arrived() -> dict[str, Any] | None:
        answer = stage.service.get(QUOTE)
        live = answer.status_code == 200 and answer.headers["x-feed-state"] == "live"
        if not live or answer.json()["provider"] != "binance":
            return None
        found: dict[str, Any] = answer.json()
        # The ingest of the test before leaves a quote that is live for some seconds.
        return found if moment_of(found).timestamp() > began else None

    return wait_until(arrived, "the vendor's prices do not arrive", seconds=PATIENCE_SECONDS, pause=0.1)


def test_a_vendors_bad_ticks_are_refused_and_counted(stage: Stage) -> None:
    """Prices of zero, NaN and a hundredfold, crossed sides and times in the future reach no client."""
    with fed_by(stage, "bad-tick,every=3") as metrics:
        quote_from_binance(stage)
        with stage.service.feed(FEED) as client:
            problems = watch(client, 4.0)
        assert problems == []
        for reason in ("unreadable", "absurd", "absurd_field"):
            wait_for_scrape(metrics.url, partial(has_refused, reason))


def has_refused(reason: str, found: Scrape) -> bool:
    return found.value(REFUSED, provider="binance", reason=reason) > 0


def test_a_vendor_that_drops_connections_is_read_again(stage: Stage) -> None:
    """The adapter reconnects with growing delays; clients stay connected, and no price is older."""
    with fed_by(stage, "drop,every=2") as metrics:
        quote_from_binance(stage)
        with stage.service.feed(FEED) as client:
            assert watch(client, 4.0) == []
            wait_for_scrape(metrics.url, lambda found: failures(found) >= 3)
            assert watch(client, 2.0) == []


def test_a_vendor_under_maintenance_leaves_the_last_prices(stage: Stage) -> None:
    """It drops its streams and refuses new ones: the feed is stale with its last prices, then live again."""
    with binance() as vendor, following(stage, vendor) as metrics:
        last = quote_from_binance(stage)
        with stage.service.feed(FEED) as client:
            vendor.begin("maintenance", seconds=3600)
            vendor.begin("drop", every=1)
            wait_for_scrape(metrics.url, lambda found: failures(found) >= 2)
            wait_for_state(client, "stale")
            answer = stage.service.get(QUOTE)
            assert (answer.status_code, answer.headers["x-feed-state"]) == (200, "stale")
            assert moment_of(answer.json()) >= moment_of(last)
            vendor.end_scenarios()
            wait_for_state(client, "live")
            assert watch(client, 1.0) == []


def test_a_vendor_that_limits_requests_is_asked_as_it_wishes(stage: Stage) -> None:
    """Binance names the seconds until its next minute: the adapter waits so long, and asks no earlier."""
    with fed_by(stage):
        quote_from_binance(stage)
        with stage.service.feed(FEED) as client:
            client.next_of("snapshot")
            epoch = client.state.epoch
    with fed_by(stage, "rate-limited,seconds=600") as metrics, stage.service.feed(FEED) as client:
        wait_for_scrape(metrics.url, lambda found: failures(found) >= 1)
        # Between two ingests the feed was stale for a moment, in the epoch of the first one.
        wait_for_state(client, "stale", after_epoch=epoch)
        answer = stage.service.get(QUOTE)
        assert (answer.status_code, answer.headers["x-feed-state"]) == (200, "stale")
        # A minute of the vendor may have ended meanwhile; our own delays alone would allow four more tries.
        assert failures(metrics.now()) <= 2
