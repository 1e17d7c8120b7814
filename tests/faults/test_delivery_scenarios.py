"""Our service under the scenarios of delivery: its own simulator sends late, wrong, too much or nothing."""

import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from datetime import time as clock_time
from typing import Any, Final

import pytest

from quotecast.market.codec import iso_utc
from quotecast.market.sessions import NEW_YORK, TradingDay, trading_days_from
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.simulation.market.scenarios.schedule import RETRY_SECONDS
from support.clients.scraping import Scrape, wait_for_scrape
from support.runs.deadlines import scaled
from support.runs.figures import Figures
from support.runs.waits import wait_until
from support.servers.service import Service
from support.stages.scenario import PAST, Stage, at, scenario_stage
from support.stages.standard_load import StandardLoad

PATIENCE_SECONDS: Final = 60.0
#: Clients, two of each feed on each kind of socket.
FEW: Final = 12
INTERVAL_MS: Final = 100
FEEDS: Final = ("stocks", "crypto", "doviz")
REFUSED: Final = "quotecast_upstream_refused_total"
#: Seconds until a scenario begins, scaled: before it clients see prices of the new ingest.
SOON: Final = 3.0
#: Seconds without an update after which a feed is stale.
SILENCE_SECONDS: Final = SimulatorProvider.silence_seconds
#: Seconds, scaled, that a feed is stale at least: heartbeats, status and answers say so within them.
STALE_SECONDS: Final = 3.0
QUOTES: Final = "/api/market/quotes?symbols=AAPL"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """Yields a worker for all tests; each has an ingest of its own."""
    with scenario_stage() as running:
        yield running


