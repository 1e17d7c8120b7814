"""What the checks of an upstream refuse, as Prometheus sees it."""

import asyncio
import re

from fakes.kraken import FakeKraken, ticker
from support.clients.scraping import Scrape, wait_for_scrape
from support.servers.processes import running_valkey
from support.servers.service import Service

METRIC = "quotecast_upstream_refused_total"


def start_ingest(service: Service) -> str:
    """Returns the URL of its metrics."""
    service.launch("ingest")
    line = service._links[-1].recv(1000).decode()
    found = re.search(r"; metrics on (http://127\.0\.0\.1:\d+/metrics)\n", line)
    assert found, line
    return found[1]


async def test_an_ingest_exports_what_it_refuses() -> None:
    """A bad price, a bad field and a bad frame each count, under the provider's name and a fixed reason."""
    with running_valkey() as valkey:
        async with FakeKraken() as fake:
            fake.tickers = {
                "BTC/USD": ticker("BTC/USD", volume="a secret of ours"),
                "ETH/USD": ticker("ETH/USD", 3_000.0),
                "SOL/USD": ticker("SOL/USD", 150.0) | {"last": "-1"},
            }
            settings = {
                "QUOTECAST_METRICS_PORT": "-1",
                "QUOTECAST_STOCKS": "none",
                "QUOTECAST_DOVIZ": "none",
                "QUOTECAST_CRYPTO": "kraken",
                "QUOTECAST_KRAKEN_WEBSOCKET_URL": f"{fake.websocket_url}/v2",
                "QUOTECAST_KRAKEN_PAIRS": "BTC/USD,ETH/USD,SOL/USD",
            }
            with Service(valkey, settings) as service:
                url = await asyncio.to_thread(start_ingest, service)

                def has_counted(*reasons: str) -> Scrape:
                    return wait_for_scrape(
                        url,
                        lambda found: all(
                            found.value(METRIC, provider="kraken", reason=each) for each in reasons
                        ),
                    )

                await asyncio.to_thread(has_counted, "unreadable", "unreadable_field")
                fake.tickers["ETH/USD"] = ticker("ETH/USD", 3_000_000.0)
                await fake.say_raw('{"channel":')
                found = await asyncio.to_thread(has_counted, "absurd", "malformed")
    assert found.value(METRIC, provider="kraken", reason="malformed") == 1
    assert {each["provider"] for each in found.labels(METRIC)} == {"kraken"}
    reasons = {each["reason"] for each in found.labels(METRIC)}
    assert reasons == {"unreadable", "unreadable_field", "absurd", "malformed"}
