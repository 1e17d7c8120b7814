"""An ingest and two workers, each with its user of docs/operating.md."""

from urllib.parse import quote

import pytest
import redis

from support.clients.scraping import decided_alone
from support.oracles.access_rules import PASSWORD, create_users, refusals
from support.servers.processes import Valkey
from support.servers.sentinel_set import until
from support.servers.service import Service

pytestmark = pytest.mark.deploy

READS = (
    "/api/market/quotes?symbols=AAPL,MSFT",
    "/api/market/movers",
    "/api/crypto/quotes",
    "/api/doviz/quotes",
    "/api/market/bars/AAPL?interval=1m",
    "/api/market/news",
    "/api/search?q=app",
    "/api/financials/company/AAPL/earnings",
)


def test_redis_refuses_nothing_to_a_whole_service(own_valkey: Valkey) -> None:
    """Feeds and reads are served, limits are shared, and `ACL LOG` stays empty."""
    with redis.Redis.from_url(own_valkey.url, decode_responses=True) as admin, Service(own_valkey) as service:
        create_users(admin)

        def start(command: str) -> str:
            url = f"unix://quotecast-{command}:{PASSWORD}@{quote(str(own_valkey.socket))}"
            return service.start_measured(command, {"QUOTECAST_REDIS_URL": url, "QUOTECAST_ADMIN": "on"})

        start("ingest")
        workers = [start("api") for _ in range(2)]
        for path in READS:
            assert service.get(path).status_code == 200, path
        left = {int(service.get(READS[0]).headers["X-RateLimit-Remaining"]) for _ in range(6)}
        assert len(left) >= 6 - decided_alone(workers)
        for feed in ("market", "crypto", "doviz"):
            with service.feed(f"/api/ws/{feed}?symbols=all") as client:
                client.next_of("update")
        until(lambda: admin.scard("quotecast:{reports}") == 3, "not every process reports")
        until(
            lambda: service.get("/api/ready").json()["checks"]["redis"] == "ok",
            "a worker does not find Redis",
        )
        assert refusals(admin) == []
