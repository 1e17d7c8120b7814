"""A service for tests of scenarios: one Valkey and one worker, and an ingest for each test."""

import contextlib
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Final

from support.clients.scraping import Scrape, scrape, wait_for_scrape
from support.servers.processes import Valkey, running_valkey
from support.servers.service import Service

STOP_SECONDS: Final = 20.0
SETTINGS: Final = {
    "QUOTECAST_LIMITS": "off",
    "QUOTECAST_LOG_LEVEL": "error",
    "QUOTECAST_METRICS_PORT": "-1",
    "QUOTECAST_SIMULATOR_RATE": "100",
}


def at(seconds: float) -> str:
    """Returns the time in some seconds, as a scenario's start."""
    return datetime.fromtimestamp(time.time() + seconds, UTC).isoformat(timespec="milliseconds")


#: A time before every test: a scenario without an end that began then lasts for the whole test.
PAST: Final = at(-86_400)


class Metrics:
    """The metrics of an ingest."""

    def __init__(self, url: str) -> None:
        self.url = url

    def now(self) -> Scrape:
        return scrape(self.url)

    def refused(self, reason: str, provider: str = "simulator") -> float:
        return self.now().value("quotecast_upstream_refused_total", provider=provider, reason=reason)

    def failures(self, feed: str) -> float:
        """Returns how many connections of a feed's upstream have failed."""
        return self.now().value("quotecast_upstream_connections_ended_total", feed=feed, outcome="failed")


class Stage:
    """A worker that serves what the ingest of the present test publishes."""

    def __init__(self, valkey: Valkey, service: Service) -> None:
        self.valkey = valkey
        self.service = service
        self.port = service.port

    @contextlib.contextmanager
    def under(self, *texts: str, **settings: str) -> Iterator[Metrics]:
        """Runs an ingest under scenarios; yields its metrics, and stops it at the end."""
        given = {f"QUOTECAST_{name.upper()}": value for name, value in settings.items()}
        process = self.service.launch("ingest", {"QUOTECAST_SIMULATOR_SCENARIO": ";".join(texts), **given})
        found = re.search(rb"; metrics on (http://\S+)", self.service._links[-1].recv(1000))
        assert found, "the ingest ended before it served"
        try:
            yield Metrics(found[1].decode())
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


@contextlib.contextmanager
def scenario_stage(**settings: str) -> Iterator[Stage]:
    """Runs a Valkey and a worker, with more settings of both worker and ingests."""
    given = {f"QUOTECAST_{name.upper()}": value for name, value in settings.items()}
    with running_valkey() as valkey, Service(valkey, {**SETTINGS, **given}) as service:
        service.start("api")
        stage = Stage(valkey, service)
        # A scenario that begins with silence finds the state of an ingest before it.
        with stage.under() as metrics:
            for feed in ("stocks", "crypto", "doviz"):
                if given.get(f"QUOTECAST_{feed.upper()}") != "none":
                    wait_for_scrape(metrics.url, partial(_has_published, feed))
        yield stage


def _has_published(feed: str, found: Scrape) -> bool:
    return found.value("quotecast_ingest_epochs_total", feed=feed) > 0
