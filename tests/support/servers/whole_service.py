"""The whole service as processes: Valkey, PostgreSQL, an ingest and two workers, for tests of faults."""

import asyncio
import contextlib
import http.client
import json
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from quotecast.database import migrations
from support.servers.pgbouncer import PgBouncer, running_pgbouncer
from support.servers.processes import Postgres, running_postgres, running_valkey
from support.servers.sentinel_set import running_sentinels
from support.servers.service import Service
from support.stages.standard_load import StandardLoad
from support.stages.tiers import SECRET, Tiers, running_tiers

GROUPS: Final = (
    *("AUTH", "MARKET", "CRYPTO", "DOVIZ"),
    *("FINANCIALS", "SEARCH", "PORTFOLIO", "WATCHLIST", "TERMINAL", "ALERTS", "MCP"),
)
#: Limits that never refuse; each feed has a third of the load's 200 updates a second.
SETTINGS: Final = {
    **{f"QUOTECAST_LIMIT_{group}": "1000000" for group in GROUPS},
    # A key of tests; push answers 503 without one.
    "QUOTECAST_VAPID_PRIVATE_KEY": "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
    "QUOTECAST_SIMULATOR_RATE": "67",
    "QUOTECAST_LOG_LEVEL": "error",
}
SETTLED_SECONDS: Final = 30.0
POST_SECONDS: Final = 60.0
STOP_SECONDS: Final = 45.0


@dataclass
class Whole:
    """The running processes; `ingests` in the order of their start."""

    #: A Valkey or a SentinelSet.
    redis: Any
    postgres: Postgres
    service: Service
    #: The PgBouncer between workers and PostgreSQL, or None.
    pgbouncer: PgBouncer | None = None
    ingests: list[subprocess.Popen[bytes]] = field(default_factory=list)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    #: The edges that follow the workers, and the clients of all tiers; None for clients of the workers only.
    tiers: Tiers | None = None
    #: More settings of the ingests that start from now on.
    ingest_settings: Mapping[str, str] = field(default_factory=dict)

    def start_ingest(self) -> None:
        """Starts one more and waits until it serves."""
        self.ingests.append(self.service.launch("ingest", self.ingest_settings))
        self.service.until_ready()

    def stop_ingest(self) -> None:
        """Stops the newest as an operator would."""
        leaving = self.ingests.pop()
        leaving.terminate()
        assert leaving.wait(STOP_SECONDS) == 0, "an ingest that was told to stop failed"

    def replace_ingest(self, settings: Mapping[str, str]) -> None:
        """Stops the newest as an operator would, and starts one with these settings."""
        self.ingest_settings = settings
        self.stop_ingest()
        self.start_ingest()

    @contextlib.contextmanager
    def under_load(self) -> Iterator[StandardLoad]:
        """Runs the standard load; at its end every client has seen correct values only."""
        tiers = self.tiers
        with tiers.load(self.service.port) if tiers else StandardLoad(self.service.port) as load:
            yield load
            self._settle(load)
            assert load.broken_promises == []

    def post(self, path: str, body: object, headers: Mapping[str, str] = {}) -> tuple[int, Any]:
        """Sends a request on a new connection; returns the status and the decoded body.

        Passes all tiers, if there are several.

        Uses `http.client`: the other clients of the tests take longer to create than to answer.
        """
        port = self.tiers.edges[-1].port if self.tiers else self.service.port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=POST_SECONDS)
        with contextlib.closing(connection):
            content = {"Content-Type": "application/json", **headers}
            connection.request("POST", path, json.dumps(body), content)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def _settle(self, load: StandardLoad) -> None:
        """Stops all upstreams, then compares every client's state with REST, number by number."""
        for ingest in self.ingests:
            ingest.send_signal(signal.SIGSTOP)
        try:
            load.until_equal(SETTLED_SECONDS)
        finally:
            for ingest in self.ingests:
                ingest.send_signal(signal.SIGCONT)
        # A call of the bus that took too long begins a new epoch, which the next test must not meet.
        load.until_newer(time.time(), SETTLED_SECONDS)


@contextlib.contextmanager
def whole_service(
    settings: Mapping[str, str] = {}, *, sentinels: bool = False, pooled: bool = False, tiered: bool = False
) -> Iterator[Whole]:
    """Runs the whole service, with more settings than the load's.

    It uses one Valkey or a SentinelSet, with `pooled` Debian's PgBouncer in front of PostgreSQL, and with
    `tiered` two edges, of which one follows the other.
    """
    running_redis: Any = running_sentinels() if sentinels else running_valkey()
    with running_redis as redis, running_postgres() as postgres, contextlib.ExitStack() as stack:
        asyncio.run(migrations.apply(postgres.url))
        pooler = stack.enter_context(running_pgbouncer(postgres)) if pooled else None
        ours = {**SETTINGS, "QUOTECAST_RELAY_SECRET": SECRET, **_database(postgres, pooler), **settings}
        with Service(redis, ours) as service:
            service.start("ingest", "api", "api")
            ingest, *workers = service.processes
            tiers = stack.enter_context(running_tiers(service.port, SETTINGS)) if tiered else None
            yield Whole(redis, postgres, service, pooler, [ingest], workers, tiers)


def _database(postgres: Postgres, pooler: PgBouncer | None) -> dict[str, str]:
    if not pooler:
        return {"QUOTECAST_DATABASE_URL": postgres.url}
    return {"QUOTECAST_DATABASE_URL": pooler.url, "QUOTECAST_DATABASE_STATEMENT_CACHE": "0"}
