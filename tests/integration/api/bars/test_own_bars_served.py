"""Own bars of a running service: an ingest makes them, a worker serves them."""

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from quotecast.database import migrations
from support.runs.deadlines import scaled
from support.servers.processes import running_postgres, running_valkey
from support.servers.service import Service


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Runs an ingest and a worker with a simulated market, and PostgreSQL."""
    with running_valkey() as redis, running_postgres() as postgres:
        asyncio.run(migrations.apply(postgres.url))
        with Service(redis, {"QUOTECAST_DATABASE_URL": postgres.url}) as running:
            running.start("ingest", "api")
            yield running


@pytest.mark.parametrize(
    ("feed", "symbol", "name"),
    [
        ("market", "AAPL", "interval"),
        ("crypto", "BTC-USDT", "timeframe"),
        ("doviz", "gram-altin", "timeframe"),
    ],
)
def test_every_feed_has_own_bars(service: Service, feed: str, symbol: str, name: str) -> None:
    """The first update of a symbol begins its bars, whose last close is a price of just now."""
    for interval in ("1m", "1h", "D", "W"):
        path = f"{service.url}/api/{feed}/bars/{symbol}?{name}={interval}&source=own&order=desc"
        answer = httpx.get(path, timeout=scaled(30))
        assert (answer.status_code, answer.headers["x-source"]) == (200, "own")
        assert {*answer.json()[0]} == {"time", "open", "high", "low", "close", "volume"}
    batch = httpx.get(f"{service.url}/api/{feed}/bars?symbols={symbol},NOPE&source=own", timeout=scaled(30))
    assert (len(batch.json()), batch.headers["x-missing-symbols"]) == (1, "NOPE")
    lines = httpx.get(f"{service.url}/api/{feed}/sparklines?symbols={symbol}", timeout=scaled(30))
    (line,) = lines.json().values()
    assert 1 <= len(line["closes"]) <= 50
    assert line["start"] <= line["end"]
