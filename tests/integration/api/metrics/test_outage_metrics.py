"""Metrics show outages of Redis and PostgreSQL, and the limits of a worker alone."""

import pytest
import redis

from support.clients.scraping import Scrape, scrape, wait_for_scrape
from support.servers.processes import running_valkey
from support.servers.service import Service
from support.stages.measured import SETTINGS, Measured

pytestmark = pytest.mark.slow


def test_an_outage_of_postgres_is_measured() -> None:
    """Failed connections, transactions during the outage, and the kind of error."""
    with running_valkey() as redis, Service(redis, SETTINGS) as service:
        own = Measured(service)
        service.post("/api/auth/login", json={"email": "nobody@example.com", "password": "wrong"})
        found = scrape(own.api)
    assert found.value("quotecast_database_connects_total", outcome="failed") == 1
    assert found.value("quotecast_database_transaction_duration_seconds_count", outcome="away") == 1
    assert found.value("quotecast_database_errors_total", kind="connection") == 1
    assert found.value("quotecast_logins_total", outcome="unavailable") == 1


def test_errors_of_redis_are_counted_by_kind() -> None:
    """By error code; the client reconnects to find the master."""
    with (
        running_valkey() as valkey,
        redis.Redis.from_url(valkey.url) as client,
        Service(valkey, SETTINGS) as service,
    ):
        own = Measured(service)
        client.execute_command("REPLICAOF", "127.0.0.1", 1)
        for url, part in ((own.ingest, "bus"), (own.ingest, "lease"), (own.api, "limits")):

            def refused(found: Scrape, part: str = part) -> bool:
                service.get("/api/market/quotes/AAPL")
                return found.value("quotecast_redis_errors_total", part=part, kind="readonly") > 0

            found = wait_for_scrape(url, refused)
            assert found.value("quotecast_redis_reconnects_total", part=part) > 0
        valkey.kill()
        wait_for_scrape(
            own.ingest, lambda one: one.value("quotecast_redis_errors_total", kind="connection") > 0
        )


def test_local_limits_are_seen() -> None:
    """While Redis is away the gauge is 1."""
    with running_valkey() as valkey, Service(valkey, SETTINGS) as service:
        own = Measured(service)
        valkey.kill()

        def alone(found: Scrape) -> bool:
            service.get("/api/market/quotes/AAPL")
            return found.value("quotecast_limit_fallback") == 1

        found = wait_for_scrape(own.api, alone)
        assert found.value("quotecast_limit_failures_total") >= 3
        assert found.value("quotecast_limit_fallback_decisions_total") >= 3