def status_of(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = stage.service.get("/api/market/status").json()
    return found


def failures_in(found: Scrape, feed: str) -> float:
    return found.value("quotecast_upstream_connections_ended_total", feed=feed, outcome="failed")


def settle(stage: Stage, load: StandardLoad) -> None:
    """Stops the upstream, then compares every client's state with REST, number by number."""
    ingest = stage.service.processes[-1]
    ingest.send_signal(signal.SIGSTOP)
    try:
        load.until_equal(PATIENCE_SECONDS)
    finally:
        ingest.send_signal(signal.SIGCONT)
    assert load.broken_promises == []
    assert not load.closes


def test_bad_ticks_are_refused_and_counted(stage: Stage) -> None:
    """No client sees a price of zero, NaN, a hundredfold price, crossed sides or a time in the future."""
    with (
        stage.under(f"bad-tick@{PAST},every=4") as metrics,
        StandardLoad(stage.port, clients=FEW, readers=1) as load,
    ):
        for reason in ("unreadable", "absurd"):
            wait_for_scrape(metrics.url, lambda found: found.value(REFUSED, reason=reason) > 50)  # noqa: B023 - called at once
        load.until_newer(time.time(), PATIENCE_SECONDS)
        settle(stage, load)


def test_a_burst_reaches_every_client_at_its_interval(stage: Stage, figures: Figures) -> None:
    """Twenty times the rate does not exceed a client's interval, and no client falls behind."""
    with (
        stage.under(f"open-burst@{at(-60)},factor=20,seconds=604800", simulator_rate="50"),
        StandardLoad(stage.port, clients=FEW, readers=1, interval=INTERVAL_MS) as load,
    ):
        began = time.time()
        # The service sends what is counted after a price that is newer than `began`.
        load.until_newer(began, PATIENCE_SECONDS)
        before = [len(each.latencies) for each in load.listeners]
        load.until_newer(time.time() + 4, PATIENCE_SECONDS)
        frames = [len(each.latencies) - old for each, old in zip(load.listeners, before, strict=True)]
        seconds = time.time() - began
        assert max(frames) <= seconds * 1000 / INTERVAL_MS + 3
        figures.note("updates of a client", max(frames) / seconds, "at most 10", "per second")
        settle(stage, load)


def test_a_frozen_upstream_is_stale_then_live(stage: Stage, figures: Figures) -> None:
    """The upstream is connected and silent: heartbeats, status and answers say so, with the last prices."""
    begins, seconds = time.time() + scaled(SOON), SILENCE_SECONDS + scaled(STALE_SECONDS)
    with (
        stage.under(f"frozen@{iso_utc(begins)},seconds={seconds}"),
        StandardLoad(stage.port, clients=FEW, readers=1) as load,
    ):
        load.until_newer(time.time(), PATIENCE_SECONDS)
        load.until_feed_state("stale", begins, PATIENCE_SECONDS)
        stale_at = time.time()
        answer, status = stage.service.get(QUOTES), status_of(stage)
        assert (answer.status_code, answer.headers["x-feed-state"]) == (200, "stale")
        assert answer.json()["AAPL"]["price"] > 0
        assert {status["feeds"][feed]["state"] for feed in FEEDS} == {"stale"}
        assert status["status"] == "degraded"
        load.until_feed_state("live", stale_at, PATIENCE_SECONDS)
        figures.note("live again after", time.time() - stale_at, "the rest of the silence")
        load.until_newer(stale_at, PATIENCE_SECONDS)
        settle(stage, load)


def test_a_lost_connection_is_restored(stage: Stage) -> None:
    """Each connection of the upstream lives for two seconds: clients notice nothing, and miss nothing."""
    with (
        stage.under(f"drop@{PAST},every=2") as metrics,
        StandardLoad(stage.port, clients=FEW, readers=1) as load,
    ):
        load.until_newer(time.time(), PATIENCE_SECONDS)
        epochs = {each.feed: each.state.epoch for each in load.listeners}
        wait_for_scrape(metrics.url, lambda found: all(failures_in(found, feed) >= 3 for feed in FEEDS))
        load.until_newer(time.time(), PATIENCE_SECONDS)
        assert {each.feed: each.state.epoch for each in load.listeners} == epochs
        settle(stage, load)


def test_late_prices_arrive_in_order_with_their_own_time(stage: Stage, figures: Figures) -> None:
    """A price that is two seconds late says when it was made."""
    with (
        stage.under(f"slow@{PAST},by=2000,jitter=500"),
        StandardLoad(stage.port, clients=FEW, readers=1) as load,
    ):
        load.until(lambda: all(len(each.latencies) > 10 for each in load.listeners), PATIENCE_SECONDS)
        ages = [min(each.latencies[3:]) for each in load.listeners]
        assert min(ages) > 1.9
        figures.note("least age of a price", min(ages), "at least 2")
        settle(stage, load)


@pytest.mark.parametrize("name", ["out-of-order", "duplicate"])
def test_prices_never_go_back_in_time(stage: Stage, name: str) -> None:
    """An upstream's message that a newer one overtook is refused and counted."""
    with (
        stage.under(f"{name}@{PAST},every=3,by=3000", simulator_rate="400") as metrics,
        StandardLoad(stage.port, clients=FEW, readers=1) as load,
    ):
        wait_for_scrape(metrics.url, lambda found: found.value(REFUSED, reason="outdated") > 50)
        load.until_newer(time.time(), PATIENCE_SECONDS)
        settle(stage, load)


def test_maintenance_leaves_the_last_prices(stage: Stage) -> None:
    """The upstream ends connections and asks for five seconds: the service waits as long, and serves on."""
    begins, seconds = time.time() + scaled(SOON), SILENCE_SECONDS + scaled(STALE_SECONDS)
    with (
        stage.under(f"maintenance@{iso_utc(begins)},seconds={seconds}") as metrics,
        StandardLoad(stage.port, clients=FEW, readers=1) as load,
    ):
        load.until_newer(time.time(), PATIENCE_SECONDS)
        wait_for_scrape(metrics.url, lambda found: failures_in(found, "stocks") >= 1)
        load.until_feed_state("stale", begins, PATIENCE_SECONDS)
        answer = stage.service.get(QUOTES)
        assert (answer.status_code, answer.headers["x-feed-state"]) == (200, "stale")
        load.until_feed_state("live", time.time(), PATIENCE_SECONDS)
        assert metrics.failures("stocks") <= 1 + (time.time() - begins) / RETRY_SECONDS
        settle(stage, load)


def test_a_limit_of_requests_leaves_the_last_prices(stage: Stage) -> None:
    """An ingest that may not connect goes on with the last state; a worker refuses what it cannot ask for."""
    scenario = f"rate-limited@{at(-60)},seconds=604800"
    with stage.under(), stage.service.feed("/api/ws/market?symbols=AAPL") as client:
        client.next_of("snapshot", PATIENCE_SECONDS)
    setting = {"QUOTECAST_SIMULATOR_SCENARIO": scenario, "QUOTECAST_LIMITS": "off"}
    began = time.monotonic()
    with stage.under(scenario) as metrics, Service(stage.valkey, setting) as limited:
        limited.start("api")
        with limited.feed("/api/ws/market?symbols=AAPL") as client:
            assert client.next_of("snapshot")["data"][0]["ticker"] == "AAPL"
            while client.next_of("heartbeat", PATIENCE_SECONDS)["feed"] != "stale":
                pass
        wait_for_scrape(metrics.url, lambda found: failures_in(found, "stocks") >= 2)
        assert metrics.failures("stocks") <= 2 + (time.monotonic() - began) / RETRY_SECONDS
        refused = limited.get("/api/financials/company/AAPL/metrics")
        assert (refused.status_code, refused.json()["detail"]) == (503, "Upstream unavailable")
        assert int(refused.headers["retry-after"]) > 0


@pytest.mark.parametrize(("name", "early"), [("holiday", None), ("half-day", clock_time(13))])
def test_a_special_day_of_the_exchange_is_in_status(
    stage: Stage, name: str, early: clock_time | None
) -> None:
    """The exchange stays closed, or closes at 13:00, on the next day on which it would trade."""
    special, after = next_trading_days()
    with stage.under(f"{name}@{special.date.isoformat()}T12:00:00-05:00"):
        wait_until(
            lambda: hours_of(status_of(stage)) == hours_around(special, after, early),
            lambda: f"{hours_of(status_of(stage))} is not {hours_around(special, after, early)}",
            seconds=PATIENCE_SECONDS,
            pause=0.1,
        )
        if early is None:
            assert not status_of(stage)["marketOpen"]
        wait_until(
            lambda: stage.service.get(QUOTES).headers["x-feed-state"] == "live", "a closed market is not live"
        )


def hours_of(status: dict[str, Any]) -> tuple[str, str]:
    return status["nextOpen"], status["nextClose"]


def next_trading_days() -> tuple[TradingDay, TradingDay]:
    """Returns the first day of trade that does not end during the test, and the one after it."""
    now = datetime.now(UTC)
    days = trading_days_from(now.astimezone(NEW_YORK).date())
    return next(day for day in days if day.close > now + timedelta(minutes=2)), next(days)


def hours_around(special: TradingDay, after: TradingDay, early: clock_time | None) -> tuple[str, str]:
    """Returns the next opening and close: `special` closes early, or stays closed without a time."""
    now = datetime.now(UTC)
    opening, closing = after.open, after.close
    if early is not None:
        early_close = datetime.combine(special.date, early, NEW_YORK)
        if now < early_close:
            closing = early_close
        if now < special.open:
            opening = special.open
    return iso_utc(opening.timestamp()), iso_utc(closing.timestamp())
